"""Manifests read back: `month.json` and `COMPLETED`, with everything that their readers use.

A manifest can be damaged, or be another program's file of the same name. It is checked once, as
it is read, so that no reader finds a field missing.
"""

import json
from typing import Any, NamedTuple

NUMBER = (int, float)


class Each(NamedTuple):
    """The shape of an object with any names, whose values all have one shape."""

    of: Any


INPUT = {"path": str, "bytes": int, "modified": NUMBER, "crc32c": str}
"""The shape of an input file in either manifest."""


def parse_manifest(content: bytes, shape: Any) -> Any:
    """Reads a manifest.

    Args:
      content: the file's.
      shape: the type or types of a value, the shapes of an object's fields by name, or `Each`.

    Raises:
      ValueError: if it is not JSON or not of this shape; names the field.
    """
    try:
        manifest = json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    _require(manifest, shape, "the manifest")
    return manifest


def _require(value: Any, shape: Any, name: str) -> None:
    is_object = isinstance(shape, dict | Each)
    if not isinstance(value, dict if is_object else shape):
        raise ValueError(f"{name} is of the wrong type, {type(value).__name__}")
    if is_object:
        fields = dict.fromkeys(value, shape.of) if isinstance(shape, Each) else shape
        for field, inner in fields.items():
            if field not in value:
                raise ValueError(f"{field!r} is missing in {name}")
            _require(value[field], inner, repr(field))
