"""Output appears whole or not at all; one process at a time works in a folder."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from common import files, sts
from common.errors import InputError
from common.files import ClaimedError, aside, claim, write_json


def test_a_file_and_a_folder_are_replaced_whole(tmp_path):
    write_json(tmp_path / "new" / "a.json", {"b": 1})
    assert json.loads((tmp_path / "new" / "a.json").read_text()) == {"b": 1}
    with aside(tmp_path / "new") as folder:
        folder.mkdir()
        (folder / "b").touch()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["b"]
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_what_was_there_stays_where_writing_fails(tmp_path):
    output = tmp_path / "output"
    output.write_text("old")
    with pytest.raises(KeyboardInterrupt), aside(output) as new:
        new.write_text("half")
        raise KeyboardInterrupt
    assert output.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


def test_an_old_folder_is_put_back_or_kept_where_it_cannot_be_replaced(tmp_path, monkeypatch):
    output = tmp_path / "output"
    output.mkdir()
    (output / "old").touch()
    with pytest.raises(FileNotFoundError), aside(output):
        pass  # nothing was written
    assert (output / "old").exists()
    rename = Path.rename

    def rename_and_make(path, target):
        rename(path, target)
        if target.name == "old":
            output.mkdir()
            (output / "somebody's").touch()

    monkeypatch.setattr(Path, "rename", rename_and_make)
    with pytest.raises(OSError) as error, aside(output) as new:
        new.mkdir()
    assert (Path(error.value.filename).with_name("old") / "old").exists()
    assert (output / "somebody's").exists()


def test_a_file_does_not_replace_a_folder(tmp_path):
    (tmp_path / "results" / "a").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match="results"):
        write_json(tmp_path / "results", {})
    assert [path.name for path in tmp_path.rglob("*")] == ["results", "a"]


def test_numbers_that_are_none_are_not_written(tmp_path):
    with pytest.raises(ValueError):
        write_json(tmp_path / "a.json", float("nan"))
    assert not list(tmp_path.iterdir())


HOLD = """
import sys, time
from pathlib import Path
from common.files import claim
with claim(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_refused_until_the_first_has_ended(tmp_path):
    folder = tmp_path / "a" / "b"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), "--key=secret"], stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout.readline() == "held\n"
        with pytest.raises(ClaimedError, match=str(first.pid)) as error, claim(folder):
            pass
        assert "secret" not in str(error.value)
        assert "secret" not in (folder / files.CLAIM).read_text()
        with claim(folder, name=".other.claim"):
            pass
        first.send_signal(signal.SIGKILL)
        first.wait()
        with claim(folder):
            assert (folder / files.CLAIM).stat().st_mode & 0o777 == 0o600
    assert not list((tmp_path / "a" / "b").iterdir())


WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from common import command_line, files
output, limited = Path(sys.argv[1]), sys.argv[2]
with command_line.errors_in_one_line(), files.claim(output):
    if limited == "files":
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        import os
        os.pipe()
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    files.write_text(output / "large.txt", "word" * 5000)
"""


@pytest.mark.parametrize("limited", ["files", "bytes"])
def test_for_want_of_room_one_line_names_what_was_written(tmp_path, limited):
    output = tmp_path / "output"
    command = [sys.executable, "-c", WITHOUT_ROOM, output, limited]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert str(output / "large.txt" if limited == "bytes" else output) in line


def test_a_link_to_nothing_in_the_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "output").symlink_to(tmp_path / "gone")
    with pytest.raises(FileExistsError, match="output"), claim(tmp_path / "output"):
        pass


def test_a_link_in_the_place_of_a_claim_is_not_followed(tmp_path):
    (tmp_path / "theirs").write_text("content")
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / files.CLAIM).symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match=files.CLAIM), claim(tmp_path / "output"):
        pass
    assert (tmp_path / "theirs").read_text() == "content"


def test_folders_that_were_made_for_nothing_are_removed(tmp_path):
    with claim(tmp_path / "a" / "b"):
        pass
    assert not list(tmp_path.iterdir())
    with claim(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "output").touch()
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["output"]


def test_claims_that_follow_each_other_closely_are_all_granted(tmp_path):
    granted = []

    def work():
        for _ in range(50):
            try:
                with claim(tmp_path / "folder"):
                    granted.append(1)
            except ClaimedError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert granted
    assert not list(tmp_path.rglob(files.CLAIM))


ABOUT = {"module": {"path": "runs/module", "fingerprint": "c0"}}


def test_a_matrix_comes_back_as_it_was_written(tmp_path):
    path, matrix = tmp_path / "new" / sts.MATRIX, np.eye(3, dtype=np.float32)
    sts.write_matrix(path, matrix, about=ABOUT)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    read, about = sts.read_matrix(path, dim=3)
    assert (read == matrix).all()
    assert read.dtype == np.float32
    assert about == ABOUT


def npz(matrix, about=ABOUT):
    return lambda path: sts.write_matrix(path, matrix, about=about)


@pytest.mark.parametrize(
    "write",
    [
        *map(npz, (np.eye(2), np.zeros((3, 3)), np.full((3, 3), 1e300))),
        npz(np.eye(3), about={"module": {"path": "runs/module"}}),
        lambda path: path.write_bytes(b"text"),
        lambda path: None,
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path, write):
    write(tmp_path / "m.npz")
    with pytest.raises(InputError, match=r"m\.npz"):
        sts.read_matrix(tmp_path / "m.npz", dim=3)
