"""Whether the result of a job may be published: it has pairs, and most lines could be parsed.

A job on the wrong file (an archive, another kind of dump) finds only malformed lines. It fails and
shows the first of them.
"""

import logging
from collections.abc import Sequence
from typing import Any

import orjson

from common.errors import InputError
from data_pipeline.execution.options import LimitOptions
from data_pipeline.storage.output_folder import DEAD_LETTERS

_LOG = logging.getLogger(__name__)
_MANY_MALFORMED = 0.01
"""Of all lines: the user is told of more."""
SHOWN = 3
"""Malformed lines that an error shows."""
_SHOWN_CHARACTERS = 60
_FEW_PAIRS = 0.1
"""In all our dumps together, 0.97 of the replies find their parent."""


def require_acceptable(
    statistics: dict[str, Any],
    limits: LimitOptions,
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
