"""The data card: a page that describes a data set to those who must decide whether to use it.

`render` needs only the contents of `data_card.json`: what was read and dropped is counted where it
happens, in `job`, and the pairs are described here, batch by batch. Two equations always hold:
lines = malformed + duplicates + merged + comments, and comments = sum(dropped) + kept. Texts and
names come from strangers: the template escapes and cuts all of them.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from common.origin import SYNTHETIC
from common.tfrecord import INPUT, RESPONSE, SUBREDDIT
from data_pipeline.execution.report import Tally
from data_pipeline.pairs.schema import CREATED
from data_pipeline.sources.rules import PAPER
from data_pipeline.storage.output_folder import DEAD_LETTERS

HISTOGRAMS = ("input_characters", "response_characters", "subreddits", MONTHS := "months")
UNKNOWN = "unknown"  # the month of a reply without a time
_BIN = 10  # characters in a bin of the length histograms
_SHOWN_CHARACTERS = 360  # a longer text is cut; a kept comment is shorter under the paper's rules


def describe(pairs: pa.RecordBatch) -> Tally:
    """Histograms of a batch of pairs."""
    bins = (pc.divide(pc.utf8_length(pairs.column(name)), _BIN) for name in (INPUT, RESPONSE))
    lengths = (_counted(pc.multiply(each, _BIN).cast(pa.string())) for each in bins)
    times = pairs.column(CREATED).cast(pa.timestamp("s"))
    by_month = _counted(pc.floor_temporal(times, unit="month")).items()
    months = {UNKNOWN if month is None else f"{month:%Y-%m}": count for month, count in by_month}
    found = *lengths, _counted(pairs.column(SUBREDDIT)), Counter(months)
    return dict(zip(HISTOGRAMS, found, strict=True))


def _counted(values: Any) -> Counter:
    return Counter({each["values"]: each["counts"] for each in pc.value_counts(values).to_pylist()})


def render(card: dict[str, Any]) -> str:
    """Returns the whole page, the same bytes for the same card; it needs no network."""
    return _template().render(
        card=card,
        counts=card["counts"],
        words=card["source"] | ({"name": "a synthetic sample"} if SYNTHETIC in card else {}),
        values=PAPER.describe() | card["options"],
        bin_width=_BIN,
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
    template = Path(__file__).with_name("data_card.html.jinja")
    return environment.from_string(template.read_text(encoding="utf-8"))


def share(part: int, whole: int) -> str:
    """A percentage with one decimal; only nothing is 0.0% and only all is 100.0%."""
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.05:
        return "<0.1%"
    if 99.95 <= percent < 100:
        return ">99.9%"
    return f"{percent:.1f}%"


def cut(text: str, limit: int = _SHOWN_CHARACTERS) -> str:
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
    return next(edge + _BIN for edge, below in seen if 2 * below >= sum(pairs))
