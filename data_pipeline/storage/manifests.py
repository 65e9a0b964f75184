"""Manifests read back: COMPLETED and `cached_input.json`, with every field that is used.

A manifest can be damaged, or be another program's file of the same name. It is checked once, as
it is read, so that no reader finds a field missing.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from data_pipeline.storage.inputs import InputFile


class Each(NamedTuple):
    """The shape of an object with any names, whose values all have one shape."""

    of: Any


INPUT_SHAPE = {"path": str, "bytes": int, "modified": (int, float), "crc32c": str}
"""The shape of an input file in either manifest."""
COMPLETED_SHAPE = {"inputs": Each(INPUT_SHAPE), "options": dict, "outputs": Each({"bytes": int})}


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


def differences_of(
    marker: dict[str, Any],
    inputs: Sequence[InputFile],
    options: dict[str, Any],
    *,
    in_order: bool = True,
) -> Iterator[str]:
    """How the job of a COMPLETED differs from one with these inputs and options.

    The order of the inputs counts unless `in_order` is false: of messages with one id the first is
    kept.
    """
    before, now = marker["inputs"], {file.full_path: file for file in inputs}
    changed = sorted(
        path
        for path in before | now
        if path not in before or path not in now or not now[path].is_unchanged(before[path])
    )
    if changed:
        shown = ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
        differ = "input differs" if len(changed) == 1 else "inputs differ"
        yield f"{len(changed)} {differ}: {shown}"
    elif in_order and list(before) != list(now):
        first = next(path for path, other in zip(before, now, strict=True) if path != other)
        yield f"its inputs were in another order, from {first} on"
    earlier = marker["options"]
    for name in sorted(earlier | options):
        if earlier.get(name) != options.get(name):
            yield f"its {name} was {earlier.get(name)!r}, now {options.get(name)!r}"
