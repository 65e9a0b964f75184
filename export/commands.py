"""What each command does, put together from its parts."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from export import VARIANTS
from export.card import identity
from export.module import lite, sts_matrix
from export.module.hub_module import HubModule
from export.retrieval import responses, search
from export.saved_model import (
    amend,
    replace,
    write,
)
from export.saved_model import variants as each_variant
from model.checkpoints import trained
from model.checkpoints.model_dir import PARAMS_FILE
from model.errors import InputError


def module(arguments: argparse.Namespace) -> None:
    """Writes a module."""
    with replace.claimed(arguments.output):
        print(f"exporting {arguments.model_dir}", flush=True)
        write_module(
            arguments.model_dir,
            arguments.output,
            variant=arguments.variant,
            matrix_file=arguments.with_sts_matrix,
            results=arguments.results,
        )
    print(f"verified in a fresh process; written to {arguments.output}")


def write_module(
    model_dir: Path,
    output: Path,
    *,
    variant: str,
    matrix_file: Path | None = None,
    results: Path | None = None,
) -> None:
    """Writes one variant of a model's module, verified.

    Raises:
      InputError: if the model or the matrix is not what it should be.
      VerificationError: if the module does not say what the model says.
    """
    model, text = trained.load(model_dir)
    matrix: np.ndarray | None = None
    tuned = None
    if matrix_file is not None:
        matrix, tuned = sts_matrix.read(matrix_file, dim=model.encoder.embedding_dim)
    made = HubModule(model, text, variant=variant, sts_matrix=matrix)
    about = identity.describe(model_dir, made, sts_matrix=tuned)
    params = model_dir / PARAMS_FILE
    write.write(made, output.resolve(), about=about, params=params, results=results)


def variants(arguments: argparse.Namespace) -> None:
    """Writes a module of each variant, and prints what each costs and scores."""
    if arguments.sts and not arguments.sts.exists():
        raise InputError(f"--sts: {str(arguments.sts)!r}: no such file or folder")
    sizes, pearsons = {}, {}
    with replace.claimed(arguments.output):
        for variant in VARIANTS:
            output = arguments.output.resolve() / variant
            write_module(
                arguments.model_dir, output, variant=variant, matrix_file=arguments.with_sts_matrix
            )
            sizes[variant] = each_variant.size(output)
            if arguments.sts:
                pearsons[variant] = each_variant.score(output, arguments.sts)
            print(f"{variant}: verified in a fresh process", flush=True)
    print(each_variant.table(sizes, pearsons))


def card(arguments: argparse.Namespace) -> None:
    """Puts scores into a module."""
    with replace.claimed(arguments.module):
        count = amend.with_scores(arguments.module.resolve(), arguments.results)
    print(f"{count} results; written to {arguments.module / 'README.md'}")


def tflite(arguments: argparse.Namespace) -> None:
    """Writes the encoder for TensorFlow Lite."""
    lite.write(arguments.model_dir, arguments.output)
    print(f"written to {arguments.output}")


def index(arguments: argparse.Namespace) -> None:
    """Makes the index of the responses unless it is there, and answers."""
    output = arguments.output or Path(f"{arguments.responses}.index")
    if arguments.top < 1:
        raise InputError(f"--top: {arguments.top}; accepted is 1 or more")
    module = responses.load(arguments.module)
    with replace.claimed(output):
        found = responses.index(
            module, arguments.responses, output.resolve(), dtype=arguments.dtype
        )
    print(f"{len(found.texts):,} responses, {found.matrix.shape[1]} numbers each: {output}")
    for said in _said(arguments.input):
        (best,) = search.best(found, module.encode_inputs([said]), top=arguments.top)
        print(f"\n{said}")
        for place, (score, text) in enumerate(best, start=1):
            print(f"{place:3}  {score:8.4f}  {text}", flush=True)


def _said(inputs: list[str] | None) -> Iterator[str]:
    """What the options name, and lines of the standard input, with a prompt on a terminal."""
    if inputs is None:
        inputs = ["-"] if sys.stdin.isatty() else []
    for text in inputs:
        if text != "-":
            yield text
            continue
        while True:
            print("\n> " if sys.stdin.isatty() else "", end="", flush=True)
            line = sys.stdin.readline()
            if not line:
                break
            if line.strip():
                yield line.rstrip("\r\n")
