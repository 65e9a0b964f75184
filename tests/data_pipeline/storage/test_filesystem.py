"""Files are written whole or not at all."""

import google_crc32c
import pytest

from data_pipeline.storage.filesystem import NewFile, file_crc32c, write_file


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
