"""The hub module: what strangers can do with it, and when it is not written."""

import doctest
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

import export as package
from export.__main__ import main
from export.module.hub_module import HubModule
from export.saved_model import verify, write
from model.checkpoints import trained
from model.configs.schema import ResponseSelection
from model.layers import nli_head
from tests.export.conftest import RECURRENT, TRANSFORMER, ask

REPOSITORY = Path(__file__).parents[2]
ALWAYS = {"serving_default", "encode_input", "similarity", "word_vectors"}


def export(model_dir, output):
    main(["--model_dir", str(model_dir), "--output", str(output)])


def fails(model_dir, output):
    with pytest.raises(SystemExit) as raised:
        export(model_dir, output)
    return str(raised.value.code)


def test_a_stranger_can_use_it(shared, tmp_path):
    ask("stranger.py", shared / "module", cwd=tmp_path)


@pytest.mark.slow
def test_other_libraries_can_use_it(shared, tmp_path):
    ask("stranger.py", shared / "module", tmp_path, cwd=tmp_path)


def test_signatures_are_those_of_the_documents():
    page = (REPOSITORY / "docs" / "modules.md").read_text()
    rows = page.partition("## Signatures")[2].partition("\n## ")[0].splitlines()
    for name, signature in package.SIGNATURES.items():
        (row,) = (row for row in rows if row.startswith("|") and f"`{name}`" in row)
        for tensors, cell in zip(signature[:2], row.split("|")[2:4], strict=True):
            for argument, tensor in tensors.items():
                assert f"`{argument}`" in cell and str(tensor) in cell


def test_warm_up_requests_run_against_the_signatures(shared):
    module = tf.saved_model.load(str(shared / "module"))
    path = shared / "module" / "assets.extra" / "tf_serving_warmup_requests"
    names, sizes, lengths = set(), set(), set()
    for record in tf.data.TFRecordDataset(str(path)):
        asked = PredictionLog.FromString(record.numpy()).predict_log.request
        texts = {name: tf.constant(tf.make_ndarray(value)) for name, value in asked.inputs.items()}
        names.add(asked.model_spec.signature_name)
        for outputs in module.signatures[asked.model_spec.signature_name](**texts).values():
            assert np.isfinite(outputs).all()
        for values in texts.values():
            sizes.add(len(values))
            lengths |= {len(text.split()) for text in values.numpy()}
    assert names == set(module.signatures)
    assert sizes == {1, 8, 64}
    assert len(lengths) > 3


@pytest.mark.usefixtures("verified_here")
@pytest.mark.slow
@pytest.mark.parametrize("encoder", [TRANSFORMER, RECURRENT])
def test_a_sequence_encoder_gives_its_sequence(write_model_dir, tmp_path, encoder):
    export(write_model_dir(encoder=encoder), tmp_path / "module")
    module = tf.saved_model.load(str(tmp_path / "module"))
    sentences = tf.constant(["dog bites man", "man bites", "", "man bites dog"])
    rows = module(sentences).numpy()
    assert rows.shape == (4, 7)
    assert np.abs(rows[0] - rows[3]).max() > 1e-3
    np.testing.assert_array_equal(module(sentences), rows)
    assert np.abs(module(sentences, training=True) - rows).max() > 1e-3
    assert module.__call__.experimental_get_tracing_count() == 1
    for text, row in zip(sentences, rows, strict=True):
        np.testing.assert_allclose(module([text])[0], row, atol=1e-5)

    found = module.encoder(module.preprocessor(sentences))
    assert set(found) == {"default", "sequence_output", "mask"}
    np.testing.assert_allclose(found["default"], rows, atol=1e-6)
    assert found["sequence_output"].shape == (4, 4, 8)
    # Each ends in a mark of its own.
    expected = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]]
    np.testing.assert_array_equal(found["mask"], np.array(expected, bool))


def test_it_says_what_the_model_says(shared):
    model, text = trained.load(shared / "run")
    module = tf.saved_model.load(str(shared / "module"))
    one, two = tf.constant(["some words", "a b", ""]), tf.constant(["other words", "b", "c d"])
    ids = text(one)
    nli = nli_head.probabilities(model.compare(ids, text(two)).logits)
    np.testing.assert_allclose(module(one), model.encode_inputs(ids), atol=1e-6)
    for name, arguments, expected in (
        ("encode_response", {"inputs": one}, model.encode_responses(ids)),
        ("classify_nli", {"premise": one, "hypothesis": two}, nli),
    ):
        found = module.signatures[name](**arguments)["outputs"]
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.slow
def test_what_does_not_verify_leaves_the_old_module(shared, tmp_path, monkeypatch):
    output = shutil.copytree(shared / "module", tmp_path / "module")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    broken = tmp_path / "verify.py"
    broken.write_text("import sys; sys.exit('ValueError: serving_default differs by 3')")
    monkeypatch.setattr(write.verify, "__file__", str(broken))
    assert "serving_default differs by 3" in fails(shared / "run", output)
    broken.unlink()
    found = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert found == before


