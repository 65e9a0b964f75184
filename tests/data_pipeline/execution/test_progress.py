"""How far a job is, from what its workers note."""

import io
import time

import pytest

from data_pipeline.execution import progress
from data_pipeline.execution.progress import JOINING, READING, Note, shown_progress, work_done


def test_the_last_notes_of_all_pieces_of_work_are_added_up(tmp_path):
    note = Note(str(tmp_path), READING, "a")
    note.write(100)
    note.write(250)  # too soon after the last one
    Note(str(tmp_path), READING, "b").write(400)
    Note(str(tmp_path), JOINING, "0").write(1, finished=True)
    (tmp_path / f"{READING}-c").write_text("")  # being written at this moment
    assert (work_done(str(tmp_path), READING), work_done(str(tmp_path), JOINING)) == (500, 1)
    note.write(600, finished=True)
    assert work_done(str(tmp_path), READING) == 1000


@pytest.mark.parametrize("error", [None, KeyError])
def test_reading_then_joining_is_shown_while_the_job_runs(tmp_path, monkeypatch, error):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.01)
    stream = io.StringIO()

    def job():
        stages = (READING, 1000, "B"), (JOINING, 4, " partitions")
        with shown_progress(str(tmp_path), stages, stream=stream):
            Note(str(tmp_path), READING, "a").write(1000, finished=True)
            while JOINING not in stream.getvalue():
                time.sleep(0.01)
            Note(str(tmp_path), JOINING, "0").write(1, finished=True)
            if error is not None:
                raise error

    if error is None:
        job()
    else:
        with pytest.raises(error):
            job()
    read, join = stream.getvalue().strip().splitlines()[-1], stream.getvalue()
    assert "100%" in join
    assert read.startswith(JOINING)
    assert " 25%" in read
