"""The commands and links of the documents."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = [
    *(REPOSITORY / name for name in ("README.md", "BUILD.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((REPOSITORY / "docs").glob("*.md")),
    REPOSITORY / "examples" / "README.md",
    REPOSITORY / "pretrained" / "README.md",
]
_PYTHON = r"(?:PYTHONPATH=\. )?(?:\.venv/bin/)?python"


class Command(NamedTuple):
    """A command as a document has it."""

    document: str
    text: str
    is_whole: bool
    """Whether it stands in a block, with nothing for the reader to add."""

    @property
    def words(self):
        """The program, a module or a file of examples, and its arguments."""
        said = re.sub(rf"^{_PYTHON} (?:-m )?", "", self.text.replace("\\\n", ""))
        words = shlex.split(said.replace(",...", ""), comments=True)
        return [word for word in words if word != "..."]


def blocks(text):
    """The indented blocks of a document, without their indentation."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE).strip("\n") for block in found]


def section(text, heading):
    """What stands between a heading and the next one."""
    return text.partition(f"{heading}\n")[2].partition("\n#")[0]


def commands(path):
    """The Python commands of a document: lines of its blocks, and those in its sentences."""
    text = path.read_text()
    lines = [line for block in blocks(text) for line in _lines(block)]
    inline = [one for one in re.findall(r"`([^`\n]+)`", text) if " --" in one]
    found = {one: Command(path.name, one, False) for one in inline}
    found |= {one: Command(path.name, one, "..." not in one) for one in lines}
    return [one for one in found.values() if re.match(rf"{_PYTHON} (-m [\w.]|examples/)", one.text)]


def _lines(block):
    """Its lines; one that ends in a backslash goes on."""
    return [line.replace("\0", "\\\n") for line in block.replace("\\\n", "\0").splitlines()]


def links(path):
    """The targets of a document's links to files of this repository, each with its anchor."""
    found = re.findall(r"\]\(([^)\s]+)\)", path.read_text())
    return [one.partition("#")[::2] for one in found if "://" not in one]


def anchors(path):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
