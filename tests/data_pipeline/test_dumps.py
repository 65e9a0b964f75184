"""Every compression, whole and damaged."""

import bz2

import pytest
from backports import zstd

from data_pipeline import dumps
from data_pipeline.dumps import UnreadableDumpError, find_dumps, read_line_batches
from data_pipeline.errors import InputError

COMPRESSIONS = ("", ".gz", ".bz2", ".xz", ".zst")


def lines_of(path):
    return [line for batch in read_line_batches(str(path)) for line in batch.lines]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_reads_all_lines_over_many_batches(write_dump, monkeypatch, suffix):
    monkeypatch.setattr(dumps, "BATCH_BYTES", 64)
    lines = [b"line %d" % number for number in range(100)]
    path = write_dump(f"RC{suffix}", lines)
    batches = list(read_line_batches(str(path)))
    assert [line for batch in batches for line in batch.lines] == lines
    assert len(batches) > 5
    for batch in batches:
        assert batch.lines[0] == b"line %d" % (batch.first_line - 1)
        assert batch.path == str(path)


def test_a_last_line_without_its_end_and_a_line_longer_than_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(dumps, "BATCH_BYTES", 8)
    path = tmp_path / "RC"
    path.write_bytes(b"a" * 100 + b"\n\nend")
    assert lines_of(path) == [b"a" * 100, b"", b"end"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_truncated_file_is_noticed(write_dump, suffix):
    path = write_dump(f"RC{suffix}", [b"%d" % (n * n) for n in range(2000)])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UnreadableDumpError, match=rf"RC{suffix}: truncated or corrupt"):
        lines_of(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_file_that_is_no_archive_is_noticed(tmp_path, suffix):
    path = tmp_path / f"RC{suffix}"
    path.write_bytes(b"this is plain text, whatever the name says")
    with pytest.raises(UnreadableDumpError, match="truncated or corrupt"):
        lines_of(path)


def test_corruption_in_the_middle_is_noticed(write_dump):
    path = write_dump("RC.bz2", [b"%d" % (n * n) for n in range(5000)])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UnreadableDumpError, match="truncated or corrupt"):
        lines_of(path)


def test_several_frames_in_one_file(tmp_path):
    zst, bz = tmp_path / "RC.zst", tmp_path / "RC.bz2"
    zst.write_bytes(zstd.compress(b"one\n") + zstd.compress(b"two\n"))
    bz.write_bytes(bz2.compress(b"one\n") + bz2.compress(b"two\n"))
    assert lines_of(zst) == lines_of(bz) == [b"one", b"two"]


def test_a_zstd_window_of_2_to_the_31(tmp_path):
    path = tmp_path / "RC.zst"
    parameter = zstd.CompressionParameter
    options = {parameter.window_log: 31, parameter.compression_level: 1}
    compressor = zstd.ZstdCompressor(options=options)
    # Without its size in advance the frame's header states the whole window.
    path.write_bytes(compressor.compress(b"a line\n") + compressor.flush())
    assert zstd.get_frame_info(path.read_bytes()).decompressed_size is None
    with pytest.raises(zstd.ZstdError):
        zstd.decompress(path.read_bytes())
    assert lines_of(path) == [b"a line"]


def test_a_missing_file_is_not_tried_again(tmp_path):
    with pytest.raises(UnreadableDumpError, match=r"nowhere\.gz"):
        lines_of(tmp_path / "nowhere.gz")


def test_finds_each_file_once_in_order(write_dump, tmp_path):
    for name in ("RC_2.gz", "RC_1.zst"):
        write_dump(name, [b"x"])
    found = find_dumps([f"{tmp_path}/RC_2*", f"{tmp_path}/RC_*"])
    assert [dump.path for dump in found] == [f"{tmp_path}/RC_1.zst", f"{tmp_path}/RC_2.gz"]
    assert found[0].size == (tmp_path / "RC_1.zst").stat().st_size


def test_a_pattern_without_a_file_and_a_folder_are_errors(tmp_path):
    with pytest.raises(InputError, match=r"'.*/RC_x' matches no file"):
        find_dumps([f"{tmp_path}/RC_x"])
    with pytest.raises(InputError, match="is a folder"):
        find_dumps([str(tmp_path)])
