"""Dumps and output on an object store (`s3://`), which has no renames, no folders and no locks."""

import json
import logging
import signal
import subprocess

import pytest

from tests.conftest import REPOSITORY, sample_world
from tests.engines.conftest import reddit_command, start
from tests.engines.object_store import BUCKET, KEY, SECRET, ObjectStore

pytestmark = pytest.mark.slow

_SECONDS_A_JOB = 180
_SHARDS = ("--train_shards", 3)


@pytest.fixture(scope="module")
def small_dumps(tmp_path_factory):
    """A folder with few comments: each access to a store takes time."""
    return sample_world(tmp_path_factory.mktemp("small"), "--comments", 2_000) / "reddit"


@pytest.fixture(scope="module")
def store(small_dumps):
    """A server that has the dumps."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with ObjectStore() as running:
        for dump in small_dumps.glob("RC_*"):
            running.client.upload_file(str(dump), BUCKET, f"dumps/{dump.name}")
        yield running


def data(files):
    """Shards and statistics; dead letters and manifests name the inputs, which differ."""
    return {
        name: content
        for name, content in files.items()
        if name == "statistics.json" or ("-of-" in name and "dead" not in name)
    }


def job(store, *options, **environment):
    """A running job on the store's dumps into a folder of the store."""
    folders = (f"s3://{BUCKET}/dumps", f"s3://{BUCKET}/out")
    return start(*folders, *_SHARDS, *options, **store.environment | environment)


def outcome(store, *options, **environment):
    """Exit status and output of a job."""
    with job(store, *options, **environment) as running:
        said, _ = running.communicate(timeout=_SECONDS_A_JOB)
    return running.returncode, said


def test_jobs_killed_at_every_moment_of_one_output_complete_it(store, small_dumps, tmp_path):
    command = reddit_command(small_dumps, tmp_path / "out", *_SHARDS)
    subprocess.run(command, cwd=REPOSITORY, check=True)
    local = data({path.name: path.read_bytes() for path in (tmp_path / "out").glob("[!_]*")})

    def puts(part_of_key):
        return lambda request: request.startswith("PUT ") and part_of_key in request

    def deletes_after_completed(request):
        # Objects are deleted many at a time; their names are not in the address.
        return request.endswith("?delete") and "COMPLETED" in store.objects("out")

    moments = (
        puts("/out/_incomplete/"),
        puts("/out/statistics.json"),
        puts("/out/COMPLETED"),
        deletes_after_completed,
    )
    for moment in moments:
        arrived = store.hold(moment)
        with job(store) as running:
            assert arrived.wait(_SECONDS_A_JOB)
            held = store.objects("out")
            assert "_claim" in held
            running.send_signal(signal.SIGKILL)
            running.wait()
        store.let_go()
        assert ("COMPLETED" in held) == (moment is deletes_after_completed)

    status, said = outcome(store)
    assert status == 0, said
    assert said.endswith("is complete already; nothing to do\n")
    status, said = outcome(store, "--overwrite")
    assert status == 0, said
    objects = store.objects("out")
    assert data(objects) == local
    # Nothing else is left, and the manifest lists what is there.
    assert not [name for name in objects if name.startswith("_") or "/" in name]
    outputs = json.loads(objects["COMPLETED"])["outputs"]
    assert {name: len(objects[name]) for name in outputs} == {
        name: entry["bytes"] for name, entry in outputs.items()
    }
    for secret in (KEY, SECRET):
        assert secret not in said
        assert not [name for name, content in objects.items() if secret.encode() in content]


def test_a_store_that_cannot_be_reached_is_one_line(store):
    status, said = outcome(store, AWS_ENDPOINT_URL="http://localhost:1", AWS_MAX_ATTEMPTS="1")
    assert status == 1
    assert said.startswith(f"error: --input: 's3://{BUCKET}/dumps/RC_*': "), said
    assert said.count("\n") == 1
