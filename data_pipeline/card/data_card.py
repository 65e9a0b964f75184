"""The data card: a page that describes a data set to those who must decide whether to use it.

`render` needs only the contents of `data_card.json`; the template adds shares and medians. Texts
and names come from strangers: all of them are escaped and cut.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from data_pipeline.card.statistics import BIN, UNKNOWN
from data_pipeline.sources.rules import PAPER
from data_pipeline.storage.output_folder import DEAD_LETTERS
from data_pipeline.storage.synthetic import SYNTHETIC

TEMPLATE = Path(__file__).with_name("data_card.html.jinja")
SHOWN_CHARACTERS = 360
"""A longer text is cut; a kept comment is shorter under the paper's rules."""


def render(card: dict[str, Any]) -> str:
    """Returns the whole page, the same bytes for the same card; it needs no network."""
    return _template().render(
        card=card,
        counts=card["counts"],
        words=card["source"] | ({"name": "a synthetic sample"} if SYNTHETIC in card else {}),
        values=PAPER.describe() | card["options"],
        bin_width=BIN,
        unknown=UNKNOWN,
        dead_letters=DEAD_LETTERS,
    )


@cache
def _template() -> Any:
    # Imported here: workers import this module too, and render nothing.
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": "{:,}".format, "cut": cut, "setting": setting, "share": share}
    environment.filters["half"] = half_below
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def share(part: int, whole: int) -> str:
    """A percentage with one decimal; only nothing is 0.0% and only all is 100.0%."""
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.05:
        return "<0.1%"
    if 99.95 <= percent < 100:
        return ">99.9%"
    return f"{percent:.1f}%"


def cut(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """A text on one line of at most `limit` characters; a longer one with its length."""
    line = " ".join(text.split())
    if len(line) > limit:
        return f"{line[: limit - 1].rstrip()}… ({len(text):,} characters)"
    return line or "(empty)"


def setting(value: Any) -> str:
    """An option's value in words."""
    if value is None or value is False or value == [] or value == "":
        return "off"
    if value is True:
        return "on"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def half_below(bins: Sequence[Sequence[int]]) -> int:
    """The first bin's end that has at least half of the pairs below it."""
    edges, pairs = zip(*sorted(map(tuple, bins)), strict=True)
    seen = zip(edges, accumulate(pairs), strict=True)
    return next(edge + BIN for edge, below in seen if 2 * below >= sum(pairs))
