"""Whether the result of a job may be published: it has pairs, and most lines could be parsed.

A job on the wrong file (an archive, another kind of dump) finds only malformed lines. It fails and
says what they look like.
"""

import argparse
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from common.errors import InputError
from data_pipeline.storage.malformed_lines import MalformedLine
from data_pipeline.storage.output_folder import DEAD_LETTERS

_LOG = logging.getLogger(__name__)
_MANY_MALFORMED = 0.01
"""Of all lines: the user is told of more."""
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


class InputLines(NamedTuple):
    """The lines of one input, counted."""

    lines: int
    malformed: int
    first_malformed: Callable[[], MalformedLine | None]
    """Finds the first malformed line; called only for an error or a warning."""

    def are_malformed(self, limits: Limits) -> bool:
        """Whether more lines are malformed than the limits accept."""
        return self.malformed > limits.max_malformed * self.lines


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


def require_pairs(
    statistics: dict[str, Any],
    inputs: Sequence[InputLines],
    limits: Limits,
    *,
    pairs: int,
    wanted: Sequence[str],
    hints: Sequence[str] = (),
) -> None:
    """Checks that a result may be published; warns of inputs that are mostly malformed.

    Args:
      statistics: counts, in the order in which an error lists them.
      inputs: the lines of each input.
      limits: the accepted values.
      pairs: how many there are to publish.
      wanted: the fields that a line must have.
      hints: further reasons for having no pairs.

    Raises:
      InputError: if too many lines are malformed, or there are no pairs and must be.
    """
    total = InputLines(
        sum(some.lines for some in inputs),
        sum(some.malformed for some in inputs),
        max(inputs, key=lambda some: some.malformed).first_malformed,
    )
    if total.are_malformed(limits):
        raise _too_malformed(total, limits, wanted)
    if pairs == 0 and not limits.allow_empty:
        counted = ", ".join(_counted(statistics)) or "no lines"
        hint = "".join(f"; {hint}" for hint in hints)
        # A few malformed lines are not the reason why there are no pairs.
        sample = _sample(total, wanted) if 2 * total.malformed > total.lines else ""
        raise InputError(
            f"--input: no pairs to write ({counted}){hint}{sample}; pass "
            "--allow_empty to publish an empty result"
        )
    mostly = [some for some in inputs if some.are_malformed(limits)]
    for some in mostly:
        _LOG.warning("warning: %s%s", _share(some), _sample(some, wanted))
    # No sample: it may be at the end of all that was read.
    if not mostly and total.malformed > _MANY_MALFORMED * total.lines:
        _LOG.warning("warning: %s; %s says why", _share(total), DEAD_LETTERS)


def require_still_accepted(
    statistics: dict[str, Any], limits: Limits, *, pairs: Callable[[dict[str, Any]], int]
) -> None:
    """Checks the statistics of a job that is complete against the limits of now.

    `pairs` takes from them how many pairs there must be some of.

    Raises:
      InputError: if more lines are malformed than the limits accept, or there are no pairs and
        must be.
    """
    if statistics and not pairs(statistics):
        require_allowed(limits.allow_empty, what="pairs")
    total = InputLines(statistics.get("lines", 0), statistics.get("malformed", 0), lambda: None)
    if total.are_malformed(limits):
        raise _too_malformed(total, limits, [])


def require_allowed(allow_empty: bool, *, what: str) -> None:
    """Checks that a complete output may have none of something.

    Raises:
      InputError: if it may not.
    """
    if not allow_empty:
        raise InputError(
            f"--output: it is complete and has no {what}; pass --allow_empty to accept that"
        )


def _too_malformed(counted: InputLines, limits: Limits, wanted: Sequence[str]) -> InputError:
    return InputError(
        f"--input: {_share(counted)}, more than --max_malformed {limits.max_malformed:g} accepts"
        f"{_sample(counted, wanted)}"
    )


def warn_of_left_out(*, malformed: int, dead_letters: int) -> None:
    """Logs how many malformed lines are counted but not stored, if any."""
    if dead_letters < malformed:
        _LOG.warning(
            "warning: %s of %s malformed lines are only counted, not stored (--max_dead_letters)",
            f"{malformed - dead_letters:,}",
            f"{malformed:,}",
        )


def few_parents(*, replies: int, pairs: int, are_turns: bool = False) -> list[str]:
    """A hint if few replies have found the message that they name, or the turn before them."""
    if pairs >= _FEW_PAIRS * replies:
        return []
    if are_turns:
        return [
            f"only {pairs:,} of {replies:,} kept turns follow a turn that is kept too; "
            "'dropped' counts the others by rule"
        ]
    return [
        f"only {pairs:,} of {replies:,} replies have a parent that is in the input and kept; check "
        "that ids of parents are written like ids, or add the files that hold the parents"
    ]


def _share(counted: InputLines) -> str:
    return (
        f"{counted.malformed:,} of {counted.lines:,} lines "
        f"({counted.malformed / counted.lines:.1%}) are malformed"
    )


def _sample(counted: InputLines, wanted: Sequence[str]) -> str:
    sample = counted.first_malformed() if counted.malformed else None
    return f"; {sample.describe(wanted)}" if sample else ""


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
