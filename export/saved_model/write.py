"""A module is written aside, verified in a fresh process, then put in place."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from data_pipeline.storage.claim import CLAIM
from export import FLOAT32, VARIANTS
from export.card import identity, model_card, scores
from export.module import components as principal_components
from export.module import sts_matrix as matrices
from export.module import warm_up
from export.module.hub_module import HubModule
from export.module.signatures import RANK_RESPONSES, SIGNATURES
from export.saved_model import verify
from model import output_folder
from model.checkpoints import trained
from model.checkpoints.model_dir import PARAMS_FILE
from model.dual_encoder import DualEncoder
from model.errors import InputError, message_of
from model.fingerprint import fingerprint
from model.text.preprocessing import TextToIds


class VerificationError(Exception):
    """The module, loaded in a fresh process, does not give the values that it had before."""


def export(
    model_dir: str | Path,
    output: str | Path,
    *,
    variant: str = FLOAT32,
    remove_components: int = 0,
    component_texts: Sequence[str | Path] = (),
    sts_matrix: str | Path | None = None,
    results: str | Path | None = None,
) -> None:
    """Exports the model of a folder that `python -m model` has written.

    Writes a SavedModel, verified in a fresh process, with its model card; replaces a module that
    is there already.

    Args:
      model_dir: the model's folder; its last checkpoint is exported.
      output: the folder to write.
      variant: one of `export.VARIANTS`, the format of the weights.
      remove_components: the number of principal components that embeddings lose
        (`export.module.components`).
      component_texts: files of the texts whose embeddings have these components.
      sts_matrix: `.npz` file of `python -m evaluation sts --tune`; embeddings are multiplied by it.
      results: folder of result files of a module with the same weights; the card shows them.

    Raises:
      ValueError: if there is no such variant.
      InputError: if the model, the matrix or the results cannot be used, or `output` is something
        other than a module.
      VerificationError: if the module does not give the values that it had before; `output`
        stays as it was.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant is {variant!r}; {', '.join(VARIANTS)} are accepted")
    model_dir, output = Path(model_dir), Path(output).resolve()
    if results is not None:
        scores.read(Path(results))  # an error now rather than after the work
    with output_folder.claimed(output):
        checkpoint = trained.last_checkpoint(model_dir)
        model, text = trained.load_checkpoint(model_dir, checkpoint)
        matrix: np.ndarray | None = None
        components: np.ndarray | None = None
        removed = tuned = None
        if remove_components or component_texts:
            components, removed = _components(model, text, remove_components, component_texts)
        if sts_matrix is not None:
            matrix, tuned = matrices.read(Path(sts_matrix), dim=model.encoder.embedding_dim)
        module = HubModule(model, text, variant=variant, components=components, sts_matrix=matrix)
        about = identity.describe(model_dir, checkpoint) | {
            "variant": variant,
            "dim": int(module(tf.constant(["a"])).shape[-1]),
            "signatures": list(module.heads),
            "weights": sum(int(weight.shape.num_elements()) for weight in module.variables),
            "components": removed,
            "sts_matrix": tuned,
        }
        scores_folder = Path(results) if results else None
        _write(module, output, about, model_dir / PARAMS_FILE, scores_folder)


def _components(
    model: DualEncoder, text: TextToIds, count: int, files: Sequence[str | Path]
) -> tuple[np.ndarray, dict[str, Any]]:
    if count and not files:
        raise InputError(
            f"--remove_components: {count} without texts; accepted: with --component_texts, as "
            "the training pairs"
        )
    return principal_components.learn(
        lambda sentences: model.encode_inputs(text(sentences)),
        files,
        count=count,
        dim=model.encoder.embedding_dim,
    )


def add_scores(module: str | Path, results: str | Path) -> int:
    """Writes scores into a module and its card, in place of earlier ones.

    Args:
      module: a module that `export` has written.
      results: folder of result files of `python -m evaluation` for this module.

    Returns:
      The number of results.

    Raises:
      InputError: if the folder is no such module, or the results belong to another one.
    """
    module = Path(module).resolve()
    with output_folder.claimed(module):
        about = identity.read(module)
        found = scores.read(Path(results), fingerprint=about["fingerprint"])
        with output_folder.aside(module) as new:
            # Weights are linked, not copied.
            shutil.copytree(module, new, copy_function=_link, ignore=shutil.ignore_patterns(CLAIM))
            for name in (f"{identity.FOLDER}/{identity.SCORES}", model_card.FILE):
                (new / name).unlink(missing_ok=True)
            scores.write(new / identity.FOLDER / identity.SCORES, found)
            model_card.write(new)
    return len(found)


def _link(source: str, to: str) -> None:
    """A hard link, or a copy where the file system has none."""
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)


def _write(
    module: HubModule, output: Path, about: dict[str, Any], params: Path, results: Path | None
) -> None:
    """Writes the module with its identity, parameters, warm-up requests, scores and card."""
    is_module = (output / identity.FOLDER / identity.IDENTITY).is_file()
    if not is_module and not output_folder.is_free(output):
        raise InputError(
            f"--output: {str(output)!r} exists and is not a module; name another folder"
        )
    with output_folder.aside(output) as new:
        try:
            module.save(str(new))
        except tf.errors.OpError as error:  # a full disk
            raise InputError(
                f"--output: {str(output)!r} cannot be written: {message_of(error)}"
            ) from error
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
    """Compares the written module with the model; returns what was measured."""
    with tempfile.TemporaryDirectory() as scratch:
        expected = Path(scratch) / "expected.npz"
        np.savez(expected, **_expected(module))  # type: ignore[arg-type]
        return _verify_alone(folder, expected)


def _verify_alone(folder: Path, expected: Path) -> dict[str, Any]:
    """Runs `verify` as a program, where nothing of this project can be imported."""
    command = [sys.executable, "-I", verify.__file__, str(folder), str(expected)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise VerificationError(f"the module does not verify: {reason}")
    return json.loads(done.stdout.splitlines()[-1])


def _expected(module: HubModule) -> dict[str, np.ndarray]:
    """The arrays that `verify` compares the reloaded module with."""
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
