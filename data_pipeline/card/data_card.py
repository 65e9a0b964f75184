"""The data card: a page that describes a data set to those who must decide whether to use it.

`render` needs only the contents of `data_card.json`; it adds shares and medians. Texts and names
come from strangers: all of them are escaped and cut.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from data_pipeline.card.statistics import BIN, UNKNOWN
from data_pipeline.pairs.splits import TEST, TRAIN, VALIDATION
from data_pipeline.sources.rules import PAPER
from data_pipeline.storage.output_folder import DEAD_LETTERS
from data_pipeline.storage.synthetic import SYNTHETIC

TEMPLATE = Path(__file__).with_name("data_card.html.jinja")
SHOWN_CHARACTERS = 360
"""A longer text is cut; a kept comment is shorter under the paper's rules."""

REDDIT = {"name": "Reddit", "message": "comment", "group": "subreddit", "file": "dump file"}
"""What a card without `source` speaks of."""
SAMPLE = {"name": "a synthetic sample"}
"""What the card of generated data calls their source."""
PURPOSES = {TRAIN: "to train", VALIDATION: "to validate", TEST: "to test"}


def render(card: dict[str, Any]) -> str:
    """Returns the whole page, the same bytes for the same card; it needs no network."""
    inputs, responses = dict(card["input_characters"]), dict(card["response_characters"])
    counts = card["counts"]
    written = {
        purpose: counts[f"{split}_pairs"]
        for split, purpose in PURPOSES.items()
        if f"{split}_pairs" in counts
    }
    stored = {output["file"]: output["records"] for output in card["outputs"]}
    return _template().render(
        card=card,
        words=REDDIT | card.get("source", {}) | (SAMPLE if SYNTHETIC in card else {}),
        counts=counts,
        written=sum(written.values()),
        purposes=list(written.items()),
        dead_letters_left_out=counts["malformed"] - stored.get(DEAD_LETTERS, counts["malformed"]),
        values=PAPER.describe() | card["options"],
        dated=[(month, pairs) for month, pairs in card["months"] if month != UNKNOWN],
        lengths=[
            (edge, inputs.get(edge, 0), responses.get(edge, 0))
            for edge in sorted(inputs.keys() | responses.keys())
        ],
        input_half=half_below(card["input_characters"]),
        response_half=half_below(card["response_characters"]),
        bin_width=BIN,
    )


@cache
def _template() -> Any:
    # Imported here: workers import this module too, and render nothing.
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": "{:,}".format, "cut": cut, "setting": setting, "share": share}
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


def half_below(bins: Sequence[Sequence[int]]) -> int | None:
    """The first bin's end that has at least half of the pairs below it; None without pairs."""
    half, seen = sum(pairs for _, pairs in bins) / 2, 0
    for edge, pairs in sorted(map(tuple, bins)):
        seen += pairs
        if seen and seen >= half:
            return edge + BIN
    return None
