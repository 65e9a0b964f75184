"""Words and bigrams, counted by hand; and that nothing changes them but the texts."""

import json

import pyarrow as pa
import pytest

from common.errors import InputError
from common.tfrecord import FEATURES, encode_example, frame
from data_pipeline import VocabularyOptions, count_vocabulary
from data_pipeline.pairs.options import PairOptions
from data_pipeline.pairs.shards import Shards
from data_pipeline.storage.filesystem import file_crc32c

PAIRS = [("Red fish!", "red fish?"), ("fish", "")]
WORDS = "</s>\t4\nfish\t3\nred\t2\n!\t1\n?\t1\n"
BIGRAMS = (
    "<s> red\t2\nred fish\t2\n"
    "! </s>\t1\n<s> </s>\t1\n<s> fish\t1\n? </s>\t1\nfish !\t1\nfish </s>\t1\nfish ?\t1\n"
)


@pytest.fixture
def write_pairs(tmp_path):
    """Writes pairs as the reddit command stores them, in the format that the name says."""

    def write(name, pairs):
        stored = {"format": name.split(".")[1], "gzip": name.endswith(".gz")}
        shards = Shards(PairOptions(input=("RC",), output="out", **stored), {})
        path = tmp_path / name
        columns = list(zip(*((*pair, "i", "r", "t", "s") for pair in pairs), strict=True))
        arrays = [pa.array(column, pa.string()) for column in columns or [()] * len(FEATURES)]
        rows, _ = shards.encode(arrays)
        path.write_bytes(shards.content(b"".join(rows.to_pylist())))
        return path

    return write


@pytest.fixture
def vocabulary(tmp_path):
    """Counts files into a folder; returns it."""

    def run(*inputs, output="out", beam_arguments=(), **options):
        options = VocabularyOptions(
            input=tuple(map(str, inputs)), output=str(tmp_path / output), **options
        )
        count_vocabulary(options, beam_arguments=beam_arguments)
        return tmp_path / output

    return run


def lists(folder):
    return (folder / "words.tsv").read_text(), (folder / "bigrams.tsv").read_text()


def test_counts_by_hand(vocabulary, write_pairs, statistics_of):
    path = write_pairs("train-0.tfrecord", PAIRS)
    output = vocabulary(path, min_count=1)
    assert lists(output) == (WORDS, BIGRAMS)
    counts = {"occurrences": 11, "occurrences_of_kept": 11}
    assert statistics_of(output) == {
        "records": 2,
        "texts": 4,
        "words": {"distinct": 5, "kept": 5} | counts,
        "bigrams": {"distinct": 9, "kept": 9} | counts,
    }
    assert {path.name for path in output.iterdir()} == {
        *("words.tsv", "bigrams.tsv", "statistics.json", "COMPLETED")
    }
    marker = json.loads((output / "COMPLETED").read_text())
    (described,) = marker["inputs"].values()
    assert described["crc32c"] == file_crc32c(str(path))
    assert marker["options"]["min_counts"] == {"words": 1, "bigrams": 1}
    words = marker["outputs"]["words.tsv"]
    assert (words["records"], words["crc32c"]) == (5, file_crc32c(str(output / "words.tsv")))


@pytest.mark.parametrize(
    ("options", "words", "bigrams"),
    [
        ({}, "</s>\t6\nfish\t4\nred\t2\n", "<s> </s>\t2\n<s> fish\t2\n<s> red\t2\n"),
        ({"min_count": 3}, "</s>\t6\nfish\t4\n", ""),
        ({"min_count": 5}, "</s>\t6\n", ""),
        # "!" stands in an input only, and an input in every pair that it has.
        (
            {"min_count": 1, "min_responses": 1},
            "</s>\t6\nfish\t4\nred\t2\n?\t1\n",
            "<s> </s>\t2\n<s> red\t2\n",
        ),
        ({"min_responses": 2}, "</s>\t6\n", "<s> </s>\t2\n"),
    ],
)
def test_rare_ones_and_those_of_too_few_responses_are_dropped(
    vocabulary, write_pairs, options, words, bigrams
):
    path = write_pairs("train-0.tfrecord", [*PAIRS, PAIRS[1]])
    found = lists(vocabulary(path, **options))
    assert found[0] == words
    assert found[1].startswith(bigrams)
    assert bool(found[1]) == bool(bigrams)


def test_every_format_and_nli_count_alike(vocabulary, write_pairs, tmp_path):
    write_pairs("a.tfrecord.gz", PAIRS[:1])
    write_pairs("b.jsonl", [*PAIRS[:1], ("word " * 1000, "")])
    write_pairs("c.parquet", PAIRS[1:])
    nli = {"premise": "fish", "hypothesis": "", "label": 0, "pair_id": "fish"}
    (tmp_path / "nli-00000-of-00001.tfrecord").write_bytes(frame(encode_example(nli)))
    output = vocabulary(tmp_path / "[a-c].*", tmp_path / "nli-*", min_count=3)
    assert lists(output)[0] == "word\t1000\n</s>\t10\nfish\t6\nred\t4\n"


def test_nothing_but_the_texts_changes_the_files(vocabulary, write_pairs, monkeypatch, tmp_path):
    words = [f"w{number % 37} v{number % 11}" for number in range(300)]
    pairs = list(zip(words, reversed(words), strict=True))
    expected = lists(vocabulary(write_pairs("one.tfrecord", pairs)))
    assert len(expected[0].splitlines()) == 37 + 11 + 1
    counts = [int(line.rpartition("\t")[2]) for line in expected[1].splitlines()]
    assert counts == sorted(counts, reverse=True)
    for number in range(5):
        write_pairs(f"some-{number}.tfrecord", pairs[number::5])
    threads = ("--direct_num_workers=3", "--direct_running_mode=multi_threading")
    some = tmp_path / "some-*"
    assert lists(vocabulary(some, beam_arguments=threads, output="threads")) == expected
    monkeypatch.setattr("data_pipeline.vocabulary.command._MOST_TOKENS", 10)
    monkeypatch.setattr("data_pipeline.vocabulary.command._MIN_PARTITIONS", 3)
    monkeypatch.setattr("data_pipeline.execution.job.is_local", lambda options: False)
    assert lists(vocabulary(some, output="as on an engine")) == expected


def test_a_job_is_done_once_and_is_none_without_words(vocabulary, write_pairs):
    one, other = write_pairs("a.jsonl", PAIRS), write_pairs("b.jsonl", PAIRS)
    output = vocabulary(other, one)
    made = (output / "words.tsv").stat()
    vocabulary(one, other)  # the order of the files makes no other job
    assert (output / "words.tsv").stat() == made
    with pytest.raises(InputError, match="min_count"):
        vocabulary(one, other, min_count=3)
    with pytest.raises(InputError, match="--min_count 100"):
        vocabulary(one, other, min_count=100, overwrite=True)
    assert (output / "words.tsv").stat() == made
    vocabulary(one, other, min_count=100, allow_empty=True, overwrite=True)
    assert lists(output) == ("", "")


def test_all_unreadable_files_are_named_and_nothing_is_published(vocabulary, write_pairs, tmp_path):
    good = write_pairs("a.tfrecord", PAIRS)
    (tmp_path / "b.tfrecord").write_bytes(good.read_bytes()[:-3])
    (tmp_path / "c.csv").write_text("a,b\n")
    with pytest.raises(InputError, match=r"b\.tfrecord, record 2: .*c\.csv"):
        vocabulary(tmp_path / "[abc].*")
    assert not (tmp_path / "out" / "COMPLETED").exists()
