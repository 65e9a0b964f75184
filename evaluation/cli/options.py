"""Options that several commands share."""

import argparse
import contextlib
import textwrap
from collections.abc import Callable
from pathlib import Path

from evaluation.errors import InputError
from evaluation.results.claim import claim

HIGHEST_SEED = 2**32 - 1  # of NumPy's and TensorFlow's generators
METHOD, OUTPUT = "method", "output"
"""Groups of options, besides those that say what is read."""
EXAMPLES = {
    "response_ranking": "--module module/ --data pairs/ --output results/",
    "snli": "--module module/ --data snli/ --output results/",
    "sts": "--module module/ --data stsb/ --output results/\n"
    "  python -m evaluation sts --module module/ --data pairs.csv \\\n"
    "      --columns sentence1 sentence2 score --output results/",
    "cqa": "--module module/ --data semeval_cqa/ --output results/",
    "retrieval": "--module module/ --queries queries.tsv \\\n"
    "      --documents documents.jsonl --relevant qrels.txt --output results/",
    "baselines": "--sts stsb/ --vectors glove.txt --output results/",
    "compare": "results_a/ results_b/ --output differences.json",
    "contamination": "--training pairs/ --sts stsb/ \\\n      --results results/ --output leaks/",
    "mistakes": "--module module/ --sts stsb/sts-dev.csv \\\n"
    "      --response_ranking pairs/ --output mistakes/",
    "report": "--results results/ --output report.html",
    "rows": "--results runs/results/ --pairs pairs/ --output RESULTS.md",
}
"""Of each command, what follows its name."""
MODULE_HELP = "folder of a SavedModel, or a URL that tensorflow-hub resolves"


class Parser(argparse.ArgumentParser):
    """A parser whose help shows options in groups, and the default of each."""

    def __init__(self, **settings):
        super().__init__(**{"formatter_class": _WithDefaults} | settings)
        self._groups: dict[str, argparse._ArgumentGroup] = {}

    def group(self, title: str) -> argparse._ArgumentGroup:
        """Return the group of a title, which is made where it is first asked for."""
        if title not in self._groups:
            self._groups[title] = self.add_argument_group(title)
        return self._groups[title]


class _WithDefaults(argparse.RawDescriptionHelpFormatter):
    """Adds the default to each option that may be left out, unless its help names one."""

    def _get_help_string(self, action: argparse.Action) -> str:
        said = action.help or ""
        named = "default" in said or not action.option_strings or action.required
        if named or action.nargs == 0:
            return said
        default = "none" if action.default in (None, []) else "%(default)s"
        return f"{said}; default: {default}"


def command(commands, name: str, run: Callable, *, summary: str, more: str = "") -> Parser:
    """Add a command, which `run` runs, and return its parser; `more` is for its own help alone."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=textwrap.fill(f"{summary[0].upper()}{summary[1:]}{more}", 80),
        epilog=f"example:\n  python -m evaluation {name} {EXAMPLES[name]}",
    )
    parser.set_defaults(run=run)
    return parser


def folder_output(parser: Parser, *, help: str) -> None:  # noqa: A002
    """Add --output, a folder that several commands write to."""
    parser.group(OUTPUT).add_argument(
        "--output", type=Path, required=True, metavar="DIR", help=help
    )
    parser.set_defaults(into_folder=True)


def file_output(
    parser: Parser,
    *,
    metavar: str,
    help: str = "the page to write",  # noqa: A002
    required: bool = True,
) -> None:
    """Add --output, a file; files beside it differ in the suffix."""
    parser.group(OUTPUT).add_argument(
        "--output", type=Path, required=required, metavar=metavar, help=help
    )
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
    if getattr(arguments, "no_quotes", False) and not getattr(arguments, arguments.quotes_in):
        raise InputError(
            f"--no_quotes: accepted with --{arguments.quotes_in}, which reads CSV and TSV files"
        )
    count = getattr(arguments, "candidates", 2)
    if count < 2:
        raise InputError(f"--candidates is {count}; 2 or more are accepted")


CANDIDATES = 100


def candidates(parser: Parser) -> None:
    """Add --candidates, of response ranking."""
    parser.group(METHOD).add_argument(
        "--candidates",
        type=int,
        default=CANDIDATES,
        metavar="N",
        help="responses to rank in response_ranking, the true one among them",
    )


def columns(parser: Parser, option: str) -> None:
    """Add the option that names the columns of a CSV or TSV file of sentence pairs; --no_quotes."""
    parser.add_argument(
        option,
        nargs=3,
        metavar=("SENTENCE1", "SENTENCE2", "SCORE"),
        help="read a CSV or TSV file whose header has these columns; scores on any scale",
    )
    parser.add_argument(
        "--no_quotes",
        action="store_true",
        help=f"quotes in the file of {option} are text; by default they enclose fields",
    )
    parser.set_defaults(quotes_in=option.removeprefix("--"))


def retrieval_files(parser: Parser, *, needed: bool) -> None:
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


def seeded(parser: Parser) -> None:
    """Add --seed, of resamples, blocks of candidates and initial weights."""
    parser.group(METHOD).add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed"
    )


def again(parser: Parser) -> None:
    """Add --again."""
    parser.group(OUTPUT).add_argument(
        "--again", action="store_true", help="recompute results that exist in --output"
    )


def storing(arguments: argparse.Namespace, *, command: str) -> dict:
    """Return what `tasks.evaluate` needs to know of --output, --seed and --again."""
    shared = {name: getattr(arguments, name) for name in ("output", "seed", "again")}
    return shared | {"command": command, "say": print}
