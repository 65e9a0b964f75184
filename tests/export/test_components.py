"""What is done to embeddings after training: components removed, a matrix applied."""

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from export.__main__ import main
from export.card import identity
from export.module import components
from export.module.hub_module import HubModule
from export.saved_model import write
from model.checkpoints import trained

VECTORS = {
    b"a": [1.0, 0.0, 0.0],
    b"b": [0.8, 0.6, 0.0],
    b"c": [0.8, -0.6, 0.0],
    b"d": [0.0, 0.0, 1.0],
}


def encode(sentences):
    return tf.constant([VECTORS[sentence] for sentence in sentences.numpy()])


def learn(path, lines, count):
    path.write_text("\n".join(lines))
    return components.learn(encode, [str(path)], count=count, dim=3)


def test_the_first_components_are_those_of_the_second_moment(tmp_path):
    """The sum of v v' is diag(1 + 4 * 0.64, 4 * 0.36, 1)."""
    texts = tmp_path / "texts.txt"
    found, about = learn(texts, ["a", "", *"bcbcd"], 2)
    np.testing.assert_allclose(np.abs(found), [[1, 0], [0, 1], [0, 0]], atol=1e-6)
    assert about == {"count": 2, "texts": 6, "files": [str(texts)]}


@pytest.mark.parametrize(("lines", "count"), [("abcd", 3), ("ab", 2), ("ab" * 9, 2)])
def test_too_few_texts_that_differ_are_named(tmp_path, lines, count):
    with pytest.raises(InputError, match=r"--remove_components|--component_texts"):
        learn(tmp_path / "texts.txt", lines, count)
    with pytest.raises(InputError, match="accepted together"):  # one without the other
        write.export(tmp_path, tmp_path / "module", remove_components=count)


@pytest.mark.slow
def test_components_and_matrix_change_embeddings_alone(shared):
    model, text = trained.load(shared / "run")
    sentences = tf.constant(["a b c", "", "d"])
    u = model.encode_inputs(text(sentences)).numpy()
    direction = np.eye(7, 1, dtype=np.float32)
    matrix = np.random.default_rng(0).normal(size=(7, 7)).astype(np.float32)
    plain = HubModule(model, text)
    removed, tuned = {"components": direction}, {"sts_matrix": matrix}
    for given in (removed, tuned, removed | tuned):
        module = HubModule(model, text, **given)
        # The matrix was learned of embeddings without the component.
        rows = u * (np.arange(7) > 0) if "components" in given else u
        rows = rows @ matrix if "sts_matrix" in given else rows
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        np.testing.assert_allclose(module(sentences), rows, atol=1e-5)
        of = {name: head for name, head in module.heads.items() if name != "word_vectors"}
        np.testing.assert_allclose(of.pop("serving_default")(sentences)["outputs"], rows, atol=1e-5)
        found = of.pop("similarity")(sentences, sentences[::-1])["angular"]
        cosines = np.clip((rows * rows[::-1]).sum(axis=1), -1, 1)
        np.testing.assert_allclose(found, 1 - np.arccos(cosines) / np.pi, atol=1e-3)
        # What is trained for a task stays.
        for name, head in of.items():
            sides = [sentences[:1] if name == "rank_responses" else sentences, sentences]
            sides = sides[: len(head.input_signature)]
            for output, value in plain.heads[name](*sides).items():
                np.testing.assert_allclose(head(*sides)[output], value, atol=1e-6)
        trainable = [id(weight) for weight in module.trainable_variables]
        assert (id(module.sts_matrix) in trainable) == ("sts_matrix" in given)
        assert id(module.components) not in trainable


@pytest.mark.usefixtures("verified_here")
@pytest.mark.slow
def test_the_command_applies_both_and_the_card_says_so(shared, tmp_path, capsys):
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"some words {n}\n" for n in range(20)))
    learned_on = '{"module": {"path": "runs/other", "fingerprint": "abc"}}'
    np.savez(tmp_path / "m.npz", matrix=np.eye(7), about=np.array(learned_on))
    asked = ["--model_dir", str(shared / "run"), "--output", str(tmp_path / "module")]
    removed = ["--remove_components", "1", "--component_texts", str(texts)]
    main([*asked, *removed, "--with_sts_matrix", str(tmp_path / "m.npz")])
    assert "learned on runs/other (fingerprint abc)" in capsys.readouterr().out
    about = identity.read(tmp_path / "module")
    assert about["components"] == {"count": 1, "texts": 20, "files": [str(texts)]}
    card = (tmp_path / "module" / "README.md").read_text()
    assert "1 principal component of the embeddings of 20 texts" in card
    assert "runs/other" in card
    module = tf.saved_model.load(str(tmp_path / "module"))
    plain = module.signatures["encode_input"](tf.constant(["some words"]))["outputs"].numpy()
    assert np.abs(module(tf.constant(["some words"])).numpy() - plain).max() > 1e-3
