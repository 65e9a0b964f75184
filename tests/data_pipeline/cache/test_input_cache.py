"""Cached inputs: what is in them, and when they are used."""

import os
import re
from pathlib import Path

import google_crc32c
import pytest

from data_pipeline.cache import cached_input, input_cache
from data_pipeline.cache.input_cache import InputCache
from data_pipeline.execution.columns import decode
from data_pipeline.execution.shuffle import DamagedFileError, read_blocks
from data_pipeline.job.join import OWN, REPLIES, SUBPARTITIONS
from data_pipeline.sources.conversations.fields import Fields
from data_pipeline.sources.conversations.source import TableSource
from data_pipeline.sources.reddit.filters import Selection
from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.sources.rules.message_rules import PAPER, MessageRules
from data_pipeline.sources.source import Layout
from data_pipeline.sources.tables.rows import TableFormat
from data_pipeline.storage import inputs, lines
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs

A_WHILE = 100


def as_found(path):
    (dump,) = find_inputs([str(path)])
    return dump


def read(cache, path):
    return cache.read(as_found(path), lambda *_: None)


@pytest.fixture
def path(write_dump, comment):
    lines = [comment("c1"), comment("c2", "t1_c1"), b"no JSON", comment("c3", author="robot")]
    return write_dump("RC_1.gz", lines)


@pytest.fixture
def kept(tmp_path):
    """An uncompressed cache."""
    return InputCache(str(tmp_path / "kept"), RedditSource(Selection()), compressed=False)


@pytest.fixture(params=[False, True], ids=["plain", "compressed"])
def done(tmp_path, path, request):
    """A cache that has the dump, compressed or not."""
    made = InputCache(str(tmp_path / "cache"), RedditSource(Selection()), compressed=request.param)
    read(made, path)
    return made


def test_the_manifest_says_what_was_read_and_counted(done, path):
    found = done.find(as_found(path))
    cached = found.about
    assert cached["input"] == {
        "path": str(path),
        "bytes": path.stat().st_size,
        "modified": path.stat().st_mtime,
        "crc32c": f"{google_crc32c.value(path.read_bytes()):08x}",
    }
    assert cached["counts"] == {"lines": 4, "malformed": 1}
    assert cached["dropped_examples"] == {"bot": ["the words of ccc"]}
    (reason,) = cached["malformed_reasons"]
    assert reason.startswith("not JSON")
    for name, output in cached["outputs"].items():
        content = (Path(found.folder) / name).read_bytes()
        assert output == {
            "bytes": len(content),
            "crc32c": f"{google_crc32c.value(content):08x}",
        }
    assert len(cached["outputs"]) == 3


def test_the_watch_hears_of_all_bytes_and_lines(kept, path, monkeypatch):
    monkeypatch.setattr(lines, "BATCH_BYTES", 64)
    heard = []
    kept.read(as_found(path), lambda stored, counts: heard.append((stored, counts["lines"])))
    assert sum(lines for _, lines in heard) == 4
    assert len(heard) > 1
    assert [stored for stored, _ in heard] == sorted(stored for stored, _ in heard)
    assert heard[-1][0] == path.stat().st_size


def test_a_dump_that_was_only_touched_is_done(done, path, monkeypatch):
    calls = []
    checksum = inputs.file_crc32c
    monkeypatch.setattr(
        inputs, "file_crc32c", lambda path, **part: calls.append(path) or checksum(path, **part)
    )
    assert done.find(as_found(path)) is not None
    assert calls == []
    os.utime(path, (A_WHILE, A_WHILE))
    assert done.find(as_found(path)) is not None
    assert calls == [str(path)]
    # Remembered, so that no later job hashes it again.
    assert done.find(as_found(path)) is not None
    assert calls == [str(path)]


def test_a_touched_dump_in_a_folder_that_is_only_read_is_done(done, path, monkeypatch):
    def read_only(*_):
        raise PermissionError(13, "Permission denied")

    os.utime(path, (A_WHILE, A_WHILE))
    monkeypatch.setattr(cached_input, "write_file", read_only)
    assert done.find(as_found(path)) is not None


