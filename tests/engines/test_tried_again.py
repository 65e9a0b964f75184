"""Work that an engine does more than once, as it does after a loss, changes nothing."""

import pytest

pytestmark = pytest.mark.slow


def test_every_bundle_done_three_times_over_gives_the_same_files(
    run_job, tmp_path, contents, expected
):
    output = tmp_path / "out"
    status, said = run_job(output, "--direct_runner_bundle_repeat=2")
    assert status == 0, said
    assert contents(output) == expected
