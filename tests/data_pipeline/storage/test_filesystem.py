"""Files are written whole or not at all, and folders are deleted with what is in them."""

import google_crc32c
import pytest
from apache_beam.io.filesystems import FileSystems

from data_pipeline.storage.filesystem import (
    NewFile,
    delete_folders,
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


def test_folders_are_deleted_with_what_is_in_them(tmp_path, monkeypatch):
    (tmp_path / "one" / "deeper").mkdir(parents=True)
    (tmp_path / "one" / "deeper" / "file").write_text("x")
    delete_folders([str(tmp_path / "one")])
    delete_folders([])
    assert list(tmp_path.iterdir()) == []
    asked = []
    monkeypatch.setattr(FileSystems, "delete", asked.extend)
    delete_folders(["gs://bucket/one"])
    assert asked == ["gs://bucket/one/"]


def test_a_pattern_names_files_of_one_level(tmp_path):
    folder = str(tmp_path)
    for name in ("a/1.json", "a/.hidden", "b/1.json", "b/below/1.json", "1.json"):
        write_file(FileSystems.join(folder, name), b"12345")
    of_folders = files_like(folder, "*/*.json")
    assert sorted(file.path for file in of_folders) == [f"{folder}/{x}/1.json" for x in "ab"]
    assert {file.size_in_bytes for file in of_folders} == {5}
    modified = (tmp_path / "b" / "1.json").stat().st_mtime
    assert modified in {file.last_updated_in_seconds for file in of_folders}
    names = {file.path.rpartition("/")[2] for file in files_like(f"{folder}/a", "*")}
    assert names == {"1.json", ".hidden"}
    assert files_like(f"{folder}/nowhere", "*") == []
