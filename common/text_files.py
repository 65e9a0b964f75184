"""Files of texts, plain or .gz: what is parsed from each line, and how a folder names them.

What a text is to every command: whether it is empty, and how Markdown shows it.
"""

import gzip
import hashlib
import math
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, TypeVar, cast

from common.errors import InputError, message_of

T = TypeVar("T")
_ERRORS = (ValueError, EOFError, gzip.BadGzipFile, zlib.error)
"""Of parsers, of text that is not UTF-8, and of damaged gzip files."""
_SPLITS = {name: name for name in ("train", "dev", "test")}
_SPLITS |= dict.fromkeys(("validation", "valid", "val"), "dev")
_STRING_OR_CONSTANT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?\b(?:NaN|Infinity)\b')
# Letters and marks without a form of their own, inside a regular expression's brackets.
_FILLERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
)
VISIBLE = rf"[^\pC\pZ{_FILLERS}]"
"""RE2's expression of a character that is seen, without which a text is empty."""
_IS_FILLER = re.compile(f"[{_FILLERS}]").match
_UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"}
"""Without unassigned characters, which a later Unicode assigns."""
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|^[#+-]")
"""What Markdown acts upon; an underscore inside a word is one of the word."""
_NO_WORD = re.compile(r"[\W_]+")
MIN_CHARACTERS = 4
"""Shorter normalized texts (a score, "yes") are in all data, and tell nothing of an overlap."""


@dataclass(frozen=True)
class Source:
    """Files that are read as one data set, and its name."""

    name: str
    files: tuple[Path, ...]

    def provenance(self) -> dict:
        """File names, and the SHA-256 of their bytes, one file after the other."""
        names = [path.name for path in self.files]
        file = names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}"
        return {"file": file, "files": names, "sha256": sha256(self.files)}


@dataclass(frozen=True)
class TextPairs(Generic[T]):
    """What a source holds: pairs, tuples that begin with two texts; and counts of what else."""

    name: str
    pairs: list[T]
    counts: dict[str, int] = field(default_factory=dict)

    def texts(self) -> list[tuple[str, str]]:
        """The two texts of each pair."""
        return [pair[:2] for pair in self.pairs]  # type: ignore[index]


def is_visible(text: str) -> bool:
    """Whether a text has a visible character, as `VISIBLE` finds one."""
    return any(unicodedata.category(c) not in _UNSEEN and not _IS_FILLER(c) for c in text)


def normalize(text: str) -> str:
    """The words of a text: NFKC, case folded, letters and digits only, one space between words."""
    return _NO_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def as_markdown(text: str) -> str:
    """Markdown that shows a text as it is, in one line; also in the cell of a table."""
    escaped = _MARKDOWN.sub(r"\\\g<0>", re.sub(r"\s+", " ", text).replace("&", "&amp;"))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def as_markdown_code(text: str) -> str:
    """Text as code; in HTML where Markdown's quotes would end inside it or a table's cell would."""
    text = " ".join(text.split())
    if not set("`|") & {*text}:
        return f"`{text}`"
    return "<code>" + re.sub(r"[^\w ]|_", lambda mark: f"&#{ord(mark[0])};", text) + "</code>"


def load_json(line: bytes, load: Callable[[bytes], Any]) -> Any:
    """What `load` makes of a line of JSON; NaN and infinities, which Python writes, are null."""
    try:
        return load(line)
    except Exception:
        if b"NaN" not in line and b"Infinity" not in line:
            raise
    return load(_STRING_OR_CONSTANT.sub(lambda at: at[0] if at[0][:1] == b'"' else b"null", line))


def number(value: Any) -> float:
    """A number or its text as a float; NaN, which is in no range, for all else, such as 1_0."""
    try:
        return math.nan if "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def sha256(paths: Sequence[Path]) -> str:
    """The SHA-256 of the bytes of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked if it is a .gz."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def unpacked_name(path: Path) -> str:
    """The name of a file without .gz."""
    return path.name.removesuffix(".gz")


def find(folder: Path, *patterns: str) -> list[Path]:
    """The files of a folder that match a pattern, sorted; each is there plain or as .gz."""
    found = {path for each in patterns for end in ("", ".gz") for path in folder.glob(each + end)}
    if twice := sorted(x for x in found if x.suffix == ".gz" and x.with_suffix("") in found):
        raise InputError(f"{twice[0]}: the same as {twice[0].stem}; keep one of them")
    return sorted(found)


def tables(folder: Path, *patterns: str) -> dict[str, tuple[Path, ...]]:
    """The files of a folder that match, by their names without endings; shards are one table."""
    found: dict[str, tuple[Path, ...]] = {}
    for path in find(folder, *patterns):
        found[stem_of(path)] = (*found.get(stem_of(path), ()), path)
    return found


def stem_of(path: Path) -> str:
    """The name of a file without endings, and without the numbers of a shard."""
    return re.sub(r"-\d+-of-\d+$", "", unpacked_name(path).rsplit(".", 1)[0])


def split_of(stem: str) -> str:
    """The split that the last word of a name that is one names; empty if none does."""
    found = [_SPLITS[word] for word in re.split(r"[\W_]+", stem.lower()) if word in _SPLITS]
    return found[-1] if found else ""


def parse_lines(path: Path, parse: Callable[[str], T], *, blank: bool = False) -> Iterator[T]:
    """Yields what `parse` makes of each line, blank ones too if asked, without its end.

    An InputError names the line where it raises a ValueError, or the file is not UTF-8 or damaged.
    """
    number = 0
    with opened(path) as file:
        try:
            for number, content in enumerate(file, start=1):
                line = content.decode("utf-8-sig" if number == 1 else "utf-8")
                if blank or line.strip():
                    yield parse(line.removesuffix("\n").removesuffix("\r"))
        except _ERRORS as error:
            raise InputError(f"{path}:{max(number, 1)}: {message_of(error)}") from error
