"""A dump that is read is kept: what is in there, and when it counts as done."""

import os

import google_crc32c
import orjson
import pytest

from data_pipeline import dumps, months
from data_pipeline.dumps import Dump, UnreadableDumpError, find_dumps
from data_pipeline.filters import Selection
from data_pipeline.months import Months

A_WHILE = 100


def as_found(path):
    (dump,) = find_dumps([str(path)])
    return dump


def counts_of(months_of_job, dump):
    return months_of_job.read(dump, lambda *_: None)["counts"]


@pytest.fixture
def path(write_dump, comment):
    lines = [comment("c1"), comment("c2", "t1_c1"), b"no JSON", comment("c3", author="robot")]
    return write_dump("RC_1.gz", lines)


@pytest.fixture
def kept(tmp_path):
    """The months of a job that keeps them uncompressed."""
    return Months(str(tmp_path / "kept"), Selection(), compressed=False)


@pytest.fixture(params=[False, True], ids=["plain", "compressed"])
def done(tmp_path, path, request):
    """Months in which the dump is done, in both ways to keep it."""
    made = Months(str(tmp_path / "months"), Selection(), compressed=request.param)
    made.read(as_found(path), lambda *_: None)
    return made


def test_a_month_says_what_was_read_and_what_came_of_it(done, path):
    month = done.find(as_found(path))
    assert month["input"] == {
        "path": str(path),
        "bytes": path.stat().st_size,
        "modified": path.stat().st_mtime,
        "crc32c": f"{google_crc32c.value(path.read_bytes()):08x}",
    }
    assert month["counts"] == {"lines": 4, "malformed": 1}
    assert month["dropped_examples"] == {"bot": ["the words of ccc"]}
    (reason,) = month["malformed_reasons"]
    assert reason.startswith("not JSON")
    for name, output in month["outputs"].items():
        content = (done_folder(done, path) / name).read_bytes()
        assert output == {
            "bytes": len(content),
            "crc32c": f"{google_crc32c.value(content):08x}",
        }
    assert len(month["outputs"]) == 3


def done_folder(done, path):
    return path.parent / "months" / done.of(as_found(path)).rsplit("/", 1)[1]


def test_the_watch_hears_of_all_bytes_and_lines(kept, path, monkeypatch):
    monkeypatch.setattr(dumps, "BATCH_BYTES", 64)
    heard = []
    kept.read(as_found(path), lambda stored, counts: heard.append((stored, counts["lines"])))
    assert sum(lines for _, lines in heard) == 4
    assert len(heard) > 1
    assert [stored for stored, _ in heard] == sorted(stored for stored, _ in heard)
    assert heard[-1][0] == path.stat().st_size


def test_a_dump_that_was_only_touched_is_done(done, path, monkeypatch):
    calls = []
    checksum = months.checksum
    monkeypatch.setattr(months, "checksum", lambda path: calls.append(path) or checksum(path))
    assert done.find(as_found(path)) is not None
    assert calls == []
    os.utime(path, (A_WHILE, A_WHILE))
    assert done.find(as_found(path)) is not None
    assert calls == [str(path)]


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
    "asked", [{"min_score": 0}, {"min_characters": 1}, {"bots": frozenset({"someone"})}]
)
def test_under_other_rules_it_is_not_done(done, path, asked):
    assert done._replace(selection=Selection(**asked)).find(as_found(path)) is None


def test_after_another_version_of_the_program_it_is_not_done(done, path, monkeypatch):
    monkeypatch.setattr(months, "VERSION", months.VERSION + 1)
    assert done.find(as_found(path)) is None


def test_how_it_is_kept_does_not_matter(done, path):
    assert done._replace(compressed=not done.compressed).find(as_found(path)) is not None


def test_a_month_with_a_file_cut_off_or_missing_is_not_done(done, path):
    folder = done_folder(done, path)
    for name in done.find(as_found(path))["outputs"]:
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
    manifest = done_folder(done, path) / "month.json"
    manifest.unlink()
    if content is not None:
        manifest.write_bytes(content)
    assert done.find(as_found(path)) is None
    assert counts_of(done, as_found(path)) == {"lines": 4, "malformed": 1}
    assert done.find(as_found(path)) is not None


def test_what_is_left_of_another_try_goes_away(kept, path):
    kept.read(as_found(path), lambda *_: None)
    folder = path.parent / "kept" / kept.of(as_found(path)).rsplit("/", 1)[1]
    (folder / "comments.jsonl.abc.partial").write_bytes(b"half")
    kept.read(as_found(path), lambda *_: None)
    assert sorted(file.name for file in folder.iterdir()) == [
        "comments.jsonl",
        "dead_letters.jsonl",
        "month.json",
        "slots.index",
    ]


def test_a_dump_that_cannot_be_read_leaves_nothing_that_looks_done(kept, path):
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(UnreadableDumpError, match="truncated"):
        kept.read(as_found(path), lambda *_: None)
    assert kept.find(as_found(path)) is None
    files = [file.name for file in (path.parent / "kept").rglob("*") if file.is_file()]
    assert files == []


def test_examples_of_what_is_dropped_are_few_and_short(kept, write_dump, comment):
    texts = [f"{number} " + "x" * 2000 for number in range(5)]
    path = write_dump("RC", [comment(f"c{n}", body=text) for n, text in enumerate(texts)])
    month = kept.read(as_found(path), lambda *_: None)
    assert month["dropped_examples"] == {"length": [text[:1000] for text in texts[:3]]}


def test_packs_and_buckets_cut_the_same_rows(kept, write_dump, comment, monkeypatch):
    path = write_dump("RC", [comment(f"c{n}", f"t1_c{n // 2}") for n in range(300)])
    monkeypatch.setattr(dumps, "BATCH_BYTES", 2000)
    monkeypatch.setattr(months, "COMMENTS_A_PACK", 50)
    kept.read(as_found(path), lambda *_: None)
    folder = kept.of(as_found(path))
    for buckets in (1, 5, months.SLOTS):
        found = list(months.blocks_by_bucket(folder, buckets=buckets, at_hand=True))
        assert all(len(block.data) == block.length for _, block in found)
        in_file = [block._replace(data=None) for _, block in found]
        away = list(months.blocks_by_bucket(folder, buckets=buckets, at_hand=False))
        assert away == [(bucket, block) for (bucket, _), block in zip(found, in_file, strict=True)]
        rows = sorted(line for _, block in found for line in block.data.splitlines())
        ids = [own_id for line in rows for own_id in (orjson.loads(line) or [[]])[0]]
        assert len(ids) == 600  # each comment for itself and for its parent
    content = b"".join(
        block.data for _, block in months.blocks_by_bucket(folder, buckets=1, at_hand=True)
    )
    assert (path.parent / "kept").joinpath(
        folder.rsplit("/", 1)[1], "comments.jsonl"
    ).read_bytes() == content


def test_a_dump_that_was_never_read_is_not_done(kept):
    assert kept.find(Dump("nowhere/RC.gz", 3, 1.0)) is None
