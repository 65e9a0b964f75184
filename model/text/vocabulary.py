"""Tokens with ids of their own: what `python -m data_pipeline vocabulary` has written.

The files become assets of an exported module, which needs the folder no longer.
"""

import json
import posixpath
from typing import Any

import google_crc32c
import tensorflow as tf

from common.errors import reading
from common.files import COMPLETED

UNKNOWN = -1
"""The place of a token that is not in the file."""
_FILE = "{}.tsv"
"""A token a line, behind a tab its count, by falling count."""


def size(folder: str, kind: str) -> int:
    """How many `words` or `bigrams` have ids of their own; 0 if no folder is named."""
    if not folder:
        return 0
    name = _FILE.format(kind)
    with reading(f"task.model.text.vocabulary: {folder!r}"):
        output, content = _outputs(folder)[name], _read(posixpath.join(folder, name))
        if len(content) != output["bytes"]:
            raise ValueError(f"{name} has {len(content)} bytes, {COMPLETED} says {output['bytes']}")
        found = google_crc32c.Checksum(content).hexdigest().decode()
        if output.get("crc32c", found) != found:
            raise ValueError(f"{name} was changed: CRC-32C {found}, not {output['crc32c']}")
        return output["records"]


def checksums(folder: str) -> dict[str, str]:
    """CRC-32C of each file of a vocabulary, as its COMPLETED says; none where it does not."""
    outputs = _outputs(folder) if folder else {}
    return {name: entry["crc32c"] for name, entry in outputs.items() if "crc32c" in entry}


def _outputs(folder: str) -> dict[str, dict[str, Any]]:
    return json.loads(_read(posixpath.join(folder, COMPLETED)))["outputs"]


def _read(path: str) -> bytes:
    return tf.io.gfile.GFile(path, "rb").read()


def load(folder: str, kind: str) -> tf.lookup.StaticHashTable:
    """Token -> its place from 0, or `UNKNOWN`: string to int64."""
    places = tf.lookup.TextFileInitializer(
        posixpath.join(folder, _FILE.format(kind)),
        key_dtype=tf.string,
        key_index=0,
        value_dtype=tf.int64,
        value_index=tf.lookup.TextFileIndex.LINE_NUMBER,
        delimiter="\t",
    )
    # TensorFlow shares other tables of a file by its path: a rebuilt one would have the old ids.
    return tf.lookup.StaticHashTable(places, UNKNOWN, experimental_is_anonymous=True)


def counts(folder: str, kind: str) -> list[int]:
    """How often each token of the file was counted, in their order."""
    with tf.io.gfile.GFile(posixpath.join(folder, _FILE.format(kind))) as file:
        return [int(line.rpartition("\t")[2]) for line in file]


def tokens(table: tf.lookup.StaticHashTable) -> list[str]:
    """The tokens of a table, in their order; also of a table in a module that was loaded."""
    exported = tf.raw_ops.LookupTableExportV2(
        table_handle=table.resource_handle, Tkeys=tf.string, Tvalues=tf.int64
    )
    keys, places = (values.numpy() for values in exported)
    return [token.decode() for token in keys[places.argsort()]]