def test_a_dump_with_other_contents_is_not_done(done, path):
    before = path.read_bytes()
    path.write_bytes(before[:-1] + b"x")
    os.utime(path, (A_WHILE, A_WHILE))
    assert done.find(as_found(path)) is None
    path.write_bytes(before + b"x")
    assert done.find(as_found(path)) is None
    path.write_bytes(before)
    assert done.find(as_found(path)) is not None


def test_a_dump_of_the_same_name_in_another_folder_is_not_done(done, path, tmp_path):
    (tmp_path / "other").mkdir()
    copy = tmp_path / "other" / path.name
    copy.write_bytes(path.read_bytes())
    assert done.find(as_found(copy)) is None


@pytest.mark.parametrize(
    "asked",
    [
        {"min_score": 0},
        {"messages": PAPER._replace(min_characters=1)},
        {"bots": frozenset({"someone"})},
    ],
)
def test_under_other_rules_it_is_not_done(done, path, asked):
    assert done._replace(source=RedditSource(Selection(**asked))).find(as_found(path)) is None


def test_after_another_version_of_the_program_it_is_not_done(done, path, monkeypatch):
    monkeypatch.setattr(input_cache, "VERSION", input_cache.VERSION + 1)
    assert done.find(as_found(path)) is None


def test_how_it_is_kept_does_not_matter(done, path):
    assert done._replace(compressed=not done.compressed).find(as_found(path)) is not None


def test_a_cached_input_with_a_file_cut_off_or_missing_is_not_done(done, path):
    cached = done.find(as_found(path))
    folder = Path(cached.folder)
    for name in cached.about["outputs"]:
        content = (folder / name).read_bytes()
        assert content
        (folder / name).write_bytes(content[:-1])
        assert done.find(as_found(path)) is None
        (folder / name).unlink()
        assert done.find(as_found(path)) is None
        (folder / name).write_bytes(content)
        assert done.find(as_found(path)) is not None


@pytest.mark.parametrize("content", [None, b"", b'{"input": {'], ids=["none", "empty", "half"])
def test_without_its_manifest_it_is_not_done_and_is_read_anew(done, path, content):
    manifest = Path(done.find(as_found(path)).folder) / "cached_input.json"
    manifest.unlink()
    if content is not None:
        manifest.write_bytes(content)
    assert done.find(as_found(path)) is None
    assert read(done, path).about["counts"] == {"lines": 4, "malformed": 1}
    assert done.find(as_found(path)) is not None


def names_in(kept):
    return sorted(path.name for path in Path(kept.folder).iterdir())


def test_a_job_alone_with_the_folder_removes_unfinished_readings_and_copies(kept, path):
    first, second, last = (Path(read(kept, path).folder) for _ in range(3))
    (first / "cached_input.json").unlink()
    (first / "messages.arrow.abc.partial").write_bytes(b"half")
    os.utime(second / "cached_input.json", (A_WHILE, A_WHILE))
    with kept.in_use():
        assert names_in(kept) == sorted([last.name, "_in_use"])
    assert kept.find(as_found(path)).folder == str(last)


def test_beside_another_job_nothing_is_removed(kept, path):
    (Path(read(kept, path).folder) / "cached_input.json").unlink()
    unfinished = names_in(kept)
    with InputCache(kept.folder, RedditSource(Selection()), compressed=False).in_use():
        read(kept, path)
        before = names_in(kept)
        (Path(read(kept, path).folder) / "cached_input.json").unlink()
        both = names_in(kept)
        with kept.in_use():
            assert names_in(kept) == both
    assert unfinished[0] not in before  # the other job was alone when it began
    with kept.in_use():
        assert names_in(kept) == before


def test_only_files_of_ours_are_removed_from_a_reading(kept, path):
    folder = Path(read(kept, path).folder)
    (folder / "notes.txt").write_text("somebody's")
    (folder / "cached_input.json").unlink()
    with kept.in_use():
        pass
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


def test_a_folder_that_is_no_reading_stays(kept, path):
    other = Path(kept.folder) / "RC_1.gz-backup"
    other.mkdir(parents=True)
    (other / "cached_input.json").write_text("somebody's")
    with kept.in_use():
        assert names_in(kept) == ["RC_1.gz-backup", "_in_use"]


