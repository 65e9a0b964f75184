"""matplotlib's figures as SVG: elements of a page in light or dark, and files of their own."""

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# matplotlib wants a colour; the page's own text colour takes this one's place in the SVG.
INK = "#010203"


def element(draw: Callable[[], Figure], *, salt: str) -> str:
    """Return a figure as an element of an HTML page: no prolog, metadata or namespaces.

    Its text and axes have the page's colour and font; its size comes from the page.
    """
    found = document(draw, salt=salt)
    found = found[found.index("<svg") :]
    found = re.sub(r"<metadata>.*?</metadata>", "", found, flags=re.DOTALL)
    found = re.sub(r' xmlns(:\w+)?="[^"]*"', "", found)
    # The view box keeps the proportions.
    found = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", found, count=1)
    found = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", found, count=1)
    return found.replace(INK, "currentColor")


def document(draw: Callable[[], Figure], *, salt: str) -> str:
    """Return a figure as an SVG file; `salt` keeps its ids the same and unlike other figures'."""
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.size": 11,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    with mpl.rc_context(style):
        buffer = io.StringIO()
        draw().savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()
