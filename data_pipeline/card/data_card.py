"""The data card: a page that describes a data set to those who must decide whether to use it.

`render` needs only the contents of `data_card.json`; it adds shares, medians and charts. Texts and
names come from strangers: all of them are escaped and cut, also in the charts.
"""

import base64
import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data_pipeline.card.statistics import BIN, UNKNOWN
from data_pipeline.files.output_folder import DEAD_LETTERS
from data_pipeline.pairs.splits import TEST, TRAIN, VALIDATION
from data_pipeline.rules.message_rules import PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEMPLATE = Path(__file__).with_name("data_card.html.jinja")
SHOWN_CHARACTERS = 360
"""A longer text is cut; a kept comment is shorter under the paper's rules."""
SHOWN_SUBREDDITS = 20
NAME_CHARACTERS = 24
"""A longer name beside a bar is cut; Reddit's own have 21 characters at most."""

REDDIT = {"name": "Reddit", "message": "comment", "group": "subreddit", "file": "dump file"}
"""What a card without `source` speaks of."""
FUNNEL = ("lines", "comments", "kept", "replies", "pairs")
WHOLE = {
    "malformed": "lines",
    "duplicates": "lines",
    "comments": "lines",
    "dropped": "comments",
    "kept": "comments",
    "replies": "kept",
    "pairs": "replies",
    "excluded": "pairs",
    "copies_dropped": "pairs",
    "train_pairs": "pairs",
    "validation_pairs": "pairs",
    "test_pairs": "pairs",
}
"""The count that a count is a part of."""
PURPOSES = {TRAIN: "to train", VALIDATION: "to validate", TEST: "to test"}

INK = "#748091"
"""Of axes and letters: contrast 4.0 on the light page, 4.4 on the dark one."""
BARS = "#3b82c4"
WIDTH = 4.8
"""Inches: with letters of 9 points these stay legible on a telephone."""


def render(card: dict[str, Any]) -> str:
    """Returns the whole page, the same bytes for the same card; it needs no network."""
    # Imported here and in _svg: workers import this module too, and draw nothing.
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": "{:,}".format, "cut": cut, "setting": setting, "share": share}
    environment.filters["data_uri"] = data_uri
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    inputs, responses = dict(card["input_characters"]), dict(card["response_characters"])
    counts = card["counts"]
    words = REDDIT | card.get("source", {})
    return template.render(
        card=card,
        words=words,
        counts=counts,
        written=sum(pairs for _, pairs in written(counts)),
        purposes=written(counts),
        dead_letters_left_out=dead_letters_left_out(card),
        charts=charts(card, words["message"]),
        steps=steps(counts, words["message"]),
        rules=rules(card["options"]),
        dated=_dated(card["months"]),
        undated=sum(pairs for month, pairs in card["months"] if month == UNKNOWN),
        lengths=[
            (edge, inputs.get(edge, 0), responses.get(edge, 0))
            for edge in sorted(inputs.keys() | responses.keys())
        ],
        input_half=half_below(card["input_characters"]),
        response_half=half_below(card["response_characters"]),
        bin_width=BIN,
        shown_subreddits=SHOWN_SUBREDDITS,
    )


def rules(options: dict[str, Any]) -> dict[str, str]:
    """What each rule of a job with these options drops, in words."""
    values = PAPER.describe_all() | options
    letters = "letters and marks" if values["letters_and_marks"] else "letters"
    names = " or ".join(f"“{part}”" for part in values["drop_authors_containing"])
    return {
        "deleted": "its text is empty, [deleted] or [removed]",
        "empty": "its text is empty",
        "length": f"{(values['max_characters'] or 0) + 1} characters or more",
        "alphabetic": f"{100 * (values['min_letter_share'] or 0):g}% {letters} or less",
        "prefix": "starts with " + " or ".join(values["drop_prefixes"]),
        "bot": f"the author's name contains {names}",
        "min_characters": "fewer characters than asked for",
        "min_score": "a lower score than asked for, or none",
        "subreddits": "in none of the subreddits asked for",
        "exclude_subreddits": "in a subreddit to be left out",
        "bots": "the author is on the list of bots",
        "over_18": "marked as for adults only",
    }


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


def written(counts: dict[str, Any]) -> list[tuple[str, int]]:
    """(purpose, pairs) of each split that exists."""
    splits = [(purpose, f"{split}_pairs") for split, purpose in PURPOSES.items()]
    return [(purpose, counts[pairs]) for purpose, pairs in splits if pairs in counts]


def dead_letters_left_out(card: dict[str, Any]) -> int:
    """How many malformed lines are not in the file of dead letters."""
    malformed = card["counts"]["malformed"]
    stored = (output["records"] for output in card["outputs"] if output["file"] == DEAD_LETTERS)
    return malformed - next(stored, malformed)