@pytest.mark.parametrize("how", ["in memory", "in the file"])
def test_each_damaged_file_is_noticed_as_it_is_read(done, path, how):
    cached = done.find(as_found(path))
    for name in cached.about["outputs"]:
        file = Path(cached.folder, name)
        whole = file.read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            assert done.find(as_found(path)) is not None  # its size is as before
            with pytest.raises(DamagedFileError, match=re.escape(str(file))):
                list(cached.dead_letters())
                blocks = cached.blocks(position=0, partitions=16, inline=how == "in memory")
                list(read_blocks([block for _, block in blocks]))
            file.write_bytes(whole)


def test_a_reading_that_is_forgotten_is_read_again(done, path):
    cached = done.find(as_found(path))
    done.forget(f"{cached.folder}/partitions.index")
    assert done.find(as_found(path)) is None


def test_a_dump_that_cannot_be_read_leaves_nothing_that_looks_done(kept, path):
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(UnreadableFileError, match="truncated"):
        read(kept, path)
    assert kept.find(as_found(path)) is None
    files = [file.name for file in (path.parent / "kept").rglob("*") if file.is_file()]
    assert files == []


def test_examples_of_what_is_dropped_are_few_and_short(kept, write_dump, comment):
    texts = [f"{number} " + "x" * 2000 for number in range(5)]
    path = write_dump("RC", [comment(f"c{n}", body=text) for n, text in enumerate(texts)])
    assert read(kept, path).about["dropped_examples"] == {
        "length": [text[:1000] for text in texts[:3]]
    }


def test_packs_and_partitions_cut_the_same_rows(kept, write_dump, comment, monkeypatch):
    path = write_dump("RC", [comment(f"c{n}", f"t1_c{n // 2}") for n in range(300)])
    monkeypatch.setattr(lines, "BATCH_BYTES", 2000)
    monkeypatch.setattr(cached_input, "MESSAGES_A_PACK", 50)
    cached = read(kept, path)
    for partitions in (1, 5, SUBPARTITIONS):
        found = blocks_of(cached, partitions=partitions, inline=True)
        assert all(len(block.data) == block.length for _, block in found)
        in_file = [(partition, block._replace(data=None)) for partition, block in found]
        assert blocks_of(cached, partitions=partitions, inline=False) == in_file
        batches = [some for _, block in found for some in decode(block.data, (OWN, REPLIES))]
        # Each comment for itself and for its parent.
        assert [sum(some.num_rows for some in batches[side::2]) for side in (0, 1)] == [300, 300]
    alone = read(kept._replace(subpartitions=5), path)
    assert len(blocks_of(alone, partitions=5, inline=True)) == 30
    content = b"".join(block.data for _, block in blocks_of(cached, partitions=1, inline=True))
    assert Path(cached.folder, "messages.arrow").read_bytes() == content


def blocks_of(cached, **how):
    return list(cached.blocks(position=0, **how))


def test_a_dump_that_was_never_read_is_not_done(kept):
    assert kept.find(InputFile("nowhere/RC.gz", 3, 1.0)) is None


def test_reasons_are_counted_without_values_and_not_without_end(tmp_path):
    names = Fields(thread="talk", order="turn", text="said")
    source = TableSource(Layout.TURNS, names, MessageRules(), TableFormat())
    cache = InputCache(str(tmp_path / "turns"), source, compressed=False)
    path = tmp_path / "c.csv"
    path.write_text("talk,turn,said\n" + "".join(f"1,turn {n},words\n" for n in range(300)))
    assert read(cache, path).about["malformed_reasons"] == {
        "field 'turn' must be a number or an ISO 8601 time, but is text": 300
    }
    path.write_text("talk,turn,said\n" + "".join("," * n + "\n" for n in range(3, 303)))
    reasons = read(cache, path).about["malformed_reasons"]
    assert len(reasons) == cached_input.MOST_REASONS + 1
    assert reasons[cached_input.OTHER_REASONS] == 200
