"""Files in, different texts out: the texts of pairs, lines of text files, words of a vocabulary."""

import glob
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from common import tfrecord
from common.errors import InputError
from common.files import require_whole
from common.text_files import is_visible, parse_lines, unpacked_name
from common.tfrecord import GZIP_SUFFIX

TFRECORD, TEXT, VOCABULARY = TEXT_FILES = (".tfrecord", ".txt", ".tsv")
ALL_TEXTS = (tfrecord.INPUT, tfrecord.RESPONSE, tfrecord.PREMISE, tfrecord.HYPOTHESIS)
"""The texts of a conversation's pair and of an NLI pair."""
REPLIES = (tfrecord.RESPONSE,)
_IDS = {tfrecord.INPUT: tfrecord.INPUT_ID, tfrecord.RESPONSE: tfrecord.RESPONSE_ID}


def text_id(text: str) -> str:
    """A hash of a text, 16 hexadecimal digits: the id of its record, and its place in the order."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def find_files(patterns: Sequence[str], kinds: Sequence[str] = TEXT_FILES) -> list[Path]:
    """The files that names or patterns of `--texts` match, each once, all of accepted kinds."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        is_name = Path(pattern).exists()
        names = [pattern] if is_name else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
        if not names:
            raise InputError(f"--texts: {pattern!r} matches no file; accepted: 'pairs/train-*'")
        if not is_name:
            require_whole(names)
        found |= dict.fromkeys(map(Path, names))
    for file in found:
        if kind_of(file) not in kinds:
            accepted = f"accepted: {', '.join(kinds)}, with or without {GZIP_SUFFIX}"
            raise InputError(f"--texts: {str(file)!r}: {accepted}")
    return list(found)


def kind_of(file: Path) -> str:
    """The suffix that says how to read a file, without that of gzip."""
    return Path(unpacked_name(file)).suffix


def read_texts(files: Iterable[Path], features: Sequence[str] = ALL_TEXTS) -> Iterator[str]:
    """Yields every text of the files: of a pair, each line, or each word of a vocabulary.

    White space around a text is left out, and so are texts without a visible character. `features`
    are the texts of a pair that are read.
    """
    yield from (text for file in files for text, _ in read_messages(file, features))


def read_messages(
    file: Path, features: Sequence[str] = ALL_TEXTS
) -> Iterator[tuple[str, str | None]]:
    """Yields the same of one file, with the ids that messages in TFRecords have."""
    if kind_of(file) == TFRECORD:
        found = _messages(file, features)
    else:
        parse = _word if kind_of(file) == VOCABULARY else str.strip
        found = ((text, None) for text in parse_lines(file, parse))
    yield from (message for message in found if is_visible(message[0]))


def _word(line: str) -> str:
    """The word of a line of a vocabulary."""
    word, _, count = line.rpartition("\t")
    int(count)  # a file of another kind has none
    return word.strip()


def _messages(file: Path, features: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The texts of the records of a file, each with its id where it has one."""

    def parse(found: tfrecord.Features) -> list[tuple[str, str | None]]:
        texts = [
            (found[name].decode().strip(), found.get(_IDS.get(name, ""), b"").decode() or None)
            for name in features
            if name in found
        ]
        if not texts:
            raise ValueError(f"has none of the texts {', '.join(features)}")
        return texts

    return chain.from_iterable(tfrecord.parse_records(file, parse))


def draw(texts: Iterable[str], *, limit: int = 0) -> tuple[list[str], int]:
    """The different texts; if there are more than `limit`, a sample of them.

    The sample has the texts with the lowest hashes: the same texts for the same files in any order,
    and a larger limit only adds to it. 0 is no limit; no more than twice as many are held.

    Returns:
      The texts, ordered by their hashes: as good as shuffled; and how many were read.
    """
    by_id: dict[str, str] = {}
    read = 0
    for read, text in enumerate(texts, start=1):  # noqa: B007
        by_id[text_id(text)] = text
        if limit and len(by_id) >= 2 * limit:
            by_id = dict(sorted(by_id.items())[:limit])
    return [text for _, text in sorted(by_id.items())[: limit or None]], read
