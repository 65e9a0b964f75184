"""Files in parts: each line is in one part, and the job's output is that of whole files."""

import json
from itertools import count, pairwise

import numpy as np
import orjson
import pytest
from backports import zstd

from data_pipeline import RedditOptions, make_pairs
from data_pipeline.sources.rules import MessageRules
from data_pipeline.sources.source import Layout
from data_pipeline.sources.tables.source import TableSource
from data_pipeline.storage import lines as reading
from data_pipeline.storage import shares
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import read_line_batches

LETTERS = str.maketrans("0123456789", "ghijklmnop")
SKIPPABLE = (0x184D2A5E).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"table"


def read(file):
    """(number, line, size of one that is too long) of each line, and what the tap saw."""
    tap = Tap()
    found = []
    for batch in read_line_batches(file, tap):
        lengths = [0 if row else batch.first_bytes for row in range(batch.number_of_lines)]
        # Of a line that is too long, at least as much is there as a line may have.
        starts = [line[: reading.MAX_LINE_BYTES] for line in batch.lines]
        found += zip(count(batch.first_line), starts, lengths, strict=False)
    return found, tap


def whole(path):
    return InputFile(str(path), path.stat().st_size)


def cut(path, places):
    file = whole(path)
    return [file._replace(start=start, end=end) for start, end in pairwise([0, *places, file.size])]


def random_text(random):
    """Lines of 0 to 12 bytes, some with carriage returns; with or without a line end at last."""
    sizes = random.integers(0, 13, size=random.integers(1, 30))
    lines = [random.choice(list(b"ab\r"), size).astype(np.uint8).tobytes() for size in sizes]
    return b"\n".join(lines) + b"\n" * int(random.integers(0, 3))


def frame_of(texts):
    """A frame with a block for each text."""
    compressor = zstd.ZstdCompressor()
    flush_block = zstd.ZstdCompressor.FLUSH_BLOCK
    blocks = [compressor.compress(text, mode=flush_block) for text in texts]
    return b"".join(blocks) + compressor.flush()


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_each_line_is_in_one_part(tmp_path, monkeypatch, seed, is_compressed):
    monkeypatch.setattr(reading, "BATCH_BYTES", 7)
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 9)
    random = np.random.default_rng(seed)
    text = random_text(random)
    path = tmp_path / ("RC.zst" if is_compressed else "RC")
    path.write_bytes(text)
    if is_compressed:
        places = np.unique(random.integers(0, len(text) + 1, size=random.integers(1, 30))).tolist()
        texts = [text[start:end] for start, end in pairwise([0, *places, len(text)])]
        # Sometimes two frames with something between them.
        half = len(texts) // (1 + seed % 2)
        path.write_bytes(frame_of(texts[:half]) + SKIPPABLE + frame_of(texts[half:]))
    stored = path.stat().st_size
    places = np.unique(random.integers(1, stored + 1, size=random.integers(1, 9))).tolist()
    # What is read of parts is what is read of the file; the last part's reader has its checksum.
    lines, tap = read(whole(path))
    read_parts = [read(part) for part in cut(path, places)]
    assert [line for part, _ in read_parts for line in part] == lines
    assert (read_parts[-1][1].crc32c, read_parts[-1][1].size) == (tap.crc32c, stored)


def test_the_last_part_of_a_frame_that_is_cut_off_is_an_error(tmp_path):
    path = tmp_path / "RC.zst"
    path.write_bytes(zstd.compress(np.random.default_rng(0).bytes(500_000))[:-4])
    first, second = cut(path, [250_000])
    read(first)
    with pytest.raises(UnreadableFileError, match="truncated or corrupt"):
        read(second)


@pytest.mark.parametrize("name", ["RC", "RC.zst"])
def test_a_job_on_parts_writes_what_it_writes_on_whole_files(tmp_path, comment, monkeypatch, name):
    random = np.random.default_rng(0)
    lines = []
    for number in range(3000):
        parent = f"t1_{number - 1}" if number % 3 else "t3_p"
        said = f"whatever happens, it stays here äöü {random.bytes(50).hex().translate(LETTERS)}"
        lines.append(orjson.dumps(comment(str(number), parent, body=said)))
        if number % 400 == 0:
            lines += [b"no json", b"", orjson.dumps(comment(str(number), body="again"))]
    content = b"\n".join(lines)
    (tmp_path / name).write_bytes(zstd.compress(content) if name == "RC.zst" else content)
    output, seen = tmp_path / "pairs", []
    options = RedditOptions(input=(str(tmp_path / name),), output=str(output), overwrite=True)
    make_pairs(options)
    expected = {file.name: file.read_bytes() for file in output.iterdir()}
    monkeypatch.setattr(shares, "LEAST_BYTES", 1000)
    monkeypatch.setattr(reading, "BATCH_BYTES", 10_000)

    def share_out(*given, **named):
        seen.append(shares.share_out(*given, **named))
        return seen[-1]

    monkeypatch.setattr("data_pipeline.job.run.share_out", share_out)
    monkeypatch.setattr("data_pipeline.job.run.choose_workers", lambda *_, **__: 2)
    make_pairs(options)
    assert {file.name: file.read_bytes() for file in output.iterdir()} == expected
    assert [len(share) for share in seen[0]] == [1, 1]
    stored = (output / "dead_letters-00000-of-00001.jsonl").read_text().splitlines()
    where = [json.loads(letter)["line"] for letter in stored]
    assert [lines[line - 1] for line in where] == [b"no json", b""] * 8


def test_json_lines_are_read_in_parts():
    source = TableSource(Layout.LINKED, {"text": "said"}, MessageRules())
    assert source.reads_parts(InputFile("a.jsonl", 10**9))
    assert not source.reads_parts(InputFile("a.csv", 10**9))
