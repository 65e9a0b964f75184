"""Figure 7: predicted similarity against people's, as SVG for a page in light or dark."""

import io
import re
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from evaluation.result import Result

# matplotlib wants a colour; the page's own text colour takes this one's place in the SVG.
INK = "#010203"
POINTS = "#3b82c4"


def scatter(result: Result) -> str:
    """Return one STS result's items as an SVG element: gold in [0, 5], score in [-pi, 0]."""
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "figure7",
        "font.size": 11,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.add_subplot()
        gold = [item["gold"] for item in result.items]
        score = [item["score"] for item in result.items]
        axes.scatter(gold, score, s=14, color=POINTS, alpha=0.6, linewidths=0)
        axes.set_xlabel("gold similarity, 0 to 5")
        axes.set_ylabel("score, -arccos(cosine)")
        axes.spines[["top", "right"]].set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True)
    return _inline(buffer.getvalue())


def _inline(document: str) -> str:
    """Return an SVG document as an element of an HTML page: no prolog, metadata or namespaces."""
    element = document[document.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r' xmlns(:\w+)?="[^"]*"', "", element)
    # The size comes from the page; the view box keeps the proportions.
    element = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", element, count=1)
    element = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", element, count=1)
    return element.replace(INK, "currentColor")
