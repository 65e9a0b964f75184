"""The encoder for TensorFlow Lite: ids in, embeddings out.

The text handling stays outside. Its ops on strings (`CaseFoldUTF8` of tensorflow-text,
`RegexFullMatch`, `UnicodeTranscode`, ...) are not among TensorFlow Lite's own.
The converter takes them as TensorFlow's (`SELECT_TF_OPS`), but the interpreter of TensorFlow 2.20
then refuses the model, and a device would need all of TensorFlow with tensorflow-text. Whoever
runs the encoder makes the ids by `module.preprocessor`.
"""

import os
import tempfile
from pathlib import Path

import tensorflow as tf

from export.module.parts import DEFAULT, IDS
from export.module.signatures import OUTPUTS
from model.checkpoints import trained
from model.errors import InputError
from model.layers import xla
from model.text.preprocessing import BIGRAMS, WORDS

SIGNATURE = "encode_ids"
_MAGIC = b"TFL3"
"""The file identifier of TensorFlow Lite's flatbuffers, from their fifth byte on."""


def write(model_dir: Path, output: Path) -> None:
    """Writes the encoder, its signature `encode_ids`: `words`, `bigrams` -> `outputs`.

    Raises:
      InputError: if the model is none, TensorFlow Lite lacks what its encoder needs, or `output`
        is something else.
    """
    _require_replaceable(output)
    model, _ = trained.load(model_dir)
    content = convert(model.encoder)
    aside = output.with_name(f".{output.name}.{os.getpid()}.new")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(content)
        aside.replace(output)
    finally:
        aside.unlink(missing_ok=True)


def _require_replaceable(output: Path) -> None:
    if output.exists() and (output.is_dir() or output.read_bytes()[4:8] != _MAGIC):
        raise InputError(
            f"--output: {str(output)!r} exists and is no TensorFlow Lite model; name another file"
        )


def convert(encoder: tf.Module) -> bytes:
    """An encoder as a TensorFlow Lite model of built-in operations.

    Raises:
      InputError: if it needs others.
    """

    @tf.function(input_signature=[IDS[WORDS], IDS[BIGRAMS]])
    def encode_ids(words: tf.Tensor, bigrams: tf.Tensor) -> dict[str, tf.Tensor]:
        return {OUTPUTS: encoder({WORDS: words, BIGRAMS: bigrams})[DEFAULT]}

    root = tf.train.Checkpoint()
    root.variables = encoder.variables
    with tempfile.TemporaryDirectory() as folder, xla.traced(xla.DENSE):
        tf.saved_model.save(root, folder, signatures={SIGNATURE: encode_ids})
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[SIGNATURE])
        try:
            return converter.convert()
        except Exception as error:  # of several kinds, some of them private
            raise InputError(f"--model_dir: TensorFlow Lite lacks {_lacking(error)}") from error


def _lacking(error: Exception) -> str:
    """The operations that the converter names, or else how it begins."""
    lines = str(error).strip().splitlines()
    named = [line.strip() for line in lines if line.startswith(("TF Select ops", "Custom ops"))]
    return "; ".join(named) or lines[0][:200]
