"""The hub module: what strangers can do with it, and when it is not written."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from export import checkpoint, verify, write
from export.__main__ import main
from model.configs import ResponseSelection

STRANGER = Path(__file__).with_name("stranger.py")


def export(model_dir, output):
    main(["--model_dir", str(model_dir), "--output", str(output)])


def fails(model_dir, output):
    with pytest.raises(SystemExit) as raised:
        export(model_dir, output)
    message = str(raised.value.code)
    assert message.startswith("error: ")
    return message


def contents(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def test_a_stranger_can_use_it(write_model_dir, tmp_path, capsys):
    export(write_model_dir(), tmp_path / "module")
    assert "verified in a fresh process" in capsys.readouterr().out
    done = subprocess.run(
        [sys.executable, "-I", str(STRANGER), str(tmp_path / "module")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
    )
    assert "all is well" in done.stdout, done.stderr


def test_a_transformer_is_exported_too(write_model_dir, tmp_path):
    sizes = {"layers": 2, "heads": 2, "hidden": 8, "filter": 16, "embedding_dim": 7}
    encoder = {"type": "transformer", "transformer": sizes | {"dropout": 0.5}}
    export(write_model_dir(encoder=encoder), tmp_path / "module")
    module = tf.saved_model.load(str(tmp_path / "module"))
    sentences = ["dog bites man", "man bites dog"]
    rows = module(sentences).numpy()
    assert rows.shape == (2, 7)
    assert np.abs(rows[0] - rows[1]).max() > 1e-3
    np.testing.assert_array_equal(module(sentences), rows)
    assert np.abs(module(sentences, training=True) - rows).max() > 1e-3


def test_it_says_what_the_model_says(write_model_dir, tmp_path):
    from export import checkpoint

    model_dir = write_model_dir()
    export(model_dir, tmp_path / "module")
    model, text = checkpoint.load(model_dir)
    module = tf.saved_model.load(str(tmp_path / "module"))
    sentences = tf.constant(["some words", "other words of this"])
    np.testing.assert_allclose(module(sentences), model.encode_inputs(text(sentences)), atol=1e-6)
    np.testing.assert_allclose(
        module.signatures["encode_response"](inputs=sentences)["outputs"],
        model.encode_responses(text(sentences)),
        atol=1e-6,
    )


def test_the_configuration_travels_inside(write_model_dir, tmp_path):
    model_dir = write_model_dir()
    export(model_dir, tmp_path / "module")
    inside = tmp_path / "module" / "assets.extra" / "params.yaml"
    assert inside.read_text() == (model_dir / "params.yaml").read_text()


def test_a_module_is_replaced_whole(write_model_dir, tmp_path):
    output = tmp_path / "module"
    export(write_model_dir(), output)
    (output / "left over").write_text("of the old module")
    export(tmp_path / "run", output)
    assert not (output / "left over").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"run", "module"}


def test_what_does_not_verify_leaves_the_old_module(write_model_dir, tmp_path, monkeypatch):
    output = tmp_path / "module"
    export(write_model_dir(), output)
    before = contents(output)
    fingerprint = (output / "fingerprint.pb").read_bytes()

    broken = tmp_path / "verify.py"
    broken.write_text("import sys; sys.exit('ValueError: serving_default differs by 3')")
    monkeypatch.setattr(write.verify, "__file__", str(broken))
    assert "serving_default differs by 3" in fails(tmp_path / "run", output)
    assert contents(output) == before
    assert (output / "fingerprint.pb").read_bytes() == fingerprint
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".module")]


def test_verifying_notices_a_difference(write_model_dir, tmp_path):
    export(write_model_dir(), tmp_path / "module")
    module = tf.saved_model.load(str(tmp_path / "module"))
    rows = module(tf.constant(verify.PROBES)).numpy()
    responses = module.signatures["encode_response"](inputs=tf.constant(verify.PROBES))["outputs"]
    right, wrong = tmp_path / "right.npz", tmp_path / "wrong.npz"
    np.savez(right, __call__=rows, encode_response=responses)
    np.savez(wrong, __call__=rows, encode_response=responses + 1e-3)
    verify.check(str(tmp_path / "module"), str(right))
    with pytest.raises(ValueError, match="encode_response differs by"):
        verify.check(str(tmp_path / "module"), str(wrong))


def test_folders_that_are_not_what_they_should_be(write_model_dir, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no checkpoint with its params.yaml" in fails(empty, tmp_path / "module")
    assert "holds no checkpoint" in fails(tmp_path / "nowhere", tmp_path / "module")

    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.txt").write_text("years of work")
    assert "exists and is no module" in fails(write_model_dir(), home)
    assert (home / "thesis.txt").exists()

    (tmp_path / "file").write_text("")
    assert "cannot be written" in fails(tmp_path / "run", tmp_path / "file" / "module")


def test_parameters_of_another_program_are_refused(write_model_dir, tmp_path):
    model_dir = write_model_dir()
    (model_dir / "params.yaml").write_text("learning_rate: 3\n")
    assert "is not the params.yaml of this project's training" in fails(model_dir, tmp_path / "m")


def test_a_link_to_a_module_stays_a_link(write_model_dir, tmp_path):
    export(write_model_dir(), tmp_path / "module")
    (tmp_path / "latest").symlink_to("module")
    before = (tmp_path / "module" / "fingerprint.pb").stat().st_ino
    export(tmp_path / "run", tmp_path / "latest")
    assert (tmp_path / "latest").is_symlink()
    assert (tmp_path / "module" / "fingerprint.pb").stat().st_ino != before


def test_a_checkpoint_of_another_configuration_is_refused(write_model_dir, tmp_path):
    params = ResponseSelection().model.as_dict()
    model_dir = write_model_dir("other", params_model=params)
    assert "does not fit the model of its params.yaml" in fails(model_dir, tmp_path / "module")
    assert not (tmp_path / "module").exists()


@pytest.mark.parametrize(
    ("heads", "signatures"),
    [
        (["inference"], {"serving_default", "classify_nli"}),
        (
            ["response_selection", "inference"],
            {"serving_default", "encode_response", "classify_nli"},
        ),
    ],
)
def test_a_module_has_signatures_for_what_it_was_trained_for(
    write_model_dir, tmp_path, heads, signatures
):
    model_dir = write_model_dir(heads=heads)
    export(model_dir, tmp_path / "module")
    module = tf.saved_model.load(str(tmp_path / "module"))
    assert set(module.signatures) == signatures
    pair = {"premise": tf.constant(["a b", ""]), "hypothesis": tf.constant(["b", "c d"])}
    found = module.signatures["classify_nli"](**pair)["outputs"].numpy()
    model, text = checkpoint.load(model_dir)
    logits = model.classify(text(pair["premise"]), text(pair["hypothesis"]))
    np.testing.assert_allclose(found, tf.nn.softmax(logits), atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), [1, 1], atol=1e-6)