def steps(counts: dict[str, Any], message: str = "comment") -> list[tuple[str, int, str]]:
    """(name, count, share) of every count in the card's order; the rules' drops are one."""
    named = {"comments": f"{message}s"}
    flat = counts | {"dropped": sum(counts["dropped"].values())}
    shares = {
        name: f"{share(flat[name], flat[of])} of {named.get(of, of)}"
        for name, of in WHOLE.items()
        if name in flat
    }
    return [(named.get(name, name), count, shares.get(name, "")) for name, count in flat.items()]


def half_below(bins: Sequence[Sequence[int]]) -> int | None:
    """The first bin's end that has at least half of the pairs below it; None without pairs."""
    half, seen = sum(pairs for _, pairs in bins) / 2, 0
    for edge, pairs in sorted(map(tuple, bins)):
        seen += pairs
        if seen and seen >= half:
            return edge + BIN
    return None


def charts(card: dict[str, Any], message: str = "comment") -> dict[str, str | None]:
    """Name -> chart as an SVG document, or None if there is nothing to draw."""
    inputs, responses = card["input_characters"], card["response_characters"]
    end = BIN + max((edge for edge, _ in [*inputs, *responses]), default=0)
    counts = [(name, card["counts"][name]) for name in FUNNEL]
    lines = card["counts"]["lines"]
    named = {"comments": f"{message}s"}
    funnel = [
        (named.get(name, name), count, f"{count:,} ({share(count, lines)})")
        for name, count in counts
    ]
    subreddits = [
        (_short(name), pairs, f"{pairs:,}") for name, pairs in card["subreddits"][:SHOWN_SUBREDDITS]
    ]
    length = "characters in the "
    return {
        "funnel": _svg(1.7, _rows, funnel, label="number, and share of the lines"),
        "inputs": _svg(2.4, _lengths, inputs, label=length + "input", end=end),
        "responses": _svg(2.4, _lengths, responses, label=length + "response", end=end),
        "months": _svg(2.4, _months, _dated(card["months"])),
        "subreddits": _svg(0.5 + 0.19 * len(subreddits), _rows, subreddits, label="pairs"),
    }


def _short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= NAME_CHARACTERS else name[: NAME_CHARACTERS - 1] + "…"


def _dated(months: Sequence[Any]) -> list[tuple[str, int]]:
    return [(month, pairs) for month, pairs in months if month != UNKNOWN]


def _rows(axes: "Axes", rows: list[tuple[str, int, str]], *, label: str) -> None:
    """Horizontal bars, the first on top: (name, count, label at the bar's end)."""
    counts = [count for _, count, _ in rows]
    places = range(len(rows))
    drawn = axes.barh(places, counts, height=0.7, color=BARS)
    axes.bar_label(drawn, [words for _, _, words in rows], padding=4)
    axes.set_yticks(places, [name for name, _, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1.45 * max([*counts, 1]))  # room for the words at the longest bar
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_xlabel(label, loc="left")


def _lengths(axes: "Axes", bins: Sequence[Any], *, label: str, end: int) -> None:
    edges, pairs = zip(*bins, strict=True)
    axes.bar(edges, pairs, width=0.9 * BIN, align="edge", color=BARS)
    axes.set_xlim(0, end)
    axes.set_xlabel(label)
    _count_pairs(axes)


def _months(axes: "Axes", months: list[tuple[str, int]]) -> None:
    """Bars on a time axis, so that missing months show as a gap."""
    places = [12 * int(month[:4]) + int(month[5:]) - 1 for month, _ in months]
    first, last = min(places), max(places)
    # The edge keeps bars visible where wrong clocks stretch the axis over centuries.
    axes.bar(places, [pairs for _, pairs in months], width=0.8, color=BARS, ec=BARS, lw=0.5)
    step = next((s for s in (1, 2, 3, 6, 12, 24, 60, 120) if last - first < 7 * s), 600)
    ticks = range(-(-first // step) * step, last + 1, step)
    names = [f"{t // 12}" if step >= 12 else f"{t // 12}-{t % 12 + 1:02}" for t in ticks]
    axes.set_xticks(ticks, names)
    margin = max(1.0, (8 - last + first) / 2)
    axes.set_xlim(first - margin, last + margin)
    axes.set_xlabel("month of the response, UTC")
    _count_pairs(axes)


def _count_pairs(axes: "Axes") -> None:
    axes.set_ylabel("pairs")
    axes.locator_params(axis="y", integer=True, nbins=5)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _svg(
    height: float, paint: Callable[..., None], data: Sequence[Any], **settings: Any
) -> str | None:
    """Paints data on axes `height` inches high; None without data."""
    if not data:
        return None
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: dict[Any, Any] = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK
    )
    style |= {"svg.fonttype": "none", "svg.hashsalt": "data_card", "font.size": 9}
    style |= {"text.parse_math": False}  # a dollar sign in a name is a dollar sign
    buffer = io.StringIO()
    with mpl.rc_context(style), warnings.catch_warnings():
        # matplotlib's font, used only for measuring, lacks letters that browsers have.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        paint(axes, data, **settings)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()


def data_uri(svg: str) -> str:
    """An SVG document as the source of an `<img>`, so that the page needs no other file."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
