"""Files: the official data, their lines and hash; and those written whole or not at all."""

import dataclasses
import gzip
import hashlib
import json
import re
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.errors import InputError
from evaluation.results.result import VARIANTS, data_name

SAMPLE, SAMPLE_WORDS = "SAMPLE.txt", "A sample world: "
"""The file that `data_pipeline sample` writes above its data, and how it begins."""
MANIFEST = "COMPLETED"
"""The file that the data pipeline writes beside its own."""
SYNTHETIC, REDDIT = "synthetic sample", "Reddit"
DATA_CARD = "data_card.json"
"""Origins of data that are known."""


@dataclass(frozen=True)
class Source:
    """The files behind one result, and the name that the result gets.

    `learned_from` are files that something was trained or chosen on before these were scored.
    """

    name: str
    files: tuple[Path, ...]
    learned_from: tuple[Path, ...] = ()

    def after(self, others: Sequence["Source"]) -> "Source":
        """Return the source, with others that something was learned or chosen on before."""
        files = tuple(path for other in others for path in other.files)
        return dataclasses.replace(self, learned_from=files)

    def provenance(self) -> dict:
        """Return what identifies the data: file names, and SHA-256 over their bytes in order.

        And their `origin`, where it is known.
        """
        first, last = self.files[0].name, self.files[-1].name
        found: dict = {
            "file": first if len(self.files) == 1 else f"{first} ... {last}",
            "files": [path.name for path in self.files],
            "sha256": sha256(self.files),
        }
        if origin := origin_of(self.files):
            found["origin"] = origin
        if self.learned_from:
            found["learned_from"] = {
                "files": [path.name for path in self.learned_from],
                "sha256": sha256(self.learned_from),
            }
        return found


def named_source(name: str, *files: Path) -> Source:
    """Return the source of files whose result gets a name that their names give.

    Raises:
      InputError: if the name ends like that of a further result on the same items.
    """
    if data_name(name) != name:
        ends = " or ".join(VARIANTS)
        raise InputError(
            f"{files[0]}: its result would be called {name}; accepted: files whose names do not "
            f"end in {ends}"
        )
    return Source(name, files)


def origin_of(files: Sequence[Path]) -> str:
    """Return whether files are a synthetic sample or pairs from Reddit; empty where unknown."""
    origins = {_origin(folder) for folder in {path.absolute().parent for path in files}}
    return origins.pop() if len(origins) == 1 else ""


def _origin(folder: Path) -> str:
    for path in (folder / SAMPLE, folder.parent / SAMPLE):
        if path.is_file() and path.read_bytes().startswith(SAMPLE_WORDS.encode()):
            return SYNTHETIC
    try:
        completed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if completed.get("synthetic"):
            return SYNTHETIC
        card = json.loads((folder / DATA_CARD).read_text(encoding="utf-8"))
        return REDDIT if card["source"]["name"] == REDDIT else ""
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""


def sha256(paths: tuple[Path, ...]) -> str:
    """Return the SHA-256 over the bytes of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def existing(path: Path) -> Path:
    """Return `path`, or raise InputError where nothing is there."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    return path


def without_gz(path: Path) -> str:
    """Return the file's name as it is when unpacked."""
    return path.name.removesuffix(".gz")


def require_once(paths: Sequence[Path]) -> list[Path]:
    """Return the paths, sorted, after checking that no file is there both plain and as .gz."""
    found: dict[Path, Path] = {}
    for path in sorted(paths):
        key = path.with_name(without_gz(path))
        if key in found:
            raise InputError(f"{path}: the same data as {found[key].name}; keep one of them")
        found[key] = path
    return list(found.values())


def open_bytes(path: Path):
    """Open a plain or gzipped file for reading bytes."""
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader never sees half of it."""
    with write_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")


@contextmanager
def write_aside(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which becomes `path` at the end, unless there is an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Unique among threads and machines too: processes in containers often have the same number.
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield (line number from 1, line without its end) of a plain or gzipped UTF-8 file.

    Only `\n` ends a line: the benchmarks' sentences may hold other Unicode separators.
    """
    number = 0
    with open_bytes(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                # Only a file's first line can begin with a byte order mark.
                encoding = "utf-8-sig" if number == 1 else "utf-8"
                yield number, line.decode(encoding).rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number}: not UTF-8 text ({error.reason})") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"{path}: damaged gzip file after line {number} ({error})") from error


def placed_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (`path:line`, for an error, and the line) of a plain or gzipped UTF-8 file."""
    return ((f"{path}:{number}", line) for number, line in numbered_lines(path))


def check_text(text: str, name: str, place: str) -> None:
    """Raise InputError for half of a surrogate pair, which JSON may hold but UTF-8 may not."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f'{place}: "{name}" has {text[error.start]!r}, half a character; whole characters are '
            "accepted"
        ) from error


def named_rows(
    lines: Iterable[tuple[str, str]], needed: Sequence[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (place, columns by name) of tab-separated lines, of which the first names the columns.

    Raises:
      InputError: if the first lacks a needed name, or another has not as many columns.
    """
    names: list[str] = []
    for place, line in lines:
        columns = line.split("\t")
        if not names:
            names = columns
            if missing := [name for name in needed if name not in names]:
                raise InputError(
                    f"{place}: the first line names no column {', '.join(missing)}; "
                    f"{', '.join(needed)} are needed"
                )
        elif len(columns) != len(names):
            raise InputError(f"{place}: {len(columns)} columns; the first line names {len(names)}")
        else:
            yield place, dict(zip(names, columns, strict=True))


def with_data_as_dir(folder: str, page: str) -> str:
    """Return a Markdown page whose indented commands call a folder of data DIR."""
    if not folder:
        return page
    whole = re.compile(rf"(?<![\w./~-]){re.escape(folder.rstrip('/'))}(?![\w.-])")
    lines = page.split("\n")
    return "\n".join(whole.sub("DIR", line) if line[:4] == "    " else line for line in lines)
