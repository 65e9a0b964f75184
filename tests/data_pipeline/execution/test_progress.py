"""Notes of the workers, and the bar that the launcher makes of them."""

import io
import json
import os
import re
import time

import pytest

from data_pipeline.execution import progress
from data_pipeline.execution.progress import (
    JOINING,
    READING,
    Note,
    Watch,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def write(tmp_path):
    """Writes a finished note."""

    def note(kind, name, done, lines=0):
        Note(str(tmp_path), kind, name).write(done=done, lines=lines, finished=True)

    return note


@pytest.fixture
def shown(tmp_path):
    """What is printed for the notes that are there now."""

    def show(stream=None):
        stream = stream or io.StringIO()
        watch = Watch(str(tmp_path), stored_bytes=1000, partitions=4, stream=stream)
        watch._show()
        watch._bar.close()
        return stream.getvalue()

    return show


def test_a_note_is_written_now_and_then_and_when_the_work_is_finished(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    note = Note(str(tmp_path), READING, "RC")
    path = tmp_path / "read-RC"
    note.write(done=1, lines=10)
    assert json.loads(path.read_text()) == [1, 10]
    now += progress.SECONDS_BETWEEN_NOTES / 2
    note.write(done=2, lines=20)
    assert json.loads(path.read_text()) == [1, 10]
    now += progress.SECONDS_BETWEEN_NOTES
    note.write(done=3, lines=30)
    assert json.loads(path.read_text()) == [3, 30]
    note.write(done=4, finished=True)
    assert json.loads(path.read_text()) == [4, 0]


def test_notes_are_added_up(shown, write):
    assert "reading dumps:   0%" in shown()
    write(READING, "RC_1", 250, 1_000)
    write(READING, "RC_2", 100, 234)
    write(JOINING, "00000", 1)
    assert "reading dumps:  35%" in shown()
    assert "350/1.00k" in shown()
    assert "1,234 lines, " in shown()


def test_a_note_that_is_being_written_is_passed_over(shown, write, tmp_path):
    write(READING, "RC_1", 250, 5)
    for name, content in {"RC_2": "", "RC_3": "[4"}.items():
        (tmp_path / f"read-{name}").write_text(content)
    (tmp_path / "report.json").write_text("{}")
    assert "reading dumps:  25%" in shown()
    assert "5 lines, " in shown()


def test_after_the_reading_comes_the_join(shown, write):
    write(READING, "RC_1", 1000)
    assert "joining replies to parents:   0%" in shown()
    for partition in range(3):
        write(JOINING, f"{partition:05d}", 1)
    assert "joining replies to parents:  75%" in shown()
    assert "3/4 " in shown()


def test_the_rate_of_the_join_counts_from_the_last_dump_that_was_read(tmp_path, write, monkeypatch):
    write(READING, "RC_1", 600)
    write(READING, "RC_2", 400)
    write(JOINING, "00000", 1)
    now = time.time()
    monkeypatch.setattr(progress.time, "time", lambda: now)
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    os.utime(tmp_path / "read-RC_1", (now - 90, now - 90))
    os.utime(tmp_path / "read-RC_2", (now - 10, now - 10))
    stream = io.StringIO()
    watch = Watch(str(tmp_path), stored_bytes=1000, partitions=5, stream=stream)
    watch._began = now - 100
    watch._show()
    # One in ten seconds, and four are left.
    assert "| 1/5 [00:10<00:40" in stream.getvalue()
    assert "s/ partitions]" in stream.getvalue()
    for partition in range(1, 5):
        write(JOINING, f"{partition:05d}", 1)
    watch._show()
    watch._bar.close()
    (rate,) = re.findall(r"5/5 .* (\S+)s/ partitions", stream.getvalue())
    assert float(rate) == 2.0


def test_where_there_is_no_terminal_each_state_is_a_line(tmp_path, write, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.01)
    write(READING, "RC_1", 500)
    stream = io.StringIO()
    with Watch(str(tmp_path), stored_bytes=1000, partitions=4, stream=stream):
        while stream.getvalue().count("\n") < 2:
            progress.time.sleep(0.01)
    lines = stream.getvalue().splitlines()
    assert all(line.startswith("reading dumps:  50%") for line in lines[:-1])
    # Buckets without a comment leave no note, and are joined all the same.
    assert lines[-1].startswith("joining replies to parents: 100%")
    assert "\r" not in stream.getvalue()


def test_on_a_terminal_one_line_is_drawn_anew(tmp_path, write):
    write(READING, "RC_1", 500)
    stream = Terminal()
    watch = Watch(str(tmp_path), stored_bytes=1000, partitions=4, stream=stream)
    watch._show()
    write(READING, "RC_1", 750)
    watch._show()
    drawn = stream.getvalue()
    watch._bar.close()
    assert "\n" not in drawn
    assert [line[:20] for line in drawn.split("\r") if " 0%" not in line[:20]][1:] == [
        "reading dumps:  50%|",
        "reading dumps:  75%|",
    ]


def test_a_job_that_fails_does_not_say_that_all_is_joined(tmp_path):
    stream = io.StringIO()
    with (
        pytest.raises(KeyError),
        Watch(str(tmp_path), stored_bytes=1000, partitions=4, stream=stream),
    ):
        raise KeyError
    assert "joining" not in stream.getvalue()


def test_the_command_tells_how_far_it_is_and_leaves_no_notes(run, world, tmp_path, capsys):
    run("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    assert "joining replies to parents: 100%" in capsys.readouterr().err
    assert not list((tmp_path / "out").rglob("read-*"))
    assert not list((tmp_path / "out").rglob("join-*"))
