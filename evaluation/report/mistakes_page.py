"""mistakes.md: the errors of a module by kind of text, and the worst items with their texts."""

import re
from collections.abc import Sequence

from evaluation.report import tables
from evaluation.report.table import markdown
from evaluation.results.result import Result

SHOWN_CHARACTERS = 200


def page(results: Sequence[Result]) -> str:
    """Return the page of the results of `mistakes`."""
    parts = []
    for found in results:
        parts += [f"# {found.name}", markdown(tables.mistakes(found))]
        for item in found.items:
            shown = (
                f"- {key}: {_quoted(value) if isinstance(value, str) else round(value, 2)}"
                for key, value in item.items()
            )
            parts.append("\n".join(shown))
    return "\n\n".join(parts) + "\n"


def _quoted(text: str) -> str:
    """Return the beginning of other people's text, with nothing that Markdown or HTML acts on."""
    text = " ".join(text.split())
    short = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
    return re.sub(r"([\\`*_\[\]<>&|~])", r"\\\1", short)
