"""What a team downstream does with a module, in a process that cannot import this project.

    python -I stranger.py MODULE            # TensorFlow alone
    python -I stranger.py MODULE SCRATCH    # the Hub's layer, tf_keras and Keras 3

The module is the tiny one of conftest.py: a DAN of 7 numbers, 8 tokens, both heads.
"""

import os
import resource
import warnings
from importlib.util import find_spec

warnings.simplefilter("ignore")  # other people's packages, while they are imported

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_text  # noqa: E402, F401

SENTENCES = ["two words", "", "word " * 100, "🎂 \x00 שלום"]
DIM, WORD_DIM, MAX_TOKENS = 7, 6, 8
SIGNATURES = {
    "serving_default": ({"inputs": [None]}, {"outputs": [None, DIM]}),
    "encode_input": ({"inputs": [None]}, {"outputs": [None, DIM]}),
    "encode_response": ({"inputs": [None]}, {"outputs": [None, DIM]}),
    "similarity": (
        {"sentences1": [None], "sentences2": [None]},
        {"angular": [None], "score": [None]},
    ),
    "rank_responses": ({"input": [1], "responses": [None]}, {"scores": [None]}),
    "word_vectors": ({"inputs": [None]}, {"outputs": [None, WORD_DIM]}),
    "classify_nli": ({"premise": [None], "hypothesis": [None]}, {"outputs": [None, 3]}),
}
MEGABYTE = 1 << 20


def check_nothing_of_ours_is_here():
    found = list(filter(find_spec, ("model", "export", "data_pipeline", "evaluation")))
    assert not found, f"{found} can be imported here: this proves nothing"


def check_rows(module):
    batch = [
        *SENTENCES,
        *[b"\x00", b"\x00\x00a\x00", b"\xff\xfe\xfd", b"caf\xe9", b"\xed\xa0\x80", b"\xf0\x9f"],
        *["👩‍👩‍👧", "מה שלומך", "كيف حالك", "\u202eabc", "\u0301", "\ufeff", "ﷺ", "", ""],
    ]
    rows = module(tf.constant(batch)).numpy()
    assert rows.shape == (len(batch), DIM)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    for text, row in zip(batch, rows, strict=True):
        np.testing.assert_allclose(module([text])[0], row, atol=1e-5)
    long = " ".join(f"word{number}" for number in range(10_000))
    found = module([*SENTENCES[::-1], long])[-2::-1]
    np.testing.assert_allclose(found, rows[: len(SENTENCES)], atol=1e-5)
    for empty in (["", "two words"], ["", ""], []):
        expected = rows[[1 if text == "" else 0 for text in empty]]
        np.testing.assert_allclose(module(tf.constant(empty, tf.string)), expected, atol=1e-5)


