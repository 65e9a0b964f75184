"""As TensorFlow Serving and TensorFlow Lite see it."""

import numpy as np
import pytest
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from export.__main__ import main
from export.module import lite, warm_up
from model.checkpoints import trained
from model.text.preprocessing import TextToIds

SENTENCES = ["two words", "", "word " * 100, "🎂 \x00 שלום"]


def test_warm_up_requests_run_against_the_signatures(shared):
    module = tf.saved_model.load(str(shared / "module"))
    requests = list(warm_up.read(shared / "module" / "assets.extra" / warm_up.FILE))
    assert {name for name, _ in requests} == set(module.signatures)
    sizes, lengths = set(), set()
    for name, arguments in requests:
        taken = module.signatures[name].structured_input_signature[1]
        assert set(arguments) == set(taken)
        for outputs in module.signatures[name](**arguments).values():
            assert np.isfinite(outputs).all()
        for values in arguments.values():
            sizes.add(len(values))
            lengths |= {len(text.split()) for text in values.numpy()}
    assert sizes == {1, 8, 64}
    assert len(lengths) > 3


def test_a_request_has_the_bytes_that_the_server_reads():
    # Field numbers of tensorflow_serving/apis: predict_log 6; request 1; model_spec 1, inputs 2;
    # name 1, signature_name 3; of a map's entry key 1, value 2.
    log = warm_up.request("serving_default", 1)
    spec = b"\x0a\x06module\x1a\x0fserving_default"
    tensor = tf.make_tensor_proto([""], tf.string).SerializeToString()
    entry = b"\x0a\x06inputs" + b"\x12" + bytes([len(tensor)]) + tensor
    request = b"\x0a" + bytes([len(spec)]) + spec + b"\x12" + bytes([len(entry)]) + entry
    predict = b"\x0a" + bytes([len(request)]) + request
    assert log.SerializeToString() == b"\x32" + bytes([len(predict)]) + predict


def test_tensorflow_lite_says_what_the_encoder_says(shared, tmp_path):
    path = tmp_path / "encoder.tflite"
    main(["tflite", "--model_dir", str(shared / "run"), "--output", str(path)])
    module = tf.saved_model.load(str(shared / "module"))
    encode = Interpreter(str(path)).get_signature_runner(lite.SIGNATURE)
    for batch in (SENTENCES, SENTENCES[:1], SENTENCES[1:3]):
        ids = module.preprocessor(tf.constant(batch))
        found = encode(**{name: some.numpy() for name, some in ids.items()})["outputs"]
        np.testing.assert_allclose(found, module(batch), atol=1e-5)
    assert [file.name for file in tmp_path.iterdir()] == ["encoder.tflite"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
def test_text_handling_does_not_run_in_tensorflow_lite():
    """When this fails the whole module can be had, and lite.py should say so."""
    text = TextToIds()
    root = tf.train.Checkpoint(text=text)
    root.run = tf.function(text.__call__, [tf.TensorSpec([None], tf.string)])
    function = root.run.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], root)
    with pytest.raises(Exception, match=r"UnicodeTranscode|CaseFoldUTF8"):
        converter.convert()
    converter.target_spec.supported_ops = [tf.lite.OpsSet.SELECT_TF_OPS]
    interpreter = tf.lite.Interpreter(model_content=converter.convert())
    with pytest.raises(RuntimeError, match="not supported by this interpreter"):
        interpreter.allocate_tensors()
        interpreter.invoke()


def test_the_model_is_the_same_after_it_was_converted(shared):
    model, text = trained.load(shared / "run")
    ids = text(tf.constant(SENTENCES))
    before = model.encode_inputs(ids).numpy()
    lite.convert(model.encoder)
    np.testing.assert_array_equal(model.encode_inputs(ids), before)
