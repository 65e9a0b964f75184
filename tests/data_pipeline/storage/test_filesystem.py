"""Files are written whole or not at all, and folders are deleted with what is in them."""

import google_crc32c
import pytest

from data_pipeline.storage.filesystem import (
    NewFile,
    delete_folder,
    file_crc32c,
    files_like,
    write_file,
)


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path):
    path = tmp_path / "file"
    with NewFile(str(path)) as file:
        file.write(b"one ")
        file.write(b"two")
        assert not path.exists()
    assert path.read_bytes() == b"one two"
    expected = f"{google_crc32c.value(b'one two'):08x}"
    assert (file.size, file.crc32c, file_crc32c(str(path))) == (7, expected, expected)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_that_fails_leaves_nothing_and_keeps_the_old_one(tmp_path):
    path = tmp_path / "file"
    write_file(str(path), b"old")
    with pytest.raises(ZeroDivisionError), NewFile(str(path)) as file:
        file.write(b"new")
        raise ZeroDivisionError
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("file", b"old")]


def test_folders_are_deleted_with_what_is_in_them(tmp_path):
    (tmp_path / "one" / "deeper").mkdir(parents=True)
    (tmp_path / "one" / "deeper" / "file").write_text("x")
    for _ in range(2):
        delete_folder(str(tmp_path / "one"))
    assert list(tmp_path.iterdir()) == []


def test_a_pattern_names_files_of_one_level(tmp_path):
    for name in ("a/1.json", "a/.hidden", "b/below/1.json", "1.json"):
        write_file(f"{tmp_path}/{name}", b"12345")
    (file,) = files_like(str(tmp_path), "*/*.json")
    assert (file.path, file.size_in_bytes) == (f"{tmp_path}/a/1.json", 5)
    names = {file.path.rpartition("/")[2] for file in files_like(f"{tmp_path}/a", "*")}
    assert names == {"1.json", ".hidden"}
    assert files_like(f"{tmp_path}/nowhere", "*") == []
