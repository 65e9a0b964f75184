import bz2
import gzip
import lzma

import orjson
import pytest
from backports import zstd

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}


@pytest.fixture
def compress():
    """A function of bytes for each suffix."""
    return COMPRESS


@pytest.fixture
def write_dump(tmp_path):
    """Writes comments (dicts) or raw lines (bytes) as a dump compressed by its name."""

    def write(name, lines):
        texts = [line if isinstance(line, bytes) else orjson.dumps(line) for line in lines]
        path = tmp_path / name
        path.write_bytes(COMPRESS[path.suffix](b"".join(text + b"\n" for text in texts)))
        return path

    return write


@pytest.fixture
def comment():
    """A comment's line as a dict; kept unless its fields say otherwise."""

    def make(own_id, parent="t3_p", **fields):
        return {
            "id": own_id,
            "parent_id": parent,
            "link_id": "t3_p",
            "subreddit": "sub",
            "author": "someone",
            "body": f"the words of {'abcdefghij'[len(own_id) % 10] * 3}",
        } | fields

    return make
