"""Commands on pages name the folder of data DIR."""

import re


def with_data_as_dir(folder: str, page: str) -> str:
    """Return a Markdown page whose indented commands call a folder of data DIR."""
    if not folder:
        return page
    whole = re.compile(rf"(?<![\w./~-]){re.escape(folder.rstrip('/'))}(?![\w.-])")
    lines = page.split("\n")
    return "\n".join(whole.sub("DIR", line) if line[:4] == "    " else line for line in lines)
