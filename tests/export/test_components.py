"""Principal components that a module's embeddings lose."""

import json

import numpy as np
import pytest
import tensorflow as tf

from data_pipeline.pairs.tfrecord import encode_example, frame
from export.__main__ import main
from export.card import identity
from export.module import components
from export.module.hub_module import HubModule
from model.checkpoints import trained
from model.errors import InputError

VECTORS = {
    b"a": [1.0, 0.0, 0.0],
    b"b": [0.8, 0.6, 0.0],
    b"c": [0.8, -0.6, 0.0],
    b"d": [0.0, 0.0, 1.0],
}


def encode(sentences):
    return tf.constant([VECTORS[sentence] for sentence in sentences.numpy()])


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("a\n\nb\nc\nb\nc\nd\n")
    return path


def test_the_first_components_are_those_of_the_second_moment(texts):
    """The sum of v v' is diag(1 + 4 * 0.64, 4 * 0.36, 1)."""
    found, about = components.learn(encode, [texts], count=2, dim=3)
    np.testing.assert_allclose(np.abs(found), [[1, 0], [0, 1], [0, 0]], atol=1e-6)
    assert about == {"count": 2, "texts": 6, "files": [str(texts)]}


@pytest.mark.parametrize("count", [-1, 0, 3])
def test_a_number_of_components_that_cannot_be_is_named(texts, count):
    with pytest.raises(InputError, match=rf"--remove_components: {count}; accepted: .* 1 to 2"):
        components.learn(encode, [texts], count=count, dim=3)


def test_too_few_texts_are_named(tmp_path):
    (tmp_path / "few.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"few\.txt: 2 texts for 2 components; accepted: more"):
        components.learn(encode, [tmp_path / "few.txt"], count=2, dim=3)
    with pytest.raises(InputError, match=r"'no\*\.txt' matches no file"):
        components.learn(encode, ["no*.txt"], count=1, dim=3)


def test_too_few_texts_that_differ_are_named(tmp_path):
    (tmp_path / "few.txt").write_text("a\nb\n" * 9)
    components.learn(encode, [tmp_path / "few.txt"], count=1, dim=3)
    with pytest.raises(InputError, match=r"of 18 texts have no more than 2 components, and noth"):
        components.learn(encode, [tmp_path / "few.txt"], count=2, dim=3)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("pairs.parquet", b"a\nb\nc\n", "does not say by its name how to read it; accepted"),
        ("train.jsonl.gz", b"a\nb\nc\n", "does not say by its name how to read it; accepted"),
        ("latin.txt", "a\ncaf\xe9\n".encode("latin-1"), "line 2: .* can't decode"),
        ("other.tfrecord", frame(encode_example({"word": "a"})), "cannot be read: .*response"),
    ],
)
def test_what_is_no_text_is_named(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^'{path}',? {says}") as raised:
        components.learn(encode, [path], count=1, dim=3)
    assert "{{" not in str(raised.value)


@pytest.mark.slow
def test_a_module_without_its_first_component(shared):
    model, text = trained.load(shared / "run")
    direction = np.eye(7, 1, dtype=np.float32)
    matrix = np.random.default_rng(0).normal(size=(7, 7)).astype(np.float32)
    sentences = tf.constant(["a b c", "", "d"])
    u = model.encode_inputs(text(sentences)).numpy()
    module = HubModule(model, text, components=direction)
    rest = u * (np.arange(7) > 0)
    expected = rest / np.linalg.norm(rest, axis=1, keepdims=True)
    np.testing.assert_allclose(module(sentences), expected, atol=1e-5)
    np.testing.assert_allclose(module.heads["encode_input"](sentences)["outputs"], u, atol=1e-5)
    plain = HubModule(model, text)
    for ours, theirs in zip(
        *(
            one.heads["rank_responses"](sentences[:1], sentences).values()
            for one in (module, plain)
        ),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert not any(weight is module.components for weight in module.trainable_variables)
    # The matrix was learned of embeddings without the component.
    both = HubModule(model, text, components=direction, sts_matrix=matrix)
    expected = rest @ matrix
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(both(sentences), expected, atol=1e-5)


@pytest.mark.usefixtures("verified_here")
@pytest.mark.slow
def test_the_command_removes_them_and_the_card_says_so(shared, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"some words {n}\n" for n in range(20)))
    asked = ["--model_dir", str(shared / "run"), "--output", str(tmp_path / "module")]
    main([*asked, "--remove_components", "1", "--component_texts", str(texts)])
    about = identity.read(tmp_path / "module")
    assert about["components"] == {"count": 1, "texts": 20, "files": [str(texts)]}
    card = (tmp_path / "module" / "README.md").read_text()
    assert "| components removed | 1 principal component of the embeddings of 20 texts" in card
    module = tf.saved_model.load(str(tmp_path / "module"))
    plain = module.signatures["encode_input"](tf.constant(["some words"]))["outputs"].numpy()
    assert np.abs(module(tf.constant(["some words"])).numpy() - plain).max() > 1e-3
    assert json.loads((tmp_path / "module/assets.extra/identity.json").read_text()) == about


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--remove_components", "1"], "--remove_components: 1 without texts; accepted: with"),
        (["--component_texts", "t.txt"], "--remove_components: 0; accepted: whole numbers from 1"),
    ],
)
def test_one_option_without_the_other_is_refused(shared, tmp_path, options, message):
    with pytest.raises(SystemExit) as raised:
        main(["--model_dir", str(shared / "run"), "--output", str(tmp_path / "module"), *options])
    assert message in str(raised.value.code)
    assert not (tmp_path / "module").exists()
