"""What a team downstream does with a module, in a process that cannot import this project."""

import sys
import warnings

warnings.simplefilter("ignore")  # other people's packages, while they are imported

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_hub as hub  # noqa: E402
import tensorflow_text  # noqa: E402, F401
import tf_keras  # noqa: E402

SENTENCES = ["two words", "", "word " * 100, "🎂 \x00 שלום"]


def main(path):
    for name in ("model", "export", "data_pipeline"):
        try:
            __import__(name)
        except ImportError:
            continue
        raise AssertionError(f"{name} can be imported here: this proves nothing")
    module = tf.saved_model.load(path)
    rows = check_rows(module)
    check_signatures(module, rows)
    np.testing.assert_allclose(hub.load(path)(SENTENCES), rows, atol=1e-6)
    check_keras(path, rows)
    check_parts(module)
    print("all is well")


def check_rows(module):
    rows = module(SENTENCES).numpy()
    assert rows.shape == (4, 7), rows.shape
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    for sentence, row in zip(SENTENCES, rows, strict=True):
        np.testing.assert_allclose(module([sentence])[0], row, atol=1e-5)
    np.testing.assert_allclose(module(SENTENCES[::-1])[::-1], rows, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert module(tf.constant([], tf.string)).shape == (0, 7)
    assert np.abs(module(["a b c d"] * 2, training=True) - module(["a b c d"] * 2)).max() > 1e-3
    return rows


def check_signatures(module, rows):
    assert set(module.signatures) == {"serving_default", "encode_response"}
    for name, signature in module.signatures.items():
        outputs = signature(inputs=tf.constant(SENTENCES))
        assert set(outputs) == {"outputs"}
        same = np.abs(outputs["outputs"] - rows).max() < 1e-5
        assert same == (name == "serving_default"), name
        assert signature.structured_outputs["outputs"].shape.as_list() == [None, 7]


def check_keras(path, rows):
    layer = hub.KerasLayer(path, input_shape=[], dtype=tf.string, trainable=True)
    model = tf_keras.Sequential([layer, tf_keras.layers.Dense(1)])
    np.testing.assert_allclose(layer(tf.constant(SENTENCES)), rows, atol=1e-6)
    model.compile("sgd", "mse")
    before = [variable.numpy() for variable in layer.trainable_variables]
    assert len(before) == 6  # two tables, two dense layers
    model.fit(tf.constant(["a b c", "d e"]), tf.constant([[1.0], [0.0]]), epochs=3, verbose=0)
    for old, new in zip(before, layer.trainable_variables, strict=True):
        assert np.abs(old - new.numpy()).max() > 0, new.name


def check_parts(module):
    assert len(module.variables) == len(module.trainable_variables) == 6
    assert len(module.regularization_losses) == 0
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(module(["two words"])[:, 0])
    gradients = tape.gradient(loss, list(module.trainable_variables))
    assert all(gradient is not None for gradient in gradients)


if __name__ == "__main__":
    main(*sys.argv[1:])
