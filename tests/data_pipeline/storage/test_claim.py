"""One job at a time: who comes second is refused, and the claim of a dead job is free."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from data_pipeline.storage import claim as claims
from data_pipeline.storage.claim import ClaimedError, claim

REPOSITORY = Path(__file__).parents[3]
HERE = claims._machine()
HOLDER = """
import sys, time
from data_pipeline.storage.claim import claim
with claim(sys.argv[1], what="it"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "_claim")


@pytest.fixture
def other_process(path):
    """A process that holds the claim."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_is_refused_at_once_and_told_who_is_first(path, other_process, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    with pytest.raises(ClaimedError) as refused, claim(path, what="--output: 'pairs/'"):
        pass
    assert re.fullmatch(
        rf"--output: 'pairs/' is in use by process {other_process.pid} on "
        rf"{re.escape(socket.gethostname())} since \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00 "
        r"\(python -c .*\); wait for it to end or name another folder",
        str(refused.value),
    )
    assert other_process.poll() is None
    assert json.loads(Path(path).read_text())["process"] == other_process.pid


def test_the_claim_of_a_killed_process_is_free(path, other_process):
    other_process.send_signal(signal.SIGKILL)
    other_process.wait()
    assert Path(path).exists()
    with claim(path, what="it"):
        assert json.loads(Path(path).read_text())["process"] == os.getpid()
    assert not Path(path).exists()


def test_a_claim_is_free_after_it_was_held_and_after_an_error(path):
    with pytest.raises(RuntimeError), claim(path, what="it"):
        raise RuntimeError
    with claim(path, what="it"), pytest.raises(ClaimedError), claim(path, what="it"):
        pass
    with claim(path, what="it") as held:
        held.require()


def test_a_file_that_its_holder_removed_while_another_opened_it_is_not_locked(path, monkeypatch):
    flock = claims.fcntl.flock
    removed = []

    def remove_first(descriptor, how):
        if not removed:
            removed.append(path)
            Path(path).unlink()
        flock(descriptor, how)

    monkeypatch.setattr(claims.fcntl, "flock", remove_first)
    with claim(path, what="it"):
        assert Path(path).exists()  # the second file of that name, which others see too
        with pytest.raises(ClaimedError), claim(path, what="it"):
            pass


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(claims, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(claims, "RENEW_SECONDS", 0.01)


class Store(dict):
    """Objects in memory."""

    def read(self, path):
        return self.get(path)

    def write(self, path, content):
        self[path] = content

    def delete(self, path):
        del self[path]


def test_an_object_store_refuses_the_second_and_forgets_the_first_when_it_is_done(quick):
    store = Store()
    with claim("s3://b/_claim", what="it", objects=store) as held:
        held.require()
        with (
            pytest.raises(ClaimedError, match=f"in use by process {os.getpid()} on"),
            claim("s3://b/_claim", what="it", objects=store),
        ):
            pass
        held.require()
    assert store == {}


def test_an_object_is_renewed_while_it_is_held(quick):
    store = Store()
    with claim("s3://b/_claim", what="it", objects=store):
        first = json.loads(store["s3://b/_claim"])["renewed"]
        until = time.monotonic() + 300
        while json.loads(store["s3://b/_claim"])["renewed"] == first:
            assert time.monotonic() < until
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("machine", "process", "seconds_ago", "is_free"),
    [
        ("elsewhere", 1, 10, False),
        ("elsewhere", 1, 121, True),  # not renewed for more than two minutes
        (HERE, 1, 10, False),  # process 1 lives
        (HERE, 2**22 + 1, 10, True),  # no such process
        (None, 2**22 + 1, 10, False),  # the same name of the host alone says nothing
    ],
)
def test_a_dead_job_on_an_object_store(quick, machine, process, seconds_ago, is_free):
    holder = {"host": socket.gethostname(), "process": process, "since": "then"}
    holder |= {"command": "python"} | ({"machine": machine} if machine else {})
    holder |= {"token": "theirs", "renewed": time.time() - seconds_ago}
    store = Store({"s3://b/_claim": json.dumps(holder).encode()})
    if is_free:
        with claim("s3://b/_claim", what="it", objects=store):
            pass
    else:
        with pytest.raises(ClaimedError), claim("s3://b/_claim", what="it", objects=store):
            pass


def test_of_two_that_write_at_once_the_last_has_it(quick, monkeypatch):
    store = Store()
    theirs = {"host": "b", "process": 2, "since": "now", "command": "python", "token": "theirs"}
    # The other one had seen no claim either, and writes while this one waits.
    monkeypatch.setattr(
        claims.time, "sleep", lambda _: store.update({"c": json.dumps(theirs).encode()})
    )
    with (
        pytest.raises(ClaimedError, match="process 2 on b"),
        claim("c", what="it", objects=store),
    ):
        pass
    assert json.loads(store["c"]) == theirs


def test_a_claim_that_was_taken_over_is_noticed_and_left_alone(quick):
    store = Store()
    theirs = {"host": "b", "process": 2, "since": "now", "command": "python", "token": "theirs"}
    with claim("c", what="it", objects=store) as held:
        store["c"] = json.dumps(theirs).encode()
        with pytest.raises(ClaimedError, match="process 2 on b"):
            held.require()
    assert json.loads(store["c"]) == theirs


def test_a_file_system_without_locks_is_claimed_as_an_object_store_is(quick, path, monkeypatch):
    def no_locks(*_):
        raise OSError(claims.errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(claims.fcntl, "flock", no_locks)
    with claim(path, what="it"):
        assert json.loads(Path(path).read_text())["process"] == os.getpid()
        with pytest.raises(ClaimedError), claim(path, what="it"):
            pass
    assert not Path(path).exists()
