"""How pairs are cut into files: within the limits asked for, nothing lost, numbered through."""

import gzip
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet
import pytest
import tensorflow as tf

FEATURES = ["input", "response", "input_id", "response_id", "thread_id", "subreddit"]
MANY = 200
TEXTS = (
    "a plain reply ",
    "eine längere Antwort ",
    "日本語の返事 ",
    'these are the words\n"of\tothers" \\ and then more ',
)


def read_tfrecord(path):
    compression = "GZIP" if path.suffix == ".gz" else ""
    for record in tf.data.TFRecordDataset(str(path), compression_type=compression):
        features = tf.train.Example.FromString(record.numpy()).features.feature
        yield {name: features[name].bytes_list.value[0].decode() for name in features}


def uncompressed(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def read_jsonl(path):
    return map(json.loads, uncompressed(path).splitlines())


def read_parquet(path):
    return pyarrow.parquet.read_table(io.BytesIO(uncompressed(path))).to_pylist()


READ = {"tfrecord": read_tfrecord, "jsonl": read_jsonl, "parquet": read_parquet}


@pytest.fixture
def dump(write_dump, comment):
    """200 replies in 50 threads, in many scripts and lengths."""
    rows = []
    for number in range(MANY):
        thread = {"link_id": f"t3_{number % 50}", "subreddit": f"sub_{number % 3}"}
        rows.append(comment(f"p{number}", f"t3_{number % 50}", body=f"what is {'ä' * 9}", **thread))
        text = TEXTS[number % len(TEXTS)]
        rows.append(comment(f"r{number}", f"t1_p{number}", body=text + "x" * number, **thread))
    return write_dump("RC.gz", rows)


@pytest.fixture
def job(run, dump, tmp_path):
    """Runs the command; returns the folder, with the dump read only once."""

    def reddit(name, *options):
        fixed = ("--test_fraction", 0.3, "--train_shards", 4, "--test_shards", 2)
        cached = ("--cache", tmp_path / "cache")
        run("--input", dump, "--output", tmp_path / name, *cached, *fixed, *options)
        return tmp_path / name

    return reddit


def files_of(folder, split):
    """Its files in their order, whose numbers must be without a gap."""
    paths = sorted(folder.glob(f"{split}-*"))
    stems = [path.name.split(".")[0] for path in paths]
    assert stems == [f"{split}-{n:05d}-of-{len(paths):05d}" for n in range(len(paths))]
    return paths


def pairs_by_split(folder, form):
    return {
        split: sorted(
            json.dumps(pair, sort_keys=True)
            for path in files_of(folder, split)
            for pair in READ[form](path)
        )
        for split in ("train", "test")
    }


def test_all_formats_hold_the_same_pairs_on_the_same_splits(job):
    expected = None
    for form in READ:
        for more in ((), ("--gzip",))[: 1 if form == "parquet" else 2]:
            folder = job(f"{form}{len(more)}", "--format", form, "--context_turns", 1, *more)
            found = pairs_by_split(folder, form)
            expected = expected or found
            assert found == expected
            assert [len(files_of(folder, split)) for split in found] == [4, 2]
            suffix = f".{form}.gz" if more else f".{form}"
            assert len(list(folder.glob(f"t*-of-0000?{suffix}"))) == 4 + 2
    assert sum(map(len, expected.values())) == MANY
    assert all(expected.values())
    assert list(json.loads(expected["train"][0])) == sorted([*FEATURES, "context/0"])


def test_without_a_part_for_tests_all_pairs_are_to_learn_from(job):
    pairs = pairs_by_split(job("out", "--format", "jsonl", "--test_fraction", 0), "jsonl")
    assert (len(pairs["train"]), pairs["test"]) == (MANY, [])


def test_dumps_can_be_to_test_on_alone(job):
    pairs = pairs_by_split(job("out", "--format", "jsonl", "--test_fraction", 1), "jsonl")
    assert (pairs["train"], len(pairs["test"])) == ([], MANY)


def test_a_table_has_a_string_column_for_each_feature(job):
    folder = job("out", "--format", "parquet", "--context_turns", 2)
    for path in files_of(folder, "train"):
        schema = pyarrow.parquet.read_schema(path)
        assert schema.names == [*FEATURES, "context/0", "context/1"]
        assert set(schema.types) == {pa.string()}


@pytest.mark.parametrize("form", READ)
def test_no_file_has_more_records_than_asked_for(job, form):
    plain = job("plain", "--format", form)
    folder = job("cut", "--format", form, "--records_per_file", 7)
    assert pairs_by_split(folder, form) == pairs_by_split(plain, form)
    for split in ("train", "test"):
        sizes = [len(list(READ[form](path))) for path in files_of(folder, split)]
        assert max(sizes) == 7
        # Each shard becomes full files and a rest.
        of_shards = [len(list(READ[form](path))) for path in files_of(plain, split)]
        assert sizes == [
            size for n in of_shards for size in [7] * (n // 7) + ([n % 7] if n % 7 else [])
        ]


def test_the_manifest_counts_the_records_of_each_file(job):
    folder = job("out", "--format", "jsonl", "--records_per_file", 9, "--gzip")
    outputs = json.loads((folder / "COMPLETED").read_text())["outputs"]
    said = {name: output["records"] for name, output in outputs.items() if re.match("t", name)}
    assert said == {
        path.name: len(list(read_jsonl(path)))
        for split in ("train", "test")
        for path in files_of(folder, split)
    }


def test_a_shard_without_pairs_is_an_empty_file_that_can_be_read(job, run, write_dump, tmp_path):
    empty = write_dump("empty.gz", [])
    for form in READ:
        for more in ((), ("--records_per_file", 3)):
            folder = tmp_path / f"{form}{len(more)}"
            run("--input", empty, "--output", folder, "--format", form, "--allow_empty", *more)
            assert len(files_of(folder, "train")) == 16
            assert pairs_by_split(folder, form) == {"train": [], "test": []}
