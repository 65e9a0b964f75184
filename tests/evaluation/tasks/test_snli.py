import dataclasses
import json
import re
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from common.errors import InputError
from common.text_files import TextPairs
from common.tfrecord import LABELS
from evaluation.data import snli_files
from evaluation.data.snli_files import Pair
from evaluation.tasks import snli


def line(label, premise="a man sleeps", hypothesis="a person rests"):
    return json.dumps({"gold_label": label, "sentence1": premise, "sentence2": hypothesis}) + "\n"


def read(path):
    ((source,),) = snli_files.find(path).values()
    return snli_files.read(source)


def test_pairs_without_an_agreed_label_are_counted(write_text):
    rows = [("neutral", "a b", "c"), ("-", "d", ""), ("contradiction", 'a "quote', "f g")]
    lines = "".join(line(*row) for row in rows)
    found = read(write_text("snli_1.0_dev.jsonl", lines))
    assert found == read(write_text("packed/snli_1.0_dev.jsonl.gz", lines))
    assert found == TextPairs(
        "snli-dev",
        [Pair("a b", "c", "neutral"), Pair('a "quote', "f g", "contradiction")],
        {"without_label": 1},
    )


def test_sets_of_a_split_stand_side_by_side_under_the_names_of_their_files(write_text, tmp_path):
    def names(folder):
        found = snli_files.find(tmp_path / folder)
        return {split: [source.name for source in of] for split, of in found.items()}

    for name in ("snli/snli_1.0_train.jsonl.gz", "snli/snli_1.0_test.jsonl", "snli/a.jsonl"):
        write_text(name, line("neutral"))
    for name in ("snli/snli_1.0_test.txt", "snli/contested_pairs.jsonl"):
        write_text(name, line("neutral"))
    assert names("snli") == {"test": ["snli-test"], "train": ["snli-train"]}
    for name in ("dev_matched", "dev_mismatched", "train"):
        write_text(f"multi/multinli_1.0_{name}.jsonl", line("neutral"))
    assert names("multi") == {
        "dev": ["snli-multinli_1.0_dev_matched", "snli-multinli_1.0_dev_mismatched"],
        "train": ["snli-multinli_1.0_train"],
    }
    for name in ("train-00000-of-00002", "train-00001-of-00002", "validation-00000-of-00001"):
        write_text(f"shards/{name}.parquet", "")
    assert names("shards") == {"train": ["snli-train"], "dev": ["snli-dev"]}
    assert len(snli_files.find(tmp_path / "shards")["train"][0].files) == 2
    write_text("snli/test.jsonl", "")
    with pytest.raises(InputError, match="snli-test again"):
        names("snli")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty"):
        names("empty")


PAIRS = [Pair("a", "b", "entailment"), Pair('"c', "d", "neutral"), Pair("e", "f", "contradiction")]
WORDS = (*LABELS, "-")


def test_numbers_are_labels_in_every_form(write_text, tmp_path):
    rows = [*((pair.premise, pair.hypothesis, i) for i, pair in enumerate(PAIRS)), ("g", "h", -1)]
    names = ("premise", "hypothesis", "label")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    pyarrow.parquet.write_table(table, tmp_path / "dev.parquet")
    lines = [json.dumps(row) for row in table.to_pylist()]
    lines += [json.dumps({**row, "label": str(row["label"])}) for row in table.to_pylist()]
    columns = ["\t".join(map(str, row)) for row in [names, *rows]]
    own = [("sentence1", "sentence2", "gold_label")]
    own += [(one, other, WORDS[label]) for one, other, label in rows]
    forms = {
        "dev.jsonl": "\n".join(lines[:4]),
        "dev2.jsonl": "\n".join(lines[4:8]),
        "dev.tsv": "\n".join(columns),
        "snli_1.0_dev.txt": "\n".join(map("\t".join, own)),
        "dev.parquet": None,
    }
    for name, text in forms.items():
        path = tmp_path / name if text is None else write_text(name, text)
        found = read(path)
        assert found.pairs == PAIRS, name
        assert found.counts == {"without_label": 1}
    for label in (3, 0.5, True, [0], "x"):
        bad = json.dumps({"premise": "a", "hypothesis": "b", "label": label})
        with pytest.raises(InputError, match=r"dev3\.jsonl:1"):
            read(write_text("dev3.jsonl", bad))


@pytest.mark.parametrize(
    "bad", ["{", line("maybe"), line("neutral", premise=" "), line("neutral", hypothesis=7)]
)
def test_malformed_rows_name_file_and_line(write_text, bad):
    with pytest.raises(InputError, match=r"a\.jsonl: no labelled"):
        read(write_text("a.jsonl", line("-")))
    with pytest.raises(InputError, match=r"a\.jsonl:2"):
        read(write_text("a.jsonl", line("neutral") + bad))


