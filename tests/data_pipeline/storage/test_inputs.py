"""Every compression, whole and damaged."""

import errno
import os
from pathlib import PurePath

import pytest
from backports import zstd

from common.errors import InputError
from data_pipeline.storage import lines as reading
from data_pipeline.storage.filesystem import file_crc32c
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs
from data_pipeline.storage.lines import BATCH_BYTES, read_line_batches

COMPRESSIONS = ("", ".gz", ".bz2", ".xz", ".zst")
MANY = [f"many_{month:0100}.json" for month in range(60)]


def batches_of(path):
    return list(read_line_batches(InputFile(str(path), path.stat().st_size)))


def lines_of(path):
    return [line for batch in batches_of(path) for line in batch.lines]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_reads_all_lines_over_many_batches(write_dump, monkeypatch, suffix):
    monkeypatch.setattr(reading, "BATCH_BYTES", 64)
    lines = [b"line %d" % number for number in range(100)]
    path = write_dump(f"RC{suffix}", lines)
    batches = batches_of(path)
    assert [line for batch in batches for line in batch.lines] == lines
    assert len(batches) > 5
    for batch in batches:
        assert batch.lines[0] == b"line %d" % (batch.first_line - 1)
        assert batch.path == str(path)


def test_a_last_line_without_its_end_and_a_line_longer_than_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BATCH_BYTES", 8)
    path = tmp_path / "RC"
    path.write_bytes(b"a" * 100 + b"\n\nend")
    assert lines_of(path) == [b"a" * 100, b"", b"end"]
    # Of one that is too long no more is kept than a line may have, and a batch.
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 16)
    first, *rest = batches_of(path)
    assert (first.first_bytes, len(first.lines[0]) <= 16 + 8) == (100, True)
    assert [line for batch in (first, *rest) for line in batch.lines][1:] == [b"", b"end"]


def flipped(content, place):
    damaged = bytearray(content)
    damaged[place] ^= 0xFF
    return bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-20],
        lambda content: flipped(content, len(content) // 2),
        lambda content: content + flipped(content, 0),
        lambda content: content + b"garbage",
        lambda _: b"this is plain text, whatever the name says",
        lambda _: b"",
    ],
    ids=["cut", "changed", "a damaged stream behind", "garbage behind", "no archive", "empty"],
)
@pytest.mark.parametrize("suffix", COMPRESSIONS[1:])
def test_damage_is_noticed(tmp_path, compress, suffix, damage):
    path = tmp_path / f"RC{suffix}"
    # zstd has no checksum: only a compressed block shows that it was changed.
    path.write_bytes(damage(compress[suffix](b"".join(b"%d\n" % (n * n) for n in range(5000)))))
    with pytest.raises(UnreadableFileError, match=rf"RC{suffix}: truncated or corrupt"):
        lines_of(path)
    with pytest.raises(UnreadableFileError, match="nowhere"):
        list(read_line_batches(InputFile(f"{tmp_path}/nowhere{suffix}", 1)))


@pytest.mark.parametrize("suffix", COMPRESSIONS[1:])
def test_several_streams_in_one_file_and_padding_between_them(tmp_path, compress, suffix):
    path = tmp_path / f"RC{suffix}"
    streams = [compress[suffix](text) for text in (b"0\n", b"", b"1\n")]
    path.write_bytes(b"".join(streams))
    assert lines_of(path) == [b"0", b"1"]
    if suffix in (".bz2", ".xz"):
        for padding in (bytes(8), bytes(2 * BATCH_BYTES)):
            path.write_bytes(padding.join(streams) + bytes(4))
            assert lines_of(path) == [b"0", b"1"]


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


def test_finds_each_file_once_in_order(write_dump, tmp_path):
    for name in ("RC_2.gz", "RC_1.zst"):
        write_dump(name, [b"x"])
    in_order = [f"{tmp_path}/RC_1.zst", f"{tmp_path}/RC_2.gz"]
    found = find_inputs([f"{tmp_path}/RC_*", f"{tmp_path}/RC_2*"])
    assert [dump.path for dump in found] == in_order
    # A pattern in the order of its files, but the patterns as they are given.
    found = find_inputs([f"{tmp_path}/RC_2*", f"{tmp_path}/RC_*"])
    assert [dump.path for dump in found] == in_order[::-1]
    assert found[1].size == (tmp_path / "RC_1.zst").stat().st_size


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # its first byte would be lost
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    for name in ("RC_x", "", "pipe", "p*", "/dev/null"):
        with pytest.raises(InputError, match="--input"):
            find_inputs([str(tmp_path / name)])
    with pytest.raises(InputError, match="--input"):
        find_inputs([","])
    with pytest.raises(InputError, match="gone"):
        find_inputs([f"{tmp_path}/g*"])
    with pytest.raises(InputError, match="nosuch"):
        find_inputs(["nosuch://bucket/RC_*"])


def test_a_pattern_finds_what_a_shell_finds(tmp_path):
    for name in ("dumps/2014/RC_1", "elsewhere/RC_2", "dumps/2014/folder/RC_3"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}\n")
    (tmp_path / "dumps/2015").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "dumps/RC_0").write_bytes(b"{}\n")
    # Two stars are any number of folders, none among them, and links to folders are folders.
    for pattern, numbers in ("*/RC*", "12"), ("2014/**", "13"), ("**/RC_*", "0123"):
        found = {PurePath(file.path).name for file in find_inputs([f"{tmp_path}/dumps/{pattern}"])}
        assert found == {f"RC_{number}" for number in numbers}


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    for name in ("open/RC_1", "closed/RC_2"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"{}\n")
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)  # root may list everything
    for pattern in ("*/RC_*", "**/RC_*"):
        with pytest.raises(InputError, match="closed"):
            find_inputs([f"{tmp_path}/{pattern}"])
    assert [file.path for file in find_inputs([f"{tmp_path}/o*/RC_*"])] == [f"{tmp_path}/open/RC_1"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["RC_a,b.json"], ["RC_a,b.json"]),
        (["RC_*,b.json"], ["RC_a,b.json"]),
        (["RC_1.json, RC_2.json"], ["RC_1.json", "RC_2.json"]),
        (["RC_1.json", "RC_a,b.json"], ["RC_1.json", "RC_a,b.json"]),
        (["RC_[1].json"], ["RC_[1].json"]),
        (["RC_[12].json"], ["RC_1.json", "RC_2.json"]),
        ([",".join(MANY)], MANY),  # longer than a name may be
    ],
)
def test_a_value_that_names_files_is_taken_whole(tmp_path, monkeypatch, given, found):
    monkeypatch.chdir(tmp_path)
    for name in ("RC_a,b.json", "RC_1.json", "RC_2.json", "RC_[1].json", *MANY):
        (tmp_path / name).write_bytes(b"{}\n")
    assert [file.path for file in find_inputs(given)] == found


def test_workers_find_a_file_wherever_they_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "RC_1").write_bytes(b"{}\n")
    (file,) = find_inputs(["RC_*"])
    described = {"bytes": 3, "modified": -1.0, "crc32c": file_crc32c("RC_1")}
    monkeypatch.chdir("/")
    assert (file.path, file.full_path) == ("RC_1", str(tmp_path / "RC_1"))
    (batch,) = read_line_batches(file)
    assert batch.lines == [b"{}"]
    assert file.is_unchanged(described)
