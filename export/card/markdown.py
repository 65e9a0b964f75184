"""Markdown templates: what they are given is shown as it is, as in HTML, unless it is `| safe`."""

from pathlib import Path

import jinja2
from markupsafe import Markup

from common.text_files import as_markdown, as_markdown_code


def environment(folder: Path) -> jinja2.Environment:
    """The templates of a folder, with the filter `code`."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # HTML's
        finalize=lambda value: as_markdown(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["code"] = lambda value: Markup(as_markdown_code(str(value)))
    return found