def test_a_modules_own_head_classifies(save, write_text, tmp_path, run, fails):
    import tensorflow as tf

    def nli(premise, hypothesis):
        left, right = tf.strings.length(premise), tf.strings.length(hypothesis)
        label = tf.where(left == right, 0, tf.where(left > right, 2, 1))
        broken = tf.where(tf.equal(premise, "nan"), float("nan"), 0.0)
        return {"outputs": 0.1 + 0.7 * tf.one_hot(label, 3) + broken[:, None]}

    with_head = save(lambda texts: tf.ones([tf.size(texts), 2]), classify_nli=nli)

    rows = [("entailment", "abc", "xyz"), ("neutral", "a", "bcd"), ("neutral", "abc", "d")]
    rows += [("contradiction", "abc", "d"), ("-", "e", "f")]
    data = write_text("snli_1.0_test.jsonl", "".join(line(*row) for row in rows))
    common = ["--module", with_head, "--output", tmp_path / "out"]
    run("snli", "--data", data, *common)
    found = json.loads((tmp_path / "out" / "snli-test.json").read_text())
    assert found["notes"][0] == snli.OWN_LABELS
    assert found["metrics"] == {"accuracy": 0.75}
    assert found["baselines"] == {"majority": {"accuracy": 0.5}}
    assert found["counts"] == {"without_label": 1}
    assert {name: group["metrics"]["accuracy"] for name, group in found["groups"].items()} == {
        **{"entailment": 1.0, "neutral": 0.5, "contradiction": 1.0}
    }
    assert found["items"][2]["predicted"] == "contradiction"
    assert found["items"][2]["probabilities"] == pytest.approx([0.1, 0.1, 0.8])

    write_text("snli_1.0_test.jsonl", line("neutral", "nan", "x"))
    assert "('nan', 'x')" in fails("snli", "--data", data, *common, "--again")


def split(name, count, *, encoder):
    """Pairs whose label is whether the second vector is the first's, beside or against it."""
    random = np.random.default_rng(len(name) + count)
    pairs = []
    for i in range(count):
        label, angle = i % 3, random.uniform(0, 2 * np.pi)
        turned = angle + label * np.pi / 2 + random.normal(0, 0.1)
        texts = (f"{name} {i} premise", f"{name} {i} hypothesis")
        for text, at in zip(texts, (angle, turned), strict=True):
            encoder.vectors[text] = [np.cos(at), np.sin(at)]
        pairs.append(Pair(*texts, LABELS[label]))
    return TextPairs(f"snli-{name}", pairs)


@pytest.mark.slow
def test_a_module_without_a_head_gets_a_classifier(fake_encoder, monkeypatch):
    from evaluation.probes import nli_classifier

    monkeypatch.setattr(nli_classifier, "LEARNING_RATE", 0.02)
    monkeypatch.setattr(nli_classifier, "HIDDEN_SIZES", (0, 16))
    encoder = fake_encoder({})
    train, dev, test = (
        split(name, count, encoder=encoder)
        for name, count in (("train", 900), ("dev", 90), ("test", 300))
    )
    with pytest.raises(InputError, match="classify_nli"):
        snli.evaluate(encoder, test)
    # Each but for case and marks a sentence of the test's: not to be trained on.
    seen = [Pair("Test 3: PREMISE", "train 0 hypothesis", "neutral"), test.pairs[7]]
    encoder.vectors[seen[0].premise] = [1, 0]
    training = TextPairs(train.name, [*seen, *train.pairs])
    learn = partial(nli_classifier.train, encoder, held_out=[dev, test], seed=1)
    classifier = learn(training, dev)
    found = snli.evaluate(encoder, test, classifier=classifier)
    assert found.metrics["accuracy"] > 0.9
    assert "here on 900 pairs (2 more share a sentence with what is" in found.notes[0]
    assert "on the 90 of snli-dev" in found.notes[0]
    assert re.search(r"embeddings of length (1|1\.41)\)", found.notes[0])
    again = learn(train, dev)
    assert snli.evaluate(encoder, test, classifier=again).items == found.items
    with pytest.raises(InputError, match="snli-test"):
        learn(test, dev)
    neutral = [Pair(pair.premise, pair.hypothesis, "neutral") for pair in train.pairs]
    with pytest.raises(InputError, match="neutral"):
        learn(dataclasses.replace(train, pairs=neutral), dev)
