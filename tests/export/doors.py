"""The doors of other libraries into a module, in a process that cannot import this project.

python -I doors.py MODULE SCRATCH
"""

import sys
import warnings

warnings.simplefilter("ignore")  # other people's packages, while they are imported

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_hub as hub  # noqa: E402
import tensorflow_text  # noqa: E402, F401
import tf_keras  # noqa: E402

# Before anything is made on it.
(CPU,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 2)

SENTENCES = tf.constant(["two words", "", "word " * 100, "🎂 \x00 שלום"])
TEXTS = tf.constant(["a b c", "d e", "f g h i", "j"])
TARGETS = tf.constant([[1.0], [0.0], [1.0], [0.0]])


def check_hub_load(path, rows):
    np.testing.assert_allclose(hub.load(path)(SENTENCES), rows, atol=1e-6)


def check_frozen_layer(path, rows):
    layer = hub.KerasLayer(path, input_shape=[], dtype=tf.string)
    model = tf_keras.Sequential([layer, tf_keras.layers.Dense(1)])
    assert not layer.trainable_variables
    before = [variable.numpy() for variable in layer.variables]
    train(model)
    for old, new in zip(before, layer.variables, strict=True):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_allclose(layer(SENTENCES), rows, atol=1e-6)


def check_trained_layer(path, rows, scratch):
    layer = hub.KerasLayer(path, input_shape=[], dtype=tf.string, trainable=True)
    model = tf_keras.Sequential([layer, tf_keras.layers.Dense(1)])
    np.testing.assert_allclose(layer(SENTENCES), rows, atol=1e-6)
    before = [variable.numpy() for variable in layer.trainable_variables]
    assert len(before) == 6  # two tables, two dense layers
    train(model)
    for old, new in zip(before, layer.trainable_variables, strict=True):
        assert np.abs(old - new.numpy()).max() > 0, new.name
    expected = model.predict(SENTENCES, verbose=0)
    model.save(f"{scratch}/trained", save_format="tf")
    again = tf_keras.models.load_model(f"{scratch}/trained")
    np.testing.assert_allclose(again.predict(SENTENCES, verbose=0), expected, atol=1e-6)
    train(again)


def train(model):
    model.compile(tf_keras.optimizers.SGD(0.1), "mse")
    model.fit(TEXTS, TARGETS, epochs=3, batch_size=2, verbose=0)


def check_keras_3(path, rows):
    layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")
    np.testing.assert_allclose(layer(SENTENCES)["outputs"], rows, atol=1e-6)
    inputs = keras.Input([], dtype="string")
    model = keras.Model(inputs, layer(inputs))
    np.testing.assert_allclose(model(SENTENCES)["outputs"], rows, atol=1e-6)


def check_in_a_pipeline(path, rows):
    module = tf.saved_model.load(path)
    batches = tf.data.Dataset.from_tensor_slices(SENTENCES).batch(2)
    found = list(batches.map(module, num_parallel_calls=2))
    np.testing.assert_allclose(tf.concat(found, axis=0), rows, atol=1e-5)


def check_two_replicas(path):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    assert strategy.num_replicas_in_sync == 2
    with strategy.scope():
        layer = hub.KerasLayer(path, input_shape=[], dtype=tf.string, trainable=True)
        model = tf_keras.Sequential([layer, tf_keras.layers.Dense(1)])
        model.compile(tf_keras.optimizers.SGD(0.1), "mse")
    before = [variable.numpy() for variable in model.trainable_variables]
    batch = tf.data.Dataset.from_tensor_slices((TEXTS, TARGETS)).batch(4)
    model.fit(batch, epochs=1, verbose=0)
    assert model.optimizer.iterations.numpy() == 1
    for old, new in zip(before, model.trainable_variables, strict=True):
        assert np.abs(old - new.numpy()).max() > 0, new.name
        first, second = strategy.experimental_local_results(new)
        np.testing.assert_array_equal(first, second)


def main(path, scratch):
    rows = tf.saved_model.load(path)(SENTENCES).numpy()
    check_hub_load(path, rows)
    check_frozen_layer(path, rows)
    check_trained_layer(path, rows, scratch)
    check_keras_3(path, rows)
    check_in_a_pipeline(path, rows)
    check_two_replicas(path)
    print("all is well")


if __name__ == "__main__":
    main(*sys.argv[1:])
