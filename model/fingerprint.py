"""The fingerprint of a SavedModel."""

import hashlib
from pathlib import Path

import tensorflow as tf


def fingerprint(module: Path) -> str:
    """TensorFlow's five checksums of a SavedModel: 80 hexadecimal digits.

    Without a `fingerprint.pb` that can be read, as of an older TensorFlow: SHA-256 of its files.
    """
    try:
        found = tf.saved_model.experimental.read_fingerprint(str(module))
    except (FileNotFoundError, RuntimeError):
        return _of_files(module)
    checksums = (
        found.saved_model_checksum,
        found.graph_def_program_hash,
        found.signature_def_hash,
        found.saved_object_graph_hash,
        found.checkpoint_hash,
    )
    return "".join(f"{checksum:016x}" for checksum in checksums)


def _of_files(module: Path) -> str:
    digest = hashlib.sha256()
    parts = (path for part in ("assets", "variables") for path in (module / part).rglob("*"))
    for path in (module / "saved_model.pb", *sorted(path for path in parts if path.is_file())):
        with path.open("rb") as file:
            of_file = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{of_file} {path.relative_to(module).as_posix()}\n".encode())
    return digest.hexdigest()
