"""How far a job is, from what its workers note."""

import io

import pytest

from data_pipeline.execution import progress
from data_pipeline.execution.progress import JOINING, READING, Note, Watch


@pytest.fixture
def watch(tmp_path):
    return Watch(str(tmp_path), stored_bytes=1000, partitions=4, stream=io.StringIO())


def test_reading_then_joining(watch, tmp_path):
    assert watch.state().startswith("reading   0%")
    note = Note(str(tmp_path), READING, "a")
    note.write(done=100, lines=3)
    note.write(done=250, lines=5)  # too soon after the last one
    Note(str(tmp_path), READING, "b").write(done=400, lines=6)
    assert watch.state().startswith("reading  50%")
    assert "9 lines" in watch.state()
    note.write(done=600, lines=7, finished=True)
    Note(str(tmp_path), JOINING, "0").write(done=1, finished=True)
    assert watch.state().startswith("joining  25%")


def test_where_there_is_no_terminal_each_state_is_a_line(watch, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.01)
    with watch:
        while watch._stream.getvalue().count("\n") < 2:
            progress.time.sleep(0.01)
    *states, last = watch._stream.getvalue().splitlines()
    assert all(line.startswith("reading") for line in states)
    assert last.startswith("done in")


def test_a_job_that_fails_is_not_done(watch):
    with pytest.raises(KeyError), watch:
        raise KeyError
    assert "done" not in watch._stream.getvalue()
