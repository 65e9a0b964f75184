"""Words and bigrams, counted by hand; and that nothing changes them but the texts."""

import json

import pyarrow as pa
import pytest

from data_pipeline.__main__ import main
from data_pipeline.pairs.formats import make_format
from data_pipeline.pairs.tfrecord import (
    INPUT,
    RESPONSE,
    encode_example,
    frame,
)
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
        form = make_format(
            name.split(".")[1],
            names=(INPUT, RESPONSE),
            gzipped=name.endswith(".gz"),
        )
        path = tmp_path / name
        columns = list(zip(*pairs, strict=True)) or [(), ()]
        rows, _ = form.rows([pa.array(column, pa.string()) for column in columns])
        path.write_bytes(form.file(b"".join(rows.to_pylist())))
        return path

    return write


@pytest.fixture
def vocabulary(tmp_path):
    def run(*arguments, output="out"):
        main(["vocabulary", "--output", str(tmp_path / output), *map(str, arguments)])
        return tmp_path / output

    return run


@pytest.fixture
def vocabulary_fails(vocabulary, capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as raised:
            vocabulary(*arguments)
        capsys.readouterr()
        message = str(raised.value.code)
        assert message.startswith("error: ")
        assert "\n" not in message
        return message

    return run


def lists(folder):
    return (folder / "words.tsv").read_text(), (folder / "bigrams.tsv").read_text()


def test_counts_by_hand(vocabulary, write_pairs, statistics_of, capsys, tmp_path):
    write_pairs("train-0.tfrecord", PAIRS)
    output = vocabulary("--input", tmp_path / "train-*", "--min_count", 1)
    assert lists(output) == (WORDS, BIGRAMS)
    assert "occurrences" in capsys.readouterr().out
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


def test_rare_ones_are_dropped(vocabulary, write_pairs, statistics_of):
    path = write_pairs("train-0.tfrecord", PAIRS)
    by_default = vocabulary("--input", path)
    assert lists(by_default) == ("</s>\t4\nfish\t3\nred\t2\n", "<s> red\t2\nred fish\t2\n")
    assert statistics_of(by_default)["words"] == {
        "occurrences": 11,
        "distinct": 5,
        "kept": 3,
        "occurrences_of_kept": 9,
    }
    apart = vocabulary("--input", path, "--min_count=3", "--min_bigram_count=1", output="apart")
    assert lists(apart) == ("</s>\t4\nfish\t3\n", BIGRAMS)
    none = vocabulary("--input", path, "--min_count=4", output="none")
    assert lists(none) == ("</s>\t4\n", "")
    assert json.loads((none / "COMPLETED").read_text())["outputs"]["bigrams.tsv"]["records"] == 0


def test_words_of_too_few_responses_are_dropped(vocabulary, write_pairs):
    # "!" stands in an input only, and an input in every pair that it has.
    path = write_pairs("train-0.tfrecord", [*PAIRS, PAIRS[1]])
    output = vocabulary("--input", path, "--min_count=1", "--min_responses=1")
    assert lists(output) == (
        "</s>\t6\nfish\t4\nred\t2\n?\t1\n",
        "<s> </s>\t2\n<s> red\t2\nred fish\t2\n? </s>\t1\nfish ?\t1\n",
    )
    assert json.loads((output / "COMPLETED").read_text())["options"]["min_responses"] == 1
    none = vocabulary("--input", path, "--min_responses=2", output="two")
    assert lists(none) == ("</s>\t6\n", "<s> </s>\t2\n")


def test_every_format_and_nli_count_alike(vocabulary, write_pairs, tmp_path):
    write_pairs("a.tfrecord.gz", PAIRS[:1])
    write_pairs("b.jsonl", PAIRS[:1])
    write_pairs("c.parquet", PAIRS[1:])
    nli = {"premise": "fish", "hypothesis": "", "label": 0, "pair_id": "fish"}
    (tmp_path / "nli-00000-of-00001.tfrecord").write_bytes(frame(encode_example(nli)))
    output = vocabulary("--input", tmp_path / "[a-c].*", f"{tmp_path}/nli-*", "--min_count", 3)
    assert lists(output)[0] == "</s>\t8\nfish\t6\nred\t4\n"


def many_pairs():
    words = [f"w{number % 37} v{number % 11}" for number in range(300)]
    return list(zip(words, reversed(words), strict=True))


def test_nothing_but_the_texts_changes_the_files(vocabulary, write_pairs, monkeypatch, tmp_path):
    pairs = many_pairs()
    write_pairs("one.tfrecord", pairs)
    expected = lists(vocabulary("--input", tmp_path / "one.tfrecord"))
    assert len(expected[0].splitlines()) == 37 + 11 + 1
    counts = [int(line.rpartition("\t")[2]) for line in expected[1].splitlines()]
    assert counts == sorted(counts, reverse=True)

    for number in range(5):
        write_pairs(f"some-{number}.tfrecord", pairs[number::5])
    command = ("--input", tmp_path / "some-*")
    threads = ("--direct_num_workers=3", "--direct_running_mode=multi_threading")
    assert lists(vocabulary(*command, *threads, output="threads")) == expected
    with monkeypatch.context() as patched:
        patched.setattr("data_pipeline.vocabulary.counting._MOST_BIGRAMS", 10)
        patched.setattr("data_pipeline.vocabulary.counting._MERGED_BYTES", 50)
        patched.setattr("data_pipeline.vocabulary.command._MIN_PARTITIONS", 3)
        assert lists(vocabulary(*command, output="pieces")) == expected
    with monkeypatch.context() as patched:  # as on an engine
        patched.setattr("data_pipeline.vocabulary.command.is_local", lambda options: False)
        assert lists(vocabulary(*command, output="engine")) == expected


@pytest.mark.slow
def test_several_processes_count_alike(vocabulary, write_pairs, tmp_path):
    for number in range(4):
        write_pairs(f"some-{number}.tfrecord", many_pairs())
    one = vocabulary("--input", tmp_path / "some-*")
    processes = ("--direct_num_workers=2", "--direct_running_mode=multi_processing")
    assert lists(vocabulary("--input", tmp_path / "some-*", *processes, output="two")) == lists(one)


def test_nothing_is_cut_off(vocabulary, write_pairs):
    path = write_pairs("a.jsonl", [("word " * 1000, "")])
    assert lists(vocabulary("--input", path))[0] == "word\t1000\n</s>\t2\n"


def test_the_marker_and_a_second_run(vocabulary, vocabulary_fails, write_pairs, capsys, tmp_path):
    path = write_pairs("a.jsonl.gz", PAIRS)
    output = vocabulary("--input", path)
    marker = json.loads((output / "COMPLETED").read_text())
    (described,) = marker["inputs"].values()
    assert described["crc32c"] == file_crc32c(str(path))
    assert marker["options"] == {
        "command": "vocabulary",
        "min_counts": {"words": 2, "bigrams": 2},
    }
    words = marker["outputs"]["words.tsv"]
    assert words["records"] == 3
    assert words["crc32c"] == file_crc32c(str(output / "words.tsv"))
    capsys.readouterr()
    vocabulary("--input", path)
    assert "is complete already; nothing to do" in capsys.readouterr().out
    assert "its min_counts was" in vocabulary_fails("--input", path, "--min_count=3")
    (output / "data_card.html").write_text("somebody's")
    assert "data_card.html'; delete it or" in vocabulary_fails("--input", path, "--overwrite")
    (output / "data_card.html").unlink()
    vocabulary("--input", path, "--min_count=3", "--overwrite")
    assert lists(output)[0] == "</s>\t4\nfish\t3\n"


def test_the_order_of_the_files_makes_no_other_job(vocabulary, write_pairs, capsys):
    one, other = write_pairs("a.jsonl", PAIRS), write_pairs("b.jsonl", PAIRS)
    vocabulary("--input", f"{other},{one}")
    vocabulary("--input", f"{one},{other}")
    assert "is complete already; nothing to do" in capsys.readouterr().out


def test_what_is_refused(vocabulary_fails, write_pairs, tmp_path):
    good = write_pairs("a.tfrecord", PAIRS)
    assert "--min_count: 0 is not 1 or more" in vocabulary_fails("--input", good, "--min_count=0")
    wrong = vocabulary_fails("--input", good, "--min_responses=-1")
    assert "--min_responses: -1 is not 0 or more" in wrong
    message = vocabulary_fails("--input", good, "--min_bigram_count=-1")
    assert "--min_bigram_count: -1 is not 1 or more" in message
    assert "unknown option --shards" in vocabulary_fails("--input", good, "--shards=2")
    assert "matches no file" in vocabulary_fails("--input", tmp_path / "none-*")
    assert not (tmp_path / "out").exists()


def test_all_unreadable_files_are_named_and_nothing_is_published(
    vocabulary, vocabulary_fails, write_pairs, tmp_path
):
    good = write_pairs("a.tfrecord", PAIRS)
    output = vocabulary("--input", good)
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    (tmp_path / "b.tfrecord").write_bytes(good.read_bytes()[:-3])
    (tmp_path / "c.csv").write_text("a,b\n")
    message = vocabulary_fails("--input", tmp_path / "[abc].*", "--overwrite")
    assert "b.tfrecord, record 2: the file ends inside a record" in message
    assert "c.csv: its name does not say how to read it" in message
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before
