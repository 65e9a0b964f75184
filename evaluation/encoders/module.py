"""A SavedModel found, loaded and told from others, ours or anybody's."""

import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that a module's tokenizer may use)

from evaluation.errors import InputError

with warnings.catch_warnings():
    # tensorflow-hub 0.16 imports pkg_resources, which warns of its end at every import.
    warnings.filterwarnings("ignore", message="pkg_resources is deprecated")
    warnings.filterwarnings("ignore", message="Deprecated call to `pkg_resources")
    import tensorflow_hub as hub

Apply = Callable[[tf.Tensor], tf.Tensor]
"""Strings [batch] to floats [batch, dim]."""


def resolve(module: str | Path) -> Path:
    """Return the folder of a module: itself, or where tensorflow-hub puts what a URL names.

    The folder of what was fetched is tensorflow-hub's cache, TFHUB_CACHE_DIR.
    """
    if "://" not in str(module):
        return Path(module)
    try:
        return Path(hub.resolve(str(module)))
    except Exception as error:  # of the network, of archives, of the disk
        raise InputError(f"{module}: cannot be fetched: {first_line(error)}") from error


def load(folder: Path):
    """Load the SavedModel of a folder, or raise InputError in one line."""
    if not (folder / "saved_model.pb").is_file():
        raise InputError(f"{folder}: no SavedModel here (a folder with saved_model.pb is needed)")
    try:
        return hub.load(str(folder))
    except Exception as error:  # the loader raises a dozen kinds, all about this folder
        reason = first_line(error)
        raise InputError(f"{folder}: cannot be loaded as a SavedModel: {reason}") from error


def of_sentences(signature, *, module: str) -> Apply:
    """Return a signature with one string input as a function of that input alone."""
    inputs = list(signature.structured_input_signature[1])
    outputs = list(signature.structured_outputs)
    output = "outputs" if "outputs" in outputs else outputs[0]
    if len(inputs) != 1 or (len(outputs) != 1 and output != "outputs"):
        raise InputError(
            f"{module}: a signature maps {inputs} to {outputs}; one input, and one output "
            "or one named outputs, are needed"
        )
    return lambda sentences: signature(**{inputs[0]: sentences})[output]


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def fingerprint(folder: Path) -> str:
    """Return a hex string that stays the same as long as the SavedModel does."""
    try:
        found = tf.saved_model.experimental.read_fingerprint(str(folder))
    except FileNotFoundError:
        return hashlib.sha256((folder / "saved_model.pb").read_bytes()).hexdigest()
    checksums = (
        found.saved_model_checksum,
        found.graph_def_program_hash,
        found.signature_def_hash,
        found.saved_object_graph_hash,
        found.checkpoint_hash,
    )
    return "".join(f"{checksum:016x}" for checksum in checksums)
