"""All or nothing: a module is written aside, verified in a fresh process, then renamed."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from export import verify
from export.hub_module import CLASSIFY_NLI, ENCODE_RESPONSE, OUTPUTS, HubModule
from model.errors import InputError
from model.model_dir import PARAMS_FILE


class VerificationError(Exception):
    """The module, loaded in a fresh process, does not say what the model says."""


def write(module: HubModule, output: Path, *, params: Path) -> None:
    """Writes the module to `output`, replacing a module that is there already.

    Raises:
      InputError: if `output` is something else than a module, or cannot be written.
      VerificationError: if the module does not verify; `output` is left as it was.
    """
    if output.exists() and not (output / "saved_model.pb").is_file() and not _is_empty(output):
        raise InputError(f"--output: {str(output)!r} exists and is no module; name another folder")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    except OSError as error:
        raise InputError(f"--output: {str(output)!r} cannot be written: {error}") from error
    try:
        module.save(str(aside / "new"))
        extra = aside / "new" / "assets.extra"
        extra.mkdir()
        shutil.copy(params, extra / PARAMS_FILE)
        _verify(module, aside / "new")
        if output.exists():
            output.rename(aside / "old")
        (aside / "new").rename(output)
    finally:
        shutil.rmtree(aside)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _what_it_says(module: HubModule, sentences: tf.Tensor) -> dict[str, np.ndarray]:
    """By name, what `verify` is to find."""
    arguments = {
        ENCODE_RESPONSE: [sentences],
        CLASSIFY_NLI: [sentences, sentences[::-1]],
    }
    found = {name: head(*arguments[name])[OUTPUTS] for name, head in module.heads.items()}
    found["__call__"] = module(sentences)
    return {name: rows.numpy() for name, rows in found.items()}


def _verify(module: HubModule, folder: Path) -> None:
    sentences = tf.constant(verify.PROBES)
    with tempfile.TemporaryDirectory() as scratch:
        expected = Path(scratch) / "expected.npz"
        np.savez(expected, **_what_it_says(module, sentences))  # type: ignore[arg-type]
        command = [sys.executable, "-I", verify.__file__, str(folder), str(expected)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise VerificationError(f"the module does not verify: {reason}")