def test_verifying_notices_a_difference(shared, tmp_path):
    path = str(shared / "module")
    module = tf.saved_model.load(path)
    probes = tf.constant(verify.PROBES)
    responses = module.signatures["encode_response"](inputs=probes)["outputs"].numpy()
    feeds = np.array(json.dumps({"encode_response": {"inputs": verify.PROBES}}))
    for name, wrong in (("right", 0), ("wrong", 1e-3)):
        found = {"call": module(probes), "encode_response/outputs": responses + wrong}
        np.savez(tmp_path / name, feeds=feeds, **found)
    measured = verify.check(path, str(tmp_path / "right.npz"))
    assert set(measured["batches"]) == {"1", "32", "256"}
    with pytest.raises(ValueError, match="encode_response, outputs differs by"):
        verify.check(path, str(tmp_path / "wrong.npz"))


@pytest.mark.parametrize("wrong", ["folder", "output", "parameters", "checkpoint", "vocabulary"])
def test_what_cannot_be_exported_leaves_the_output_as_it_was(
    write_model_dir, write_vocabulary, tmp_path, wrong
):
    model_dir, output = tmp_path / "run", tmp_path / "module"
    if wrong == "checkpoint":
        params = ResponseSelection().model.as_dict()
        params["text"] |= {"word_buckets": 500, "bigram_buckets": 500}
        write_model_dir(params_model=params)
    elif wrong == "vocabulary":
        vocabulary = write_vocabulary({"</s>": 2})
        write_model_dir(text={"max_tokens": 8, "vocabulary": vocabulary})
        shutil.rmtree(vocabulary)
    elif wrong == "parameters":
        (write_model_dir() / "params.yaml").write_text("learning_rate: 3\n")
    elif wrong == "output":
        output.mkdir()
        (output / "saved_model.pb").write_text("of another program")
    before = sorted(tmp_path.rglob("*"))
    named = {"output": output, "vocabulary": tmp_path / "vocabulary"}.get(wrong, model_dir)
    assert str(named) in fails(model_dir, output)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("head", "signatures"),
    [
        ("teacher", set()),
        ("nli", {"classify_nli"}),
        ("response_selection", {"encode_response", "rank_responses"}),
    ],
)
def test_a_module_has_signatures_for_what_it_was_trained_for(write_model_dir, head, signatures):
    module = HubModule(*trained.load(write_model_dir(heads=[head])))
    assert set(module.heads) == ALWAYS | signatures
    np.testing.assert_allclose(np.linalg.norm(module(["a", "b c"]), axis=1), 1, rtol=1e-5)


@pytest.mark.usefixtures("verified_here")
@pytest.mark.slow
def test_inputs_are_encoded_in_their_context_if_the_model_reads_it(write_model_dir, tmp_path):
    model_dir = write_model_dir(context_turns=2)
    export(model_dir, tmp_path / "module")
    module = tf.saved_model.load(str(tmp_path / "module"))
    assert set(module.signatures) - ALWAYS == {
        "encode_response",
        "rank_responses",
        "encode_input_in_context",
    }
    assert len(module.context_network.variables) == 3
    model, _ = trained.load(model_dir)
    inputs, context = tf.constant(["yes", "yes"]), tf.constant(["", "Are you well?"])
    alone = model.encode_inputs(inputs)
    encode = module.signatures["encode_input_in_context"]
    found = encode(inputs=inputs, context=context)["outputs"]
    expected = model({"input": inputs, "response": inputs, "context": context}).inputs
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(found[0], alone[0], atol=1e-6)
    assert np.abs(found[1] - alone[1]).max() > 0.01
    np.testing.assert_allclose(module(inputs), alone, atol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many inputs as context"):
        encode(inputs=inputs, context=context[:1])


@pytest.mark.slow
def test_the_examples_of_the_package_run(shared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(shared / "run", tmp_path / "run")
    (tmp_path / "replies.txt").write_text("I am 20\nno\n")
    failed, attempted = doctest.testmod(package)
    assert (failed, attempted > 0) == (0, True)


def test_every_public_name_is_there(tmp_path):
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    with pytest.raises(ValueError, match="int16"):
        package.export(tmp_path / "run", tmp_path / "module", variant="int16")
