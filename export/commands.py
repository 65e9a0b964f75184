"""The commands of `python -m export`: each calls the Python API and prints."""

import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from export import FLOAT32
from export.card import identity
from export.options import (
    RESPONSES,
    CardOptions,
    ExportOptions,
    IndexOptions,
    ModuleOptions,
    VariantsOptions,
)
from export.retrieval.index import build_index
from export.retrieval.search import search
from export.saved_model import write
from export.saved_model.variants import compare_variants
from model.layers import encoders

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def module(options: ModuleOptions) -> None:
    """Writes a module."""
    write.export(variant=options.variant, results=options.results, **_given(options))
    print(f"verified in a fresh process; written to {options.output}")
    _print_matrix(options.output)


def variants(options: VariantsOptions) -> None:
    """Writes a module of each variant, and prints their sizes and scores."""
    print(compare_variants(sts=options.sts, **_given(options)))
    _print_matrix(options.output / FLOAT32)


def _given(options: ExportOptions) -> dict[str, Any]:
    """What both exports are given; registers encoders."""
    encoders.import_modules(options.import_module)
    names = ("model_dir", "output", "checkpoint", "remove_components", "component_texts")
    return {name: getattr(options, name) for name in names} | {
        "sts_matrix": options.with_sts_matrix
    }


def _print_matrix(module: Path) -> None:
    """Names what the matrix of a module was learned on, if it has one."""
    tuned = identity.read(module)["sts_matrix"]
    if tuned is not None:
        said = identity.learned_on(tuned) or "a module that its file does not name"
        print(f"the matrix was learned on {said}; it fits the same weights only")


def card(options: CardOptions) -> None:
    """Adds scores to a module."""
    count = write.add_scores(options.module, options.results)
    print(f"{count} result{'s' * (count != 1)} written to {options.module / 'README.md'}")


def index(options: IndexOptions) -> None:
    """Builds or extends the index if needed, and prints the best texts for each input."""
    found = build_index(
        options.module,
        options.texts,
        output=options.output,
        mode=options.mode,
        text_field=options.text_field,
        id_field=options.id_field,
        remove=options.remove,
    )
    what = "responses" if options.mode == RESPONSES else "texts"
    print(f"{len(found.texts):,} {what}, {found.matrix.shape[1]} numbers each")
    if not options.input and not sys.stdin.isatty():
        print("--input TEXT finds the best of them; --input - reads inputs from standard input")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
    for text in _inputs(options.input):
        (best,) = search(found, [text], top=options.top, exact=options.exact)
        print(f"\n{text}")
        for rank, each in enumerate(best, start=1):
            # Without line breaks and what else a terminal acts upon.
            print(f"{rank:3}  {each.score:8.4f}  {_CONTROLS.sub(' ', each.text)}", flush=True)
            fields = ({} if each.id is None else {"id": each.id}) | each.fields
            if fields:
                print(_CONTROLS.sub(" ", f"{'':15}{json.dumps(fields, ensure_ascii=False)}"))


def _inputs(given: Sequence[str]) -> Iterator[str]:
    """The texts of `--input`, and lines of standard input, with a prompt on a terminal."""
    is_terminal = sys.stdin.isatty()
    for text in given or (["-"] if is_terminal else []):
        if text != "-":
            yield text
            continue
        for line in iter(partial(_line, "\n> " if is_terminal else ""), ""):
            if line.strip():
                yield line.rstrip("\r\n")


def _line(prompt: str) -> str:
    print(prompt, end="", flush=True)
    return sys.stdin.readline()
