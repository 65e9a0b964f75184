"""Markdown templates: what they are given is shown as it is, as in HTML, unless it is `| safe`."""

import re
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|^[#+-]")
"""What Markdown acts upon; an underscore inside a word is one of the word."""


def escape(text: str) -> Markup:
    """Text that is shown as it is, in one line; also in the cell of a table."""
    escaped = _SPECIAL.sub(r"\\\g<0>", re.sub(r"\s+", " ", text).replace("&", "&amp;"))
    return Markup(escaped.replace("<", "&lt;").replace(">", "&gt;"))


def code(text: Any) -> Markup:
    """Text as code; in HTML where Markdown's quotes would end inside it or a table's cell would."""
    text = " ".join(str(text).split())
    if not set("`|") & {*text}:
        return Markup(f"`{text}`")
    return Markup(
        "<code>" + re.sub(r"[^\w ]|_", lambda mark: f"&#{ord(mark[0])};", text) + "</code>"
    )


def environment(folder: Path) -> jinja2.Environment:
    """The templates of a folder, with the filter `code`."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # HTML's
        finalize=lambda value: escape(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["code"] = code
    return found
