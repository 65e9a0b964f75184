"""All or nothing: a module is written aside, verified in a fresh process, then put in place."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from export.card import identity, model_card, scores
from export.module import warm_up
from export.module.hub_module import HubModule
from export.module.signatures import RANK_RESPONSES, SIGNATURES
from export.saved_model import replace, verify
from model.errors import InputError
from model.fingerprint import fingerprint


class VerificationError(Exception):
    """The module, loaded in a fresh process, does not say what the model says."""


def write(
    module: HubModule,
    output: Path,
    *,
    about: dict[str, Any],
    params: Path,
    results: Path | None = None,
) -> None:
    """Writes the module to `output`, replacing a module that is there already.

    Args:
      module: what is written.
      output: the folder.
      about: what `identity.describe` says of it.
      params: the parameters of its training, which travel inside.
      results: scores of a module with the same weights, if there are any.

    Raises:
      InputError: if `output` is something else than a module, or cannot be written.
      VerificationError: if the module does not verify; `output` is left as it was.
    """
    if not (output / "saved_model.pb").is_file() and not replace.is_free(output):
        raise InputError(f"--output: {str(output)!r} exists and is no module; name another folder")
    with replace.aside(output) as new:
        module.save(str(new))
        extra = new / identity.FOLDER
        extra.mkdir()
        shutil.copy(params, extra / params.name)
        warm_up.write(extra / warm_up.FILE, list(module.heads))
        about = about | {
            "fingerprint": fingerprint(new),
            "measured": _verify(module, new),
        }
        identity.write(new, about)
        if results is not None:
            found = scores.read(results, fingerprint=about["fingerprint"], exactly=False)
            scores.write(extra / identity.SCORES, found)
        model_card.write(new)


def _verify(module: HubModule, folder: Path) -> dict[str, Any]:
    """What the fresh process measured."""
    with tempfile.TemporaryDirectory() as scratch:
        expected = Path(scratch) / "expected.npz"
        np.savez(expected, **what_it_says(module))  # type: ignore[arg-type]
        command = [sys.executable, "-I", verify.__file__, str(folder), str(expected)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise VerificationError(f"the module does not verify: {reason}")
    return json.loads(done.stdout.splitlines()[-1])


def what_it_says(module: HubModule) -> dict[str, np.ndarray]:
    """By name, what `verify` is to find."""
    sentences = list(verify.PROBES)
    feeds, found = {}, {"call": module(tf.constant(sentences)).numpy()}
    for name, head in module.heads.items():
        sides = [sentences, sentences[::-1]]
        if name == RANK_RESPONSES:
            sides[0] = sentences[:1]
        feeds[name] = dict(zip(SIGNATURES[name].inputs, sides, strict=False))
        outputs = head(*map(tf.constant, feeds[name].values()))
        found |= {f"{name}/{output}": rows.numpy() for output, rows in outputs.items()}
    return found | {"feeds": np.array(json.dumps(feeds))}
