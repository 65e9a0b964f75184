"""A module is written aside, verified in a fresh process, then put in place."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from common import sts
from common.encoders.saved_model import fingerprint
from common.files import aside, claim, require_only, write_json
from export import FLOAT32
from export.card import identity, model_card
from export.module import components as principal_components
from export.module import plain, warm_up
from export.module.hub_module import HubModule
from export.module.signatures import RANK_RESPONSES, SIGNATURES
from export.options import ModuleOptions
from export.saved_model import verify
from model import LAST
from model.checkpoints import trained
from model.checkpoints.files import PARAMS_FILE
from model.checkpoints.model_dir import read_params
from model.layers import encoders


def module_command(options: ModuleOptions) -> None:
    """Writes a module; says what the matrix of one that has one was learned on."""
    encoders.import_modules(options.import_module)
    names = ("checkpoint", "variant", "remove_components", "component_texts")
    of = {name: getattr(options, name) for name in names}
    export(options.model_dir, options.output, sts_matrix=options.with_sts_matrix, **of)
    print(f"verified in a fresh process; written to {options.output}")
    if tuned := identity.read(options.output)["sts_matrix"]:
        # The matrix is one of the weights that a fingerprint is of, so it cannot be compared.
        said = "{path} (fingerprint {fingerprint})".format(**tuned["module"])
        print(f"the matrix was learned on {said}; it fits the same weights only")


class VerificationError(Exception):
    """The module, loaded in a fresh process, does not give the values that it had before."""


def export(
    model_dir: str | Path,
    output: str | Path,
    *,
    checkpoint: str = LAST,
    variant: str = FLOAT32,
    remove_components: int = 0,
    component_texts: Sequence[str | Path] = (),
    sts_matrix: str | Path | None = None,
) -> None:
    """Exports a model as a SavedModel, verified in a fresh process, with its model card.

    A module that is there already is replaced.

    The arguments are the options of `python -m export`; `sts_matrix` is `--with_sts_matrix`.

    Raises:
      ValueError: if there is no such checkpoint or variant.
      InputError: if the model or the matrix cannot be used, or `output` is something other than a
        module.
      VerificationError: if the module does not give the values that it had before; `output`
        stays as it was.
    """
    model_dir, output = Path(model_dir), Path(output).resolve()
    of: Any = {"remove_components": remove_components, "checkpoint": checkpoint, "variant": variant}
    files = tuple(map(str, component_texts))
    ModuleOptions(model_dir=model_dir, output=output, component_texts=files, **of)  # checks them
    with claim(output):
        if not (output / identity.FOLDER / identity.IDENTITY).is_file():
            require_only(output)
        path = trained.find_checkpoint(model_dir, checkpoint)
        print(f"exporting {path}", flush=True)
        model_dir = Path(path).parent
        model, text = trained.load_checkpoint(model_dir, path)
        dim = model.encoder.embedding_dim
        components = removed = matrix = tuned = None
        if remove_components:
            components, removed = principal_components.learn(
                lambda sentences: model.encode_inputs(text(sentences)),
                list(files),
                count=remove_components,
                dim=dim,
            )
        if sts_matrix is not None:
            matrix, tuned = sts.read_matrix(Path(sts_matrix), dim=dim)
        module = HubModule(model, text, variant=variant, components=components, sts_matrix=matrix)
        about = identity.describe(model_dir, path) | {
            "variant": variant,
            "dim": int(module(tf.constant(["a"])).shape[-1]),
            "signatures": list(module.heads),
            "weights": sum(int(weight.shape.num_elements()) for weight in module.variables),
            "components": removed,
            "sts_matrix": tuned,
        }
        with aside(output) as new:
            _write(module, new, about, model_dir / PARAMS_FILE)


def _write(module: HubModule, folder: Path, about: dict[str, Any], params: Path) -> None:
    """Writes the module with its identity, parameters, warm-up requests and card."""
    tf.saved_model.save(module, str(folder), signatures=module.heads)
    extra = folder / identity.FOLDER
    extra.mkdir()
    shutil.copy(params, extra / params.name)
    model = read_params(extra)["task"]["model"]
    if plain.has_plain_form(model):
        plain.write(module, model, folder)
    warm_up.write(extra / warm_up.FILE, list(module.heads))
    about |= {"fingerprint": fingerprint(folder), "measured": _verify(module, folder)}
    write_json(extra / identity.IDENTITY, about)
    model_card.write(folder)


def _verify(module: HubModule, folder: Path) -> dict[str, Any]:
    """Compares the written module with the model in memory; returns what was measured."""
    sentences = list(verify.PROBES)
    feeds, found = {}, {"call": module(tf.constant(sentences)).numpy()}
    for name, head in module.heads.items():
        sides = [sentences, sentences[::-1]]
        if name == RANK_RESPONSES:
            sides[0] = sentences[:1]
        feeds[name] = dict(zip(SIGNATURES[name].inputs, sides, strict=False))
        outputs = head(*map(tf.constant, feeds[name].values()))
        found |= {f"{name}/{output}": rows.numpy() for output, rows in outputs.items()}
    with tempfile.TemporaryDirectory() as scratch:
        expected = Path(scratch) / "expected.npz"
        np.savez(expected, feeds=np.array(json.dumps(feeds)), **found)
        return _verify_alone(folder, expected)


def _verify_alone(folder: Path, expected: Path) -> dict[str, Any]:
    """Runs `verify` as a program, where nothing of this project can be imported."""
    command = [sys.executable, "-I", verify.__file__, str(folder), str(expected)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise VerificationError(f"the module does not verify: {reason}")
    return json.loads(done.stdout.splitlines()[-1])
