"""Options that several commands share."""

import argparse
import contextlib
from collections.abc import Callable
from pathlib import Path

from evaluation.errors import InputError
from evaluation.results.claim import claim

HIGHEST_SEED = 2**32 - 1  # of NumPy's and TensorFlow's generators
MODULE_HELP = "folder of a SavedModel, or a URL that tensorflow-hub resolves"


def command(
    commands, name: str, run: Callable, *, summary: str, more: str = ""
) -> argparse.ArgumentParser:
    """Add a command, which `run` runs, and return its parser; `more` is for its own help alone."""
    parser = commands.add_parser(name, help=summary, description=f"{summary}{more}")
    parser.set_defaults(run=run)
    return parser


def folder_output(parser: argparse.ArgumentParser, *, help: str) -> None:  # noqa: A002
    """Add --output, a folder that several commands write to."""
    parser.add_argument("--output", type=Path, required=True, help=help)
    parser.set_defaults(into_folder=True)


def file_output(
    parser: argparse.ArgumentParser,
    *,
    metavar: str,
    help: str | None = None,  # noqa: A002
    required: bool = True,
) -> None:
    """Add --output, a file; files beside it differ in the suffix."""
    parser.add_argument("--output", type=Path, required=required, metavar=metavar, help=help)
    parser.set_defaults(into_folder=False)


def claimed(arguments: argparse.Namespace) -> contextlib.AbstractContextManager:
    """Hold the output of a command for as long as it runs; see `claim`."""
    into_folder = getattr(arguments, "into_folder", None)
    if arguments.output is None or into_folder is None:
        return contextlib.nullcontext()
    return claim(arguments.output, command=arguments.command, folder=into_folder)


def check(arguments: argparse.Namespace) -> None:
    """Raise InputError for a number outside of its range, before anything is read."""
    seed = getattr(arguments, "seed", 0)
    if not 0 <= seed <= HIGHEST_SEED:
        raise InputError(f"--seed is {seed}; 0 to {HIGHEST_SEED} are accepted")
    if getattr(arguments, "no_quotes", False) and not arguments.columns:
        raise InputError("--no_quotes: accepted with --columns, which reads CSV and TSV files")
    count = getattr(arguments, "candidates", 2)
    if count < 2:
        raise InputError(f"--candidates is {count}; 2 or more are accepted")


def candidates(parser: argparse.ArgumentParser) -> None:
    """Add --candidates, of response ranking."""
    parser.add_argument("--candidates", type=int, default=100, help="default: %(default)s")


def columns(parser: argparse.ArgumentParser, option: str) -> None:
    """Add the option that names the columns of a CSV or TSV file of sentence pairs."""
    parser.add_argument(
        option,
        nargs=3,
        metavar=("SENTENCE1", "SENTENCE2", "SCORE"),
        help="read a CSV or TSV file whose header has these columns; scores on any scale",
    )


def retrieval_files(parser: argparse.ArgumentParser, *, needed: bool) -> None:
    """Add --queries, --documents and --relevant."""
    texts = "id and text of each: .tsv without a header, or .jsonl; plain or .gz"
    for name in ("queries", "documents"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", required=needed, help=texts)
    parser.add_argument(
        "--relevant",
        type=Path,
        metavar="FILE",
        required=needed,
        help="TREC's qrels (query, 0, document, grade), or BEIR's",
    )


def given_retrieval_files(arguments: argparse.Namespace):
    """Return the files of --queries, --documents and --relevant; None where none is given."""
    from evaluation.data.retrieval_files import RetrievalFiles

    given = {name: getattr(arguments, name) for name in RetrievalFiles._fields}
    if not any(given.values()):
        return None
    if missing := [name for name, path in given.items() if path is None]:
        raise InputError(f"--{missing[0]} is missing; retrieval needs --{', --'.join(given)}")
    return RetrievalFiles(**given)


def seeded(parser: argparse.ArgumentParser) -> None:
    """Add --seed, of resamples, blocks of candidates and initial weights."""
    parser.add_argument(
        "--seed", type=int, default=0, help="of everything random; default: %(default)s"
    )


def again(parser: argparse.ArgumentParser) -> None:
    """Add --again."""
    parser.add_argument(
        "--again", action="store_true", help="compute again what is already in --output"
    )


def storing(arguments: argparse.Namespace, *, command: str) -> dict:
    """Return what `tasks.evaluate` needs to know of --output, --seed and --again."""
    shared = {name: getattr(arguments, name) for name in ("output", "seed", "again")}
    return shared | {"command": command, "say": print}
