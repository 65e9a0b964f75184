"""Ids of a vocabulary's own, and the hashed ones after them."""

import json
import shutil
from pathlib import Path

import google_crc32c
import pytest
import tensorflow as tf
import yaml

from common.errors import InputError
from data_pipeline.__main__ import main
from model.checkpoints import trained
from model.configs import schema
from model.dual_encoder import build
from model.text import BIGRAMS, PADDING, WORDS, vocabulary
from model.text.preprocessing import TextToIds
from model.training import run

SENTENCES = ["Red fish!", "one fish two fish red", "", "Straße 🎂"]
HASHED = {
    WORDS: [
        [435, 611, 660, 105, PADDING],
        [569, 611, 254, 611, 105],
        [105, PADDING, PADDING, PADDING, PADDING],
        [580, 845, 105, PADDING, PADDING],
    ],
    BIGRAMS: [
        [2943, 2200, 3512, 2472, PADDING],
        [1289, 1371, 287, 1058, 1223],
        [3898, PADDING, PADDING, PADDING, PADDING],
        [4491, 832, 4170, PADDING, PADDING],
    ],
}
"""What they were before there were vocabularies: trained models depend on it."""
SIZES = {"max_tokens": 4, "word_buckets": 1000, "bigram_buckets": 5000}


@pytest.fixture
def tiny_vocabulary(write_vocabulary):
    words = dict.fromkeys(["</s>", "fish", "red", "strasse"], 7)
    return Path(write_vocabulary(words, bigrams=["<s> red", "🎂 </s>", "fish two"]))


def ids_of(text_to_ids):
    ids = text_to_ids(tf.constant(SENTENCES))
    assert {name: value.dtype for name, value in ids.items()} == {
        WORDS: tf.int32,
        BIGRAMS: tf.int32,
    }
    return {name: value.numpy().tolist() for name, value in ids.items()}


def test_without_a_vocabulary_ids_are_what_they_always_were():
    text_to_ids = TextToIds(**SIZES)
    assert ids_of(text_to_ids) == HASHED
    assert text_to_ids.table_sizes == {WORDS: 1000, BIGRAMS: 5000}


def test_known_tokens_have_the_number_of_their_line_and_others_come_after(tiny_vocabulary):
    text_to_ids = TextToIds(**SIZES, vocabulary=str(tiny_vocabulary))
    assert text_to_ids.table_sizes == {WORDS: 1004, BIGRAMS: 5003}
    # By their hashes: </s>, fish, red, strasse; (<s>, red), (🎂, </s>), (fish, two).
    known = {WORDS: {105: 1, 611: 2, 435: 3, 580: 4}, BIGRAMS: {2943: 1, 4170: 2, 287: 3}}
    assert ids_of(text_to_ids) == {
        kind: [[of.get(each, each and each + len(of)) for each in row] for row in HASHED[kind]]
        for kind, of in known.items()
    }


def test_what_is_no_vocabulary_or_does_not_fit_its_manifest_is_refused(tiny_vocabulary):
    words, manifest = tiny_vocabulary / "words.tsv", tiny_vocabulary / "COMPLETED"
    completed, content = json.loads(manifest.read_text()), words.read_bytes()
    completed["outputs"]["words.tsv"]["crc32c"] = f"{google_crc32c.value(content):08x}"
    manifest.write_text(json.dumps(completed))
    TextToIds(vocabulary=str(tiny_vocabulary))
    swapped = b"".join(b"%s\t%s\n" % tuple(row.split()[::-1]) for row in content.splitlines())
    for changed in (content.replace(b"fish", b"fist"), swapped, content + b"more\t1\n"):
        words.write_bytes(changed)
        with pytest.raises(InputError, match=r"words\.tsv"):
            TextToIds(vocabulary=str(tiny_vocabulary))
    for text in ("{}", "{", None):
        manifest.unlink()
        if text is not None:
            manifest.write_text(text)
        with pytest.raises(InputError, match=r"text.vocabulary: '.*/vocabulary'"):
            TextToIds(vocabulary=str(tiny_vocabulary))


def test_a_vocabulary_that_is_built_again_in_the_same_folder_is_read_again(tiny_vocabulary):
    before = TextToIds(**SIZES, vocabulary=str(tiny_vocabulary))
    words = tiny_vocabulary / "words.tsv"
    first, second, *rest = words.read_text().splitlines()
    words.write_text("\n".join([second, first, *rest, ""]))
    after = TextToIds(**SIZES, vocabulary=str(tiny_vocabulary))
    assert [ids(tf.constant(["fish"]))[WORDS].numpy().tolist() for ids in (before, after)] == [
        [[2, 1]],
        [[1, 2]],
    ]


def test_no_vocabulary_has_no_checksums_in_any_folder(tmp_path, monkeypatch):
    (tmp_path / "COMPLETED").write_text('{"outputs": {"train-0": {"crc32c": "12345678"}}}')
    assert vocabulary.checksums(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert vocabulary.checksums("") == {}


@pytest.mark.slow
def test_a_model_learns_with_the_commands_vocabulary_and_needs_it(parse, pairs_folder, tmp_path):
    """One that was counted again would give the run's vectors to other words."""
    folder, model_dir = tmp_path / "vocabulary", tmp_path / "run"
    main(["vocabulary", "--input", f"{pairs_folder}/train-*", "--output", str(folder)])
    # 64 questions and as many answers; "number", 400 numbers of which none comes twice; the end.
    assert TextToIds(vocabulary=str(folder)).table_sizes[WORDS] == 200_000 + 64 + 64 + 1 + 1
    params = parse(
        **{"task__model__text__vocabulary": folder, "runtime__distribution_strategy": "mirrored"},
        **{"trainer__train_steps": 20, "trainer__validation_interval": 20},
    )
    run.run_experiment(params, mode="train_and_eval", folder=model_dir)
    trained.load(model_dir)
    again = ["vocabulary", "--input", f"{pairs_folder}/test-*", "--output", str(folder)]
    main([*again, "--overwrite"])
    for of_run in (model_dir, model_dir / "best"):
        with pytest.raises(InputError, match=str(of_run)):
            trained.load(of_run)
    for mode in ("eval", "train"):
        with pytest.raises(InputError, match=str(model_dir)):
            run.run_experiment(params, mode=mode, folder=model_dir)


def test_a_model_does_not_begin_with_vectors_of_other_words(write_vocabulary, tmp_path):
    folder = write_vocabulary(dict.fromkeys(["</s>", "fish", "red"], 7))
    config = schema.DualEncoder(text=schema.Text(vocabulary=folder, bigram_buckets=0))
    config.text.word_buckets = 10
    model_dir = tmp_path / "run"
    tf.train.Checkpoint(model=build(config)).save(str(model_dir / "ckpt"))
    (model_dir / "params.yaml").write_text(
        yaml.safe_dump({"task": {"model": config.as_dict()}}, default_flow_style=False)
    )
    trained.initialize(build(config), str(model_dir))
    shutil.copytree(folder, tmp_path / "other")
    (tmp_path / "other" / "words.tsv").write_text("</s>\t7\nred\t7\nfish\t7\n")
    config.text.vocabulary = str(tmp_path / "other")
    with pytest.raises(InputError, match="vocabulary has other tokens"):
        trained.initialize(build(config), str(model_dir))
