"""The parts of a file, each a cached input: together one manifest, and one numbering of lines."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from data_pipeline.cache.cached_input import EXAMPLES, CachedInput
from data_pipeline.storage.filesystem import crc32c_of_parts


def dead_letters_of(cached: Iterable[CachedInput]) -> Iterator[bytes]:
    """The malformed lines of all of them; those of a part with their numbers in the file.

    Args:
      cached: files and parts in reading order.

    Raises:
      DamagedFileError: at the end of a file's, if they have changed since they were written.
    """
    before = 0
    for each in cached:
        part = each.about["input"].get("part")
        if part is None or part["start"] == 0:
            before = 0
        for letter in each.dead_letters():
            yield _renumbered(letter, before) if before else letter
        before += part["lines"] if part else 0


def _renumbered(dead_letter: bytes, lines_before: int) -> bytes:
    content = orjson.loads(dead_letter)
    content["line"] += lines_before
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


def manifest_of(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The manifest of a file from those of its parts, in reading order; without its outputs."""
    if len(parts) == 1:
        return parts[0]
    inputs = [part["input"] for part in parts]
    checksums = [(one["crc32c"], one["part"]["end"] - one["part"]["start"]) for one in inputs]
    examples: dict[str, list[str]] = {}
    for part in parts:
        for rule, texts in part["dropped_examples"].items():
            examples[rule] = (examples.get(rule, []) + texts)[:EXAMPLES]
    whole = {name: inputs[0][name] for name in ("path", "bytes", "modified")}
    return {
        "input": whole | {"crc32c": crc32c_of_parts(checksums)},
        "rules": parts[0]["rules"],
        "counts": _total(part["counts"] for part in parts),
        "malformed_reasons": _total(part["malformed_reasons"] for part in parts),
        "dropped_examples": examples,
        "groups": sorted({group for part in parts for group in part["groups"]}),
    }


def _total(counts: Iterable[dict[str, int]]) -> Counter:
    total: Counter = Counter()
    for some in counts:
        total.update(some)
    return total
