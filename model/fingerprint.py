"""The fingerprint of a SavedModel."""

from pathlib import Path

import tensorflow as tf


def fingerprint(module: Path) -> str:
    """TensorFlow's five checksums of a SavedModel: 80 hexadecimal digits."""
    found = tf.saved_model.experimental.read_fingerprint(str(module))
    checksums = (
        found.saved_model_checksum,
        found.graph_def_program_hash,
        found.signature_def_hash,
        found.saved_object_graph_hash,
        found.checkpoint_hash,
    )
    return "".join(f"{checksum:016x}" for checksum in checksums)
