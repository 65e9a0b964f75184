"""matplotlib's figures as SVG files and as images of an HTML page."""

import base64
import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

INK = "#748091"
"""Of text and axes: readable on white and on the dark page."""
STYLE: dict[Any, Any] = {
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


# Of a function that draws: colours of ticks are read as they are made.
styled = mpl.rc_context(STYLE)


def axes_of(*, width: float = 5.2, height: float = 3.8) -> tuple[Figure, Any]:
    """Return a new figure of so many inches, and its axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend(figure: Figure, axes: Any, *, columns: int = 2) -> None:
    """Put a legend above the axes, the paper's entries last; none without labelled lines."""
    handles = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if handles:
        ordered = sorted(handles, key=lambda pair: pair[1].endswith("(paper)"))
        figure.legend(
            [line for line, _ in ordered],
            [label for _, label in ordered],
            loc="outside upper center",
            ncols=columns,
            frameon=False,
            fontsize=9.5,
        )


def document(figure: Figure, *, salt: str) -> str:
    """Return a figure as the text of an SVG file; `salt` makes its ids the same each time."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()


def data_uri(svg: str) -> str:
    """Return an SVG file as the address of an image, which holds all of it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
