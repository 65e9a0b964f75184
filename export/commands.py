"""The commands of `python -m export`: each calls the Python API and prints."""

import argparse
import io
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from export import FLOAT32
from export.card import identity
from export.module import sts_matrix
from export.retrieval import responses
from export.retrieval.search import search
from export.saved_model import variants as all_variants
from export.saved_model import write
from model.errors import InputError

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def module(arguments: argparse.Namespace) -> None:
    """Writes a module."""
    print(f"exporting {arguments.model_dir}", flush=True)
    write.export(
        arguments.model_dir,
        arguments.output,
        variant=arguments.variant,
        remove_components=arguments.remove_components,
        component_texts=arguments.component_texts,
        sts_matrix=arguments.with_sts_matrix,
        results=arguments.results,
    )
    print(f"verified in a fresh process; written to {arguments.output}")
    _print_matrix(arguments.output)


def variants(arguments: argparse.Namespace) -> None:
    """Writes a module of each variant, and prints their sizes and scores."""
    table = all_variants.compare_variants(
        arguments.model_dir,
        arguments.output,
        sts=arguments.sts,
        remove_components=arguments.remove_components,
        component_texts=arguments.component_texts,
        sts_matrix=arguments.with_sts_matrix,
    )
    print(table)
    _print_matrix(arguments.output / FLOAT32)


def _print_matrix(module: Path) -> None:
    """Names what the matrix of a module was learned on, if it has one."""
    tuned = identity.read(module)["sts_matrix"]
    if tuned is not None:
        said = sts_matrix.learned_on(tuned) or "a module that its file does not name"
        print(f"the matrix was learned on {said}; it fits the same weights only")


def card(arguments: argparse.Namespace) -> None:
    """Adds scores to a module."""
    count = write.add_scores(arguments.module, arguments.results)
    noun = "result" if count == 1 else "results"
    print(f"{count} {noun} written to {arguments.module / 'README.md'}")


def index(arguments: argparse.Namespace) -> None:
    """Builds or extends the index if needed, and prints the best texts for each input."""
    if arguments.top < 1:
        raise InputError(f"--top: {arguments.top}; accepted: 1 or more")
    given = arguments.responses
    output = arguments.output or responses.default_output(given, arguments.mode)
    found = responses.build_index(
        arguments.module, given, output=output, dtype=arguments.dtype, mode=arguments.mode
    )
    what = "responses" if arguments.mode == responses.RESPONSES else "texts"
    print(f"{len(found.texts):,} {what}, {found.matrix.shape[1]} numbers each: {output}")
    if arguments.input is None and not sys.stdin.isatty():
        print(f"--input TEXT finds the best {what}; --input - reads inputs from standard input")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
    for text in _inputs(arguments.input):
        (best,) = search(found, [text], top=arguments.top, exact=arguments.exact)
        print(f"\n{text}")
        for rank, (score, response) in enumerate(best, start=1):
            print(f"{rank:3}  {score:8.4f}  {_on_a_line(response)}", flush=True)


def _on_a_line(text: str) -> str:
    """The text without line breaks and what else a terminal acts upon."""
    return _CONTROLS.sub(" ", text)


def _inputs(given: list[str] | None) -> Iterator[str]:
    """The texts of `--input`, and lines of standard input, with a prompt on a terminal.

    Raises:
      InputError: if one is not UTF-8.
    """
    if given is None:
        given = ["-"] if sys.stdin.isatty() else []
    if "-" in given and isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # or lines before a bad one were lost
    for text in given:
        if text != "-":
            _check_utf8(text, "--input")
            yield text
            continue
        for number in itertools.count(1):
            print("\n> " if sys.stdin.isatty() else "", end="", flush=True)
            line = sys.stdin.readline()
            if not line:
                break
            _check_utf8(line, f"--input -: line {number}")
            if line.strip():
                yield line.rstrip("\r\n")


def _check_utf8(text: str, place: str) -> None:
    """Raises InputError for bytes that are not UTF-8, which Python reads as half characters."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{place}: {text!r} is not UTF-8; accepted: text in UTF-8") from error