def check_truncation(module):
    words = [f"w{number}" for number in range(MAX_TOKENS + 1)]
    full = " ".join(words[:MAX_TOKENS])
    just, more, less = module([full, " ".join(words), " ".join(words[: MAX_TOKENS - 1])]).numpy()
    np.testing.assert_array_equal(just, more)
    assert np.abs(just - less).max() > 1e-4
    spread = full.replace(" ", " \n\t" * (MEGABYTE // 64))
    np.testing.assert_allclose(module([spread + " and more"])[0], just, atol=1e-5)
    (marks,) = module(["!" * MAX_TOKENS]).numpy()
    np.testing.assert_allclose(module(["!" * MEGABYTE])[0], marks, atol=1e-5)


def check_memory_is_bounded(module):
    shapes = ["a", "!", " ", "a ", "\x00", "ﷺ", "🎂", "'", b"\xff"]
    texts = [
        tf.constant([shape * (MEGABYTE // len(tf.compat.as_bytes(shape)))]) for shape in shapes
    ]
    before = peak()
    for text in texts:
        row = module(text).numpy()
        assert np.isfinite(row).all()
        assert row.shape == (1, DIM)
    batch = tf.concat(texts * 2, axis=0)
    assert np.isfinite(module(batch)).all()
    grown = peak() - before
    assert grown < 30 * len(texts) * MEGABYTE, f"{grown / MEGABYTE:.0f} MB for megabytes of text"


def peak():
    """Bytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def check_calls_leave_nothing_behind(module):
    signature = module.signatures["serving_default"]
    for size in range(1, 51):
        module(["some words"] * size)
    before = resident()
    for call in range(500):
        batch = tf.constant([f"word{call} word"] * (call % 50 + 1))
        module(batch, training=call % 2 == 0)
        signature(inputs=batch)
    assert module.__call__.experimental_get_tracing_count() == 1
    grown = resident() - before
    assert grown < 4 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB in 500 calls"


def resident():
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check_signatures(module):
    assert set(module.signatures) == set(SIGNATURES)
    for name, (inputs, outputs) in SIGNATURES.items():
        signature = module.signatures[name]
        taken = signature.structured_input_signature[1]
        assert {key: spec.shape.as_list() for key, spec in taken.items()} == inputs, name
        assert {spec.dtype for spec in taken.values()} == {tf.string}
        given = signature.structured_outputs
        assert {key: spec.shape.as_list() for key, spec in given.items()} == outputs, name
        assert {spec.dtype for spec in given.values()} == {tf.float32}


def check_what_signatures_say(module):
    def call(name, output="outputs", **texts):
        arguments = {key: tf.constant(value) for key, value in texts.items()}
        return module.signatures[name](**arguments)[output].numpy()

    rows = module(SENTENCES).numpy()
    np.testing.assert_allclose(call("serving_default", inputs=SENTENCES), rows, atol=1e-6)
    np.testing.assert_allclose(call("encode_input", inputs=SENTENCES), rows, atol=1e-6)
    responses = call("encode_response", inputs=SENTENCES)
    assert np.abs(responses - rows).max() > 1e-3
    scores = call("rank_responses", "scores", input=SENTENCES[:1], responses=SENTENCES)
    np.testing.assert_allclose(scores, responses @ rows[0], atol=1e-5)

    pair = {"sentences1": SENTENCES, "sentences2": SENTENCES[::-1]}
    cosines = np.clip((rows * rows[::-1]).sum(axis=1), -1, 1)
    angular = 1 - np.arccos(cosines) / np.pi
    np.testing.assert_allclose(call("similarity", "angular", **pair), angular, atol=1e-4)
    np.testing.assert_allclose(call("similarity", "score", **pair), 5 * angular, atol=5e-4)
    same = call("similarity", "score", sentences1=SENTENCES, sentences2=SENTENCES)
    np.testing.assert_allclose(same, 5, atol=5e-3)  # arccos is steep at 1

    nli = call("classify_nli", premise=SENTENCES, hypothesis=SENTENCES[::-1])
    np.testing.assert_allclose(nli.sum(axis=1), 1, atol=1e-6)
    one, two, both, none = call("word_vectors", inputs=["red", "fish", "Red fish", ""])
    np.testing.assert_allclose(both, (one + two) / 2, atol=1e-6)
    assert not none.any()
    assert np.abs(one - two).max() > 1e-3


def check_an_empty_batch(module):
    for name, signature in module.signatures.items():
        empty = {key: tf.constant([], tf.string) for key in SIGNATURES[name][0]}
        if name == "rank_responses":
            empty["input"] = tf.constant(["a"])
        for outputs in signature(**empty).values():
            assert outputs.shape[0] == 0


def check_parts(module):
    ids = module.preprocessor(tf.constant(SENTENCES))
    assert {name: some.dtype for name, some in ids.items()} == dict.fromkeys(ids, tf.int32)
    rows = module(SENTENCES)
    np.testing.assert_allclose(module.encoder(ids)["default"], rows, atol=1e-6)
    responses = module.signatures["encode_response"](inputs=tf.constant(SENTENCES))["outputs"]
    np.testing.assert_allclose(module.response_encoder(ids)["default"], responses, atol=1e-6)
    counts = {"preprocessor": 0, "encoder": 6, "response_encoder": 10}
    for name, count in counts.items():
        assert len(getattr(module, name).variables) == count, name
    assert len(module.variables) == len(module.trainable_variables) == 6
    assert len(module.regularization_losses) == 0

    batches = tf.data.Dataset.from_tensor_slices(SENTENCES).batch(3)
    some = [module.encoder(batch)["default"] for batch in batches.map(module.preprocessor)]
    for found in (some, list(batches.map(module, num_parallel_calls=2))):
        np.testing.assert_allclose(tf.concat(found, axis=0), rows, atol=1e-5)


def check_texts_that_do_not_fit_together_are_refused(module):
    def refused(name, says, **texts):
        arguments = {key: tf.constant(value, tf.string) for key, value in texts.items()}
        try:
            module.signatures[name](**arguments)
        except tf.errors.InvalidArgumentError as error:
            assert says in str(error), error
        else:
            raise AssertionError(f"{name} takes {texts}")

    for texts in (["a", "b"], [], "a bare string"):
        refused("rank_responses", "input", input=texts, responses=["c", "d"])
    for first, second in ((1, 2), (2, 1), (0, 1)):
        one, two = ["a"] * first, ["b"] * second
        refused("similarity", "as many sentences1", sentences1=one, sentences2=two)
        refused("classify_nli", "as many premise", premise=one, hypothesis=two)
    for name in ("serving_default", "encode_input", "encode_response", "word_vectors"):
        for texts in ("a bare string", [["a", "table"]]):
            refused(name, "inputs", inputs=texts)
    for part in (module, module.preprocessor):
        try:
            part("a bare string")
        except TypeError as error:
            assert "shape=()" in str(error), error
        else:
            raise AssertionError(f"{part} takes a bare string")


def check_rows_of_padding_keep_their_place(module):
    ids = module.preprocessor(tf.constant(["two words", "one"]))
    filled = {name: tf.pad(some, [[1, 2], [0, 1]]) for name, some in ids.items()}
    for part in (module.encoder, module.response_encoder):
        rows = part(filled)["default"].numpy()
        assert rows.shape == (5, DIM)
        np.testing.assert_allclose(rows[1:3], part(ids)["default"], atol=1e-6)
        np.testing.assert_array_equal(rows[[0, 3]], rows[[4, 4]])


def check_gradients(module):
    def reach(part, call):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(call()[:, 0])
        gradients = tape.gradient(loss, list(part.trainable_variables))
        assert len(gradients) >= 6
        for variable, gradient in zip(part.trainable_variables, gradients, strict=True):
            assert gradient is not None, variable.name
            assert np.abs(tf.convert_to_tensor(gradient)).max() > 0, variable.name

    words = tf.constant(["two more words", "another one"])
    ids = module.preprocessor(words)
    for training in (False, True):
        reach(module, lambda: module(words, training=training))  # noqa: B023
        for part in (module.encoder, module.response_encoder):
            reach(part, lambda: part(ids, training=training)["default"])  # noqa: B023


def check_dropout(module):
    batch = tf.constant(["a b c d"] * 8)
    rows = module(batch).numpy()
    np.testing.assert_array_equal(module(batch, training=False), rows)
    first, second = module(batch, training=True).numpy(), module(batch, training=True).numpy()
    assert np.abs(first - rows).max() > 1e-3
    assert np.abs(first - second).max() > 1e-3
    np.testing.assert_array_equal(module(batch), rows)


def check_the_c_api_can_run_it(path):
    """Its view: a graph, feeds and fetches; no Python function and no Keras layer in it."""
    from tensorflow.core.protobuf import saved_model_pb2

    with open(f"{path}/saved_model.pb", "rb") as file:  # noqa: PTH123
        (graph,) = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs
    nodes = [graph.graph_def.node, *(f.node_def for f in graph.graph_def.library.function)]
    assert not {node.op for some in nodes for node in some if "Py" in node.op}
    kinds = {node.user_object.identifier for node in graph.object_graph_def.nodes}
    assert not {kind for kind in kinds if "keras" in kind}

    expected = tf.saved_model.load(path)(SENTENCES).numpy()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        names = signature.inputs["inputs"].name, signature.outputs["outputs"].name
        run = tf.compat.v1.RunMetadata()
        options = tf.compat.v1.RunOptions(output_partition_graphs=True)
        feeds = {names[0]: SENTENCES}
        rows = session.run(names[1], feeds, options=options, run_metadata=run)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    # What really runs sums out of the tables where they lie, and says that they be not copied, as
    # they else would be, whole, at every call from the first time that rows of them were read or
    # trained alone.
    nodes = {node.name: node for graph in run.partition_graphs for node in graph.node}
    sums = [node for node in nodes.values() if node.op.startswith("SparseSegment")]
    assert sums
    assert {source_of(nodes, node.input[0]) for node in sums} == {"ReadVariableOp"}
    assert "DisableCopyOnRead" in {node.op for node in nodes.values()}


def source_of(nodes, name):
    """The kind of node that a tensor comes from."""
    node = nodes[name.split(":")[0]]
    return source_of(nodes, node.input[0]) if node.op == "Identity" else node.op


def use_other_libraries(path, scratch):
    """A layer is frozen and trained on two replicas, saved and loaded; Keras 3 calls the module."""
    (cpu,) = tf.config.list_physical_devices("CPU")  # before anything is made on it
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    import keras
    import tensorflow_hub as hub
    import tf_keras

    texts, rows = tf.constant(SENTENCES), hub.load(path)(SENTENCES).numpy()
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    targets = (["a b c", "d e", "f g h i", "j"], [[1.0], [0.0], [1.0], [0.0]])
    data = tf.data.Dataset.from_tensor_slices(targets).batch(4)
    for trainable in (False, True):
        with strategy.scope():
            layer = hub.KerasLayer(path, input_shape=[], dtype=tf.string, trainable=trainable)
            model = tf_keras.Sequential([layer, tf_keras.layers.Dense(1)])
            model.compile(tf_keras.optimizers.SGD(0.1), "mse")
        np.testing.assert_allclose(layer(texts), rows, atol=1e-6)
        assert len(layer.trainable_variables) == 6 * trainable  # two tables, two dense layers
        before = [variable.numpy() for variable in layer.variables]
        model.fit(data, epochs=3, verbose=0)
        assert model.optimizer.iterations.numpy() == 3
        for old, new in zip(before, layer.variables, strict=True):
            first, second = strategy.experimental_local_results(new)
            np.testing.assert_array_equal(first, second)
            assert np.array_equal(old, first) != trainable, new.name
    expected = model.predict(texts, verbose=0)
    model.save(f"{scratch}/trained", save_format="tf")
    again = tf_keras.models.load_model(f"{scratch}/trained")
    np.testing.assert_allclose(again.predict(texts, verbose=0), expected, atol=1e-6)
    again.fit(data, verbose=0)

    inputs = keras.Input([], dtype="string")
    layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")
    found = keras.Model(inputs, layer(inputs))(texts)["outputs"]
    np.testing.assert_allclose(found, rows, atol=1e-6)


def main(path, scratch=None):
    check_nothing_of_ours_is_here()
    if scratch:
        use_other_libraries(path, scratch)
    else:
        module = tf.saved_model.load(path)
        for name, check in list(globals().items()):
            if name.startswith("check_") and check.__code__.co_varnames[:1] == ("module",):
                check(module)
        check_the_c_api_can_run_it(path)
    print("all is well")


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
