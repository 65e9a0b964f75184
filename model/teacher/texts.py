"""Files in, different texts out: the texts of pairs, lines of text files, words of a vocabulary."""

import glob
import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from data_pipeline.pairs import tfrecord
from data_pipeline.pairs.tfrecord import GZIP_SUFFIX
from model.errors import InputError

TFRECORD, TEXT, _VOCABULARY = ".tfrecord", ".txt", ".tsv"
_FEATURES = (tfrecord.INPUT, tfrecord.RESPONSE, tfrecord.PREMISE, tfrecord.HYPOTHESIS)
"""The texts of a conversation's pair and of an NLI pair."""
_HELD_OUT = ("test-", "validation-")
"""How the names of files begin that training never reads."""
_CHUNK_BYTES = 1 << 20
_ID_BYTES = 8


class Drawn(NamedTuple):
    """The texts that a teacher embeds."""

    texts: list[str]
    """Ordered by their hashes: as good as shuffled, and the same whatever the order of files."""
    read: int
    """How many texts the files hold, duplicates and blank ones included."""
    different: int
    """How many of them are not blank, each different one counted once."""
    is_exact: bool
    """Whether `different` was counted; of a sample from far more texts it is estimated."""


def text_id(text: str) -> str:
    """A hash of a text, 16 hexadecimal digits: the id of its record, and its place in the order."""
    return hashlib.blake2b(text.encode(), digest_size=_ID_BYTES).hexdigest()


def find_files(patterns: Sequence[str]) -> list[Path]:
    """The files that names or patterns match, each once, sorted.

    Raises:
      InputError: if one matches nothing, matches a folder, or a file's name ends in something else
        than `.tfrecord`, `.txt` or `.tsv`, each with or without `.gz`.
    """
    found: set[Path] = set()
    for pattern in patterns:
        files = [Path(name) for name in glob.glob(pattern)]  # noqa: PTH207
        if not files:
            raise InputError(
                f"--texts: {pattern!r} matches no file; accepted: names and patterns such as "
                "'pairs/train-*'"
            )
        found.update(files)
    for file in sorted(found):
        if file.is_dir():
            raise InputError(f"--texts: {str(file)!r} is a folder; name its files: '{file}/*'")
        if kind_of(file) == TFRECORD and file.name.startswith(_HELD_OUT):
            raise InputError(
                f"--texts: {str(file)!r} is held out; what a teacher embeds is trained on; "
                "accepted: others, such as 'pairs/train-*'"
            )
        if kind_of(file) not in (TFRECORD, TEXT, _VOCABULARY):
            raise InputError(
                f"--texts: {str(file)!r} does not say by its name how to read it; accepted: "
                f"pairs in {TFRECORD}, one text a line in {TEXT} and a vocabulary's words in "
                f"{_VOCABULARY}, each with or without {GZIP_SUFFIX}"
            )
    return sorted(found)


def read_texts(files: Iterable[Path]) -> Iterator[str]:
    """Yields every text of the files: both of a pair, each line, or each word of a vocabulary.

    White space around a text is left out.

    Raises:
      InputError: if a file cannot be read, is damaged, or a record has no text; says which.
    """
    for file in files:
        read = _read_pairs if kind_of(file) == TFRECORD else _read_lines
        try:
            with _open(file) as stream:
                yield from read(file, stream)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"--texts: {str(file)!r} cannot be read: {error}") from error


def draw(texts: Iterable[str], *, limit: int = 0) -> Drawn:
    """The different texts that are not blank; if there are more than `limit`, a sample of them.

    The sample has the texts with the lowest hashes: the same texts for the same files in any order,
    and a larger limit only adds to it.

    Args:
      texts: those of all files.
      limit: the largest number of texts; 0 for all. No more than twice as many are held.
    """
    by_id: dict[str, str] = {}
    read, highest = 0, None
    for text in texts:
        read += 1
        key = text_id(text)
        if not text or (highest is not None and key > highest):
            continue
        by_id[key] = text
        if limit and len(by_id) >= 2 * limit:
            by_id = dict(_lowest(by_id, limit))
            highest = max(by_id)
    lowest = _lowest(by_id, limit)
    drawn = [text for _, text in lowest]
    if highest is None:
        return Drawn(drawn, read, len(by_id), is_exact=True)
    # Hashes are even: the share of all of them that are as low as these tells how many there are.
    share = int(lowest[-1][0], 16) / 2 ** (8 * _ID_BYTES)
    return Drawn(drawn, read, round(limit / share), is_exact=False)


def _lowest(by_id: dict[str, str], limit: int) -> list[tuple[str, str]]:
    return sorted(by_id.items())[: limit or None]


def kind_of(file: Path) -> str:
    """The suffix that says how to read a file, without that of gzip."""
    return Path(file.stem).suffix if file.suffix == GZIP_SUFFIX else file.suffix


def _open(file: Path):
    return gzip.open(file) if file.suffix == GZIP_SUFFIX else file.open("rb")


def _read_pairs(file: Path, stream) -> Iterator[str]:
    records = tfrecord.read_frames(iter(partial(stream.read, _CHUNK_BYTES), b""))
    read = 0
    try:
        for record in records:
            features = tfrecord.decode_example(record, _FEATURES)
            texts = [value for value in features.values() if isinstance(value, bytes)]
            if not texts:
                raise ValueError(f"has none of the texts {', '.join(_FEATURES)}")
            yield from (text.decode().strip() for text in texts)
            read += 1
    except ValueError as error:
        raise InputError(f"--texts: {str(file)!r}, record {read + 1}: {error}") from error


def _read_lines(file: Path, stream) -> Iterator[str]:
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"--texts: {str(file)!r}, line {number}: {error}") from error
        if kind_of(file) == _VOCABULARY:
            text, _, count = text.rpartition("\t")
            if not count.strip().isdigit():
                raise InputError(
                    f"--texts: {str(file)!r}, line {number}: no word, a tab and a count, as a "
                    f"vocabulary has in {_VOCABULARY}; name a file of lines {TEXT}"
                )
        yield text.strip()
