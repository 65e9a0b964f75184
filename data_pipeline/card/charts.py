"""Bar charts as SVG documents, in the few shapes that the data card needs.

Written by hand because of the time: a drawing library takes half a second of a job to import and to
draw five charts. Texts come from strangers and are escaped.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

INK = "#748091"
"""Of axes and letters: contrast 4.0 on the light page, 4.4 on the dark one."""
BARS = "#3b82c4"
WIDTH = 460
"""Pixels: with letters of 12 pixels these stay legible on a telephone."""
_HEIGHT = 230
_ROW = 18
_LETTER = 12
_LETTER_WIDTH = 7.6
"""Of a sans-serif font of 12 pixels, on average; East Asian letters are twice as wide."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 8, 48
"""Around the axes of a histogram."""
_MOST_TICKS = 6

Tick = tuple[float, str]
"""A place on an axis, and its label."""


def bars(rows: Sequence[tuple[str, int, str]], *, label: str) -> str | None:
    """Horizontal bars, the first on top: (name, count, label at the bar's end); None without rows.

    `label` says what the bars count.
    """
    if not rows:
        return None
    left = 8 + max(_width(name) for name, _, _ in rows)
    room = WIDTH - left - 12 - max(_width(words) for _, _, words in rows)
    scale = room / max(1, *(count for _, count, _ in rows))
    middles = [_ROW * (number + 0.5) for number in range(len(rows))]
    bottom = _ROW * len(rows)
    drawn = [_text(left, bottom + 16, label)]
    drawn += [
        _text(left - 4, middle + 4, name, anchor="end")
        for middle, (name, _, _) in zip(middles, rows, strict=True)
    ]
    for middle, (_, count, words) in zip(middles, rows, strict=True):
        end = left + scale * count
        drawn += [_bar(left, middle - 6, end, middle + 6), _text(end + 5, middle + 4, words)]
    drawn.append(_line(left, 0, left, bottom))
    return _svg(bottom + 24, drawn)


def histogram(
    counts: Sequence[tuple[float, int]],
    *,
    width: float,
    start: float,
    end: float,
    ticks: Iterable[Tick],
    label: str,
) -> str | None:
    """Vertical bars of (where a bar starts, its number of pairs); None without bars.

    Args:
      counts: the bars.
      width: of each bar, in the units of the axis.
      start: where the axis starts.
      end: where it ends.
      ticks: places on it.
      label: what it counts.
    """
    if not counts:
        return None
    most = max(1, *(pairs for _, pairs in counts))
    x_scale = (WIDTH - _LEFT - _RIGHT) / (end - start)
    y_scale = (_HEIGHT - _TOP - _BOTTOM) / most
    ground = _HEIGHT - _BOTTOM
    drawn = []
    for place, pairs in counts:
        left = _LEFT + x_scale * (place - start)
        # At least a pixel, for bars of wrong clocks, centuries apart.
        right = max(left + 1, left + x_scale * width)
        drawn.append(_bar(left, ground - y_scale * pairs, right, ground))
    drawn += [
        _line(_LEFT, ground, WIDTH - _RIGHT, ground),
        _line(_LEFT, _TOP, _LEFT, ground),
    ]
    for place, name in ticks:
        x = _LEFT + x_scale * (place - start)
        drawn += [_line(x, ground, x, ground + 4), _text(x, ground + 18, name, anchor="middle")]
    for pairs in steps(0, most):
        y = ground - y_scale * pairs
        drawn += [
            _line(_LEFT - 4, y, _LEFT, y),
            _text(_LEFT - 7, y + 4, f"{pairs:,}", anchor="end"),
        ]
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    drawn.append(_text(middle, _HEIGHT - 8, label, anchor="middle"))
    drawn.append(_text(0, 0, "pairs", anchor="middle", turned_at=(12, (_TOP + ground) / 2)))
    return _svg(_HEIGHT, drawn)


def steps(start: int, end: int) -> range:
    """Round numbers from `start` to `end`: multiples of 1, 2 or 5 times a power of ten, a few."""
    least = max(1, (end - start) / _MOST_TICKS)
    power = 10 ** math.floor(math.log10(least))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= least)
    return range(-(-start // step) * step, end + 1, step)


def _width(text: str) -> float:
    """About the pixels that a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return _LETTER_WIDTH * (len(text) + wide)


def _bar(left: float, top: float, right: float, bottom: float) -> str:
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}" fill="{BARS}"/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{INK}"/>'


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    turned_at: tuple[float, float] | None = None,
) -> str:
    turned = (
        ' transform="translate({:.1f} {:.1f}) rotate(-90)"'.format(*turned_at) if turned_at else ""
    )
    # XML has no control characters.
    shown = "".join(each if each.isprintable() else "\ufffd" for each in words)
    escaped = escape(shown, quote=False)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{escaped}</text>'


def _svg(height: float, drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" font-family="sans-serif" font-size="{_LETTER}" '
        f'fill="{INK}">' + "".join(drawn) + "</svg>"
    )
