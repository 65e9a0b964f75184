"""The pipeline's output has not changed by a byte."""

import json
import os

import pytest

from tests.goldens import jobs


@pytest.mark.slow
def test_jobs_give_the_same_bytes_as_before(tmp_path):
    found = jobs.run_jobs(tmp_path, data=os.environ.get("CONVERSATIONS_DATA"))
    known = json.loads(jobs.CHECKSUMS.read_text())
    assert found == {name: known[name] for name in found}
