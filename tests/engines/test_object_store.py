"""Dumps and output on an object store (`s3://`), which has no renames, no folders and no locks."""

import json
import logging
import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from tests.engines.fetch import REPOSITORY
from tests.engines.object_store import BUCKET, KEY, SECRET, ObjectStore

pytestmark = pytest.mark.slow

_SECONDS_A_JOB = 180


@pytest.fixture(scope="module")
def small_dumps(tmp_path_factory, sample_world):
    """A folder with few comments: each access to a store takes time."""
    world = sample_world(tmp_path_factory.mktemp("small"), comments=2_000)
    return world / "reddit"


@pytest.fixture(scope="module")
def store(small_dumps):
    """A server that has the dumps."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with ObjectStore() as running:
        for dump in small_dumps.glob("RC_*"):
            running.upload(dump, f"dumps/{dump.name}")
        yield running


@pytest.fixture(scope="module")
def local(tmp_path_factory, small_dumps):
    """The shards and statistics of the same dumps in a local folder."""
    output = tmp_path_factory.mktemp("local") / "out"
    command = _command(f"{small_dumps}/RC_*", output)
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=60)
    return _data({path.name: path.read_bytes() for path in output.iterdir() if path.is_file()})


def _command(source, output, *options):
    command = (sys.executable, "-m", "data_pipeline", "reddit", "--input", source)
    return [str(part) for part in (*command, "--output", output, "--train_shards", 3, *options)]


def _data(files):
    """Shards and statistics; dead letters and manifests name the inputs, which differ."""
    return {name: files[name] for name in files if "-of-" in name and "dead" not in name} | {
        "statistics.json": files["statistics.json"]
    }


@pytest.fixture
def run(store):
    """Runs the job on the store's dumps into a folder of the store; returns status and output."""

    def in_store(folder, *options):
        with _start(store, folder, *options) as job:
            said, _ = job.communicate(timeout=_SECONDS_A_JOB)
        return job.returncode, said

    return in_store


def _start(store, folder, *options):
    return subprocess.Popen(
        _command(f"s3://{BUCKET}/dumps/RC_*", f"s3://{BUCKET}/{folder}", *options),
        cwd=REPOSITORY,
        env=os.environ | store.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_job_from_a_store_into_a_store_writes_the_same_files(store, run, local):
    status, said = run("whole")
    assert status == 0, said
    objects = store.objects("whole")
    assert _data(objects) == local
    # Nothing else is left, and the manifest lists what is there.
    assert not [name for name in objects if name.startswith("_") or "/" in name]
    outputs = json.loads(objects["COMPLETED"])["outputs"]
    assert {name: len(objects[name]) for name in outputs} == {
        name: entry["bytes"] for name, entry in outputs.items()
    }
    for secret in (KEY, SECRET):
        assert secret not in said
        assert not [name for name, content in objects.items() if secret.encode() in content]
    status, said = run("whole")
    assert status == 0
    assert said.endswith("is complete already; nothing to do\n")


def _puts(part_of_key):
    return lambda store, request: request.startswith("PUT ") and part_of_key in request


def _deletes_after_completed(store, request):
    # Objects are deleted many at a time; their names are not in the address.
    return request.endswith("?delete") and store.has("killed/COMPLETED")


@pytest.mark.parametrize(
    "moment",
    [
        _puts("/killed/_incomplete/"),
        _puts("/killed/statistics.json"),
        _puts("/killed/COMPLETED"),
        _deletes_after_completed,
    ],
    ids=["while it works", "while it publishes", "before COMPLETED", "after COMPLETED"],
)
def test_a_killed_job_run_again_completes(store, run, local, moment):
    for name in store.objects("killed"):
        store.client.delete_object(Bucket=BUCKET, Key=f"killed/{name}")
    arrived = store.hold(partial(moment, store))
    with _start(store, "killed") as job:
        assert arrived.wait(_SECONDS_A_JOB)
        held = store.objects("killed")
        assert "_claim" in held
        job.send_signal(signal.SIGKILL)
        job.wait()
    store.let_go()
    is_complete = "COMPLETED" in held
    assert is_complete == (moment is _deletes_after_completed)
    status, said = run("killed")
    assert status == 0, said
    assert said.endswith("nothing to do\n") == is_complete
    objects = store.objects("killed")
    assert _data(objects) == local
    left = {name for name in objects if name.startswith("_") or "/" in name}
    assert left <= ({"_publishing.json"} if is_complete else set())


def test_two_jobs_on_one_folder_of_a_store_do_not_mix(store, run, local):
    arrived = store.hold(partial(_puts("/shared/_incomplete/"), store))
    with _start(store, "shared") as first:
        assert arrived.wait(_SECONDS_A_JOB)
        status, said = run("shared")
        assert status == 1
        assert f"is in use by process {first.pid} on " in said
        store.let_go()
        said, _ = first.communicate(timeout=_SECONDS_A_JOB)
    # A request that the store refused once is tried again.
    assert first.returncode == 0, said
    assert _data(store.objects("shared")) == local


def test_a_store_that_cannot_be_reached_is_one_line(store):
    environment = os.environ | store.environment | {"AWS_ENDPOINT_URL": "http://localhost:1"}
    done = subprocess.run(
        _command(f"s3://{BUCKET}/dumps/RC_*", "out"),
        cwd=REPOSITORY,
        env=environment | {"AWS_MAX_ATTEMPTS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: --input: 's3://{BUCKET}/dumps/RC_*': "), done.stderr
    assert "Could not connect to the endpoint URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_credentials_on_the_command_line_are_refused(run):
    status, said = run("refused", f"--s3_secret_access_key={SECRET}")
    assert status == 1
    assert said.startswith("error: --s3_secret_access_key: credentials are not accepted on the")
    assert SECRET not in said
