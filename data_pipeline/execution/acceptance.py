"""Whether the result of a job may be published: it has pairs, and most lines could be parsed.

A job on the wrong file (an archive, another kind of dump) finds only malformed lines. It fails and
shows the first of them.
"""

import argparse
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from common.errors import InputError
from data_pipeline.storage.output_folder import DEAD_LETTERS

_LOG = logging.getLogger(__name__)
_MANY_MALFORMED = 0.01
"""Of all lines: the user is told of more."""
SHOWN = 3
"""Malformed lines that an error shows."""
_SHOWN_CHARACTERS = 60
_FEW_PAIRS = 0.1
"""In all our dumps together, 0.97 of the replies find their parent."""


class Limits(NamedTuple):
    """What the input may hold for the result to be published."""

    max_malformed: float = 0.5
    """The share of malformed lines among all lines."""
    max_dead_letters: int = 100_000
    """Malformed lines that are stored; all are counted."""
    allow_empty: bool = False
    """Whether the result may have no pairs."""


def add_limits(parser: argparse._ActionsContainer) -> None:
    """Declares the options of `Limits`."""
    add = partial(add_option, parser, Limits())
    add(
        "max_malformed",
        "fail if a larger share of the lines is malformed, in [0, 1]; default: %(default)s",
        float,
        metavar="F",
    )
    add(
        "max_dead_letters",
        "store at most N malformed lines; all are counted; default: %(default)s",
        int,
        metavar="N",
    )
    add_allow_empty(parser)


def add_option(
    parser: argparse._ActionsContainer,
    options: Any,
    name: str,
    text: str,
    kind: type | None = None,
    **settings: Any,
) -> None:
    """Declares the flag of a field of `options`, whose value there is the default."""
    if kind is not None:
        settings = {"type": kind, "metavar": "N" if kind is int else "F"} | settings
    parser.add_argument(f"--{name}", help=text, default=getattr(options, name), **settings)


def add_allow_empty(parser: argparse._ActionsContainer) -> None:
    """Declares `--allow_empty`."""
    parser.add_argument(
        "--allow_empty", action="store_true", help="publish the result even if it is empty"
    )


def limits_of(arguments: argparse.Namespace) -> Limits:
    """The limits asked for.

    Raises:
      InputError: if one is out of its range.
    """
    if not 0 <= arguments.max_malformed <= 1:
        raise InputError(f"--max_malformed: {arguments.max_malformed} is not in [0, 1]")
    if arguments.max_dead_letters < 0:
        raise InputError(f"--max_dead_letters: {arguments.max_dead_letters} is not 0 or more")
    return Limits(arguments.max_malformed, arguments.max_dead_letters, arguments.allow_empty)


def describe_limits(limits: Limits) -> dict[str, Any]:
    """The limits that change the output's bytes; empty by default."""
    most = limits.max_dead_letters
    return {"max_dead_letters": most} if most != Limits().max_dead_letters else {}


def require_acceptable(
    statistics: dict[str, Any],
    limits: Limits,
    *,
    pairs: int,
    dead_letters: Sequence[bytes] = (),
    hints: Sequence[str] = (),
) -> None:
    """Checks that a result may be published, or was published rightly; warns of malformed lines.

    Args:
      statistics: the counts, in the order in which an error lists them.
      limits: the accepted values.
      pairs: how many there are of what is wanted.
      dead_letters: the first malformed lines, as stored.
      hints: reasons for having none.

    Raises:
      InputError: if too many lines are malformed, or there are no pairs and must be.
    """
    lines, malformed = statistics.get("lines", 0), statistics.get("malformed", 0)
    first = "".join(f"; {_shown(letter)}" for letter in dead_letters[:SHOWN])
    share = f"{malformed:,} of {lines:,} lines ({malformed / max(lines, 1):.1%}) are malformed"
    if malformed > limits.max_malformed * lines:
        raise InputError(
            f"--input: {share}, more than --max_malformed {limits.max_malformed:g} accepts{first}"
        )
    if pairs == 0 and not limits.allow_empty:
        counted = ", ".join(_counted(statistics)) or "no lines"
        raise InputError(
            f"--input: no pairs to write ({counted}){''.join(f'; {hint}' for hint in hints)}"
            f"{first}; pass --allow_empty to accept that"
        )
    if malformed > _MANY_MALFORMED * lines:
        _LOG.warning("warning: %s; %s says why", share, DEAD_LETTERS)


def _shown(dead_letter: bytes) -> str:
    """A dead letter in one line."""
    found = orjson.loads(dead_letter)
    place = f"{found['file']!r}, line {found['line']:,}"
    return f"{place}: {found['reason']}: {found['raw'][:_SHOWN_CHARACTERS]!r}"


def few_parents(*, replies: int, pairs: int) -> list[str]:
    """A hint if few replies have found the message that they name, or the turn before them."""
    if pairs >= _FEW_PAIRS * replies:
        return []
    return [
        f"only {pairs:,} of {replies:,} kept replies have a parent that is in the input and kept: "
        "'dropped' counts the others; check that ids of parents are written like ids, or add the "
        "files that hold the parents"
    ]


def _counted(statistics: dict[str, Any]) -> list[str]:
    """Each count that is not 0, with its name."""
    counted = []
    for name, value in statistics.items():
        if not isinstance(value, dict):
            counted += [f"{value:,} {name}"] if value else []
        elif any(value.values()):
            parts = ", ".join(f"{part} {count:,}" for part, count in value.items() if count)
            counted.append(f"{sum(value.values()):,} {name}: {parts}")
    return counted
