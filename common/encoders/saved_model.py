"""SavedModels, ours or anybody's, as functions from texts to vectors.

Importing this module imports TensorFlow, which takes 8 seconds.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that a module's tokenizer may use)

from common.errors import InputError, reading
from common.text_files import sha256

FILE = "saved_model.pb"
SERVING_DEFAULT = "serving_default"
_OUTPUT = "outputs"  # the output of a signature that has several
_TENSORFLOW_1 = "tfhub_module.pb"
"""What a module of TensorFlow 1's Hub has in its folder; it is loaded without a tag."""
_CHECKSUMS = (
    *("saved_model_checksum", "graph_def_program_hash", "signature_def_hash"),
    *("saved_object_graph_hash", "checkpoint_hash"),
)
Apply = Callable[[tf.Tensor], tf.Tensor]  # strings [batch] to floats [batch, dim]


def load(folder: Path) -> Any:
    """The SavedModel of a folder; its signatures live no longer than it does."""
    if not (folder / FILE).is_file():
        raise InputError(f"{folder}: no SavedModel here (a folder with {FILE} is needed)")
    tags: Any = [] if (folder / _TENSORFLOW_1).is_file() else None
    with reading(folder):
        return tf.saved_model.load(str(folder), tags)


def of_texts(module: Any, name: str, *, path: str | Path) -> Apply:
    """A signature of a module that takes texts alone; of several outputs the one `outputs`."""
    signature: Any = getattr(module, "signatures", {}).get(name)
    taken = signature.structured_input_signature[1] if signature else {}
    outputs = signature.structured_outputs if signature else {}
    given = {_OUTPUT} & outputs.keys() or outputs.keys()
    if [spec.dtype for spec in taken.values()] != [tf.string] or len(given) != 1:
        needed = f"texts alone and gives one output, or one named {_OUTPUT}"
        raise InputError(f"{path}: no signature {name} that takes {needed}")
    (argument,), (output,) = taken, given

    def apply(texts: tf.Tensor) -> tf.Tensor:
        _ = module  # whose variables the signature reads
        return signature(**{argument: texts})[output]

    return apply


def encode(apply: Apply, texts: Sequence[str], *, path: str | Path) -> np.ndarray:
    """What a function gives for a batch of texts: float32 [texts, dim]."""
    with reading(f"{path}: {len(texts)} texts from {texts[0]!r} on"):
        rows = apply(tf.constant(list(texts)))
        if not rows.dtype.is_floating or rows.shape.rank != 2 or len(rows) != len(texts):
            found = f"{rows.dtype.name} {rows.shape.as_list()}"
            raise ValueError(f"{found}; accepted: floats [texts, dim]")
    return tf.cast(rows, tf.float32).numpy()


def fingerprint(folder: Path) -> str:
    """What stays the same as long as a SavedModel does: hexadecimal digits.

    TensorFlow's five checksums, behind one of the assets, of which they say nothing. Without a
    `fingerprint.pb`, as of an older TensorFlow, the SHA-256 of all files.
    """
    if not (folder / "fingerprint.pb").is_file():
        return sha256(sorted(path for path in folder.rglob("*") if path.is_file()))
    with reading(folder):
        stored = tf.saved_model.experimental.read_fingerprint(str(folder))
    assets = sorted(path for path in (folder / "assets").rglob("*") if path.is_file())
    of_assets = sha256(assets)[:16] if assets else ""
    return of_assets + "".join(f"{getattr(stored, name):016x}" for name in _CHECKSUMS)
