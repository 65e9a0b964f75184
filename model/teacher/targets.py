"""The output folder of targets: written shard by shard, published whole, COMPLETED last.

    OUTPUT/_claim                               while a job works there: who it is
    OUTPUT/_incomplete/job.json                 the encoder and the texts: only the same job goes on
    OUTPUT/_incomplete/train-00000-of-00016.tfrecord    a shard that is finished
    OUTPUT/train-*, validation-*, then COMPLETED        all of them

A record is a `tf.train.Example` with `text` (UTF-8), `embedding` (little-endian half floats, of
unit length, as bytes) and `text_id` (a hash of the text).
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import google_crc32c
import numpy as np

from data_pipeline.pairs.tfrecord import decode_example, encode_example, frame, read_frames
from model import output_folder
from model.errors import InputError
from model.teacher.encoders import Teacher
from model.teacher.texts import text_id

TEXT = "text"
EMBEDDING = "embedding"
TEXT_ID = "text_id"
"""The features of a record."""
HALF_FLOAT = np.dtype("<f2")

COMPLETED = "COMPLETED"
_INCOMPLETE = "_incomplete"
_JOB = "job.json"
_CHUNK_BYTES = 1 << 20


class Shard(NamedTuple):
    """A file, and the texts that it gets."""

    name: str
    texts: Sequence[str]


def split(texts: Sequence[str], *, shards: int, validation_fraction: float) -> list[Shard]:
    """Divides texts among `validation-*`, one shard, and `train-*`, shards of about equal sizes.

    Args:
      texts: in an order as good as shuffled.
      shards: for training; fewer if there are fewer texts.
      validation_fraction: of the texts, rounded down.
    """
    held_out = int(len(texts) * validation_fraction)
    return [
        *_shards("validation", texts[:held_out], 1),
        *_shards("train", texts[held_out:], shards),
    ]


def _shards(split: str, texts: Sequence[str], number: int) -> list[Shard]:
    number = min(number, len(texts))
    edges = [len(texts) * index // max(number, 1) for index in range(number + 1)]
    return [
        Shard(f"{split}-{index:05d}-of-{number:05d}.tfrecord", texts[start:end])
        for index, (start, end) in enumerate(pairwise(edges))
    ]


def describe(teacher: Teacher, shards: Sequence[Shard]) -> dict[str, Any]:
    """What a job makes, for JSON: another encoder, other texts or shards are another job."""
    digest = hashlib.sha256()
    for shard in shards:
        for text in shard.texts:
            digest.update(text_id(text).encode())
    return {
        "encoder": {"name": teacher.name, "fingerprint": teacher.fingerprint},
        "texts": {"count": sum(len(shard.texts) for shard in shards), "sha256": digest.hexdigest()},
        "shards": {shard.name: len(shard.texts) for shard in shards},
    }


def is_done(output: Path, job: dict[str, Any]) -> bool:
    """Whether this same job has completed in a folder.

    Raises:
      InputError: if another job has, or has begun, or the folder holds something else, or lacks
        files of the completed job.
    """
    for path, state in ((output / COMPLETED, "the output"), (_incomplete(output) / _JOB, "a part")):
        if path.exists():
            earlier = _require_same(job, path, output, state=state)
            if path.name != COMPLETED:
                return False
            _require_whole(earlier, output)
            return True
    incomplete = _incomplete(output)
    if incomplete.is_dir() and not any(incomplete.iterdir()):
        incomplete.rmdir()  # a job was stopped before it wrote anything
    if not output_folder.is_free(output):
        raise InputError(f"--output: {str(output)!r} exists and is not empty; name another folder")
    return False


def _require_same(job: dict[str, Any], path: Path, output: Path, *, state: str) -> dict[str, Any]:
    try:
        earlier = json.loads(path.read_text())
        differences = [name for name in job if _identity(earlier[name]) != _identity(job[name])]
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"--output: {str(path)!r} is not what this program writes ({error!r}); "
            "name another folder"
        ) from error
    if differences:
        raise InputError(
            f"--output: {str(output)!r} holds {state} of another job, with other "
            f"{' and '.join(differences)}; name another folder"
        )
    return earlier


def _require_whole(completed: dict[str, Any], output: Path) -> None:
    """Checks that the files are there with their sizes; reading them checks the rest."""
    changed = [
        name
        for name, about in completed["outputs"].items()
        if not (output / name).is_file() or (output / name).stat().st_size != about["bytes"]
    ]
    if changed:
        raise InputError(
            f"--output: {str(output)!r} is not as the job left it: {changed[0]!r} "
            f"({len(changed)} files in all) is missing or has another size; name another folder"
        )


def _identity(value: Any) -> Any:
    """Without an encoder's name: the fingerprint tells."""
    return value["fingerprint"] if isinstance(value, dict) and "fingerprint" in value else value


def write(
    output: Path,
    job: dict[str, Any],
    shards: Sequence[Shard],
    embed: Callable[[Sequence[str]], np.ndarray],
    *,
    written: Callable[[int], object],
    said: dict[str, Any],
) -> dict[str, Any]:
    """Writes the shards that are not there yet, then publishes all; returns COMPLETED's contents.

    Args:
      output: a folder that is claimed, and empty or with a part of the same job.
      job: as `describe` gives it.
      shards: what to write.
      embed: a shard's texts -> float32 [texts, dim], of unit length.
      written: called with the number of texts of each shard that is there already.
      said: what COMPLETED says besides, which makes it no other job.
    """
    incomplete = _incomplete(output)
    incomplete.mkdir(exist_ok=True)
    output_folder.write_json(incomplete / _JOB, job)
    for shard in shards:
        if any((folder / shard.name).exists() for folder in (incomplete, output)):
            written(len(shard.texts))
            continue
        content = b"".join(map(_record, shard.texts, embed(shard.texts)))
        with output_folder.aside(incomplete / shard.name) as new:
            new.write_bytes(content)
    for shard in shards:
        if (incomplete / shard.name).exists():
            (incomplete / shard.name).rename(output / shard.name)
    completed = (
        job
        | said
        | {
            "dim": _dim(output / shards[0].name),
            "outputs": {
                shard.name: _describe(output / shard.name) | {"records": len(shard.texts)}
                for shard in shards
            },
        }
    )
    output_folder.write_json(output / COMPLETED, completed)
    shutil.rmtree(incomplete)
    return completed


def _record(text: str, embedding: np.ndarray) -> bytes:
    features: dict[str, str | bytes] = {
        TEXT: text,
        EMBEDDING: embedding.astype(HALF_FLOAT).tobytes(),
        TEXT_ID: text_id(text),
    }
    return frame(encode_example(features))


def _describe(file: Path) -> dict[str, Any]:
    content = file.read_bytes()
    return {"bytes": len(content), "crc32c": f"{google_crc32c.value(content):08x}"}


def read(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """The texts of a folder and their embeddings, float16 [dim], validation's among them.

    Raises:
      InputError: if the folder is not complete or a file is damaged; names it.
    """
    try:
        names = json.loads((folder / COMPLETED).read_text())["outputs"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"{folder}: not a folder that `python -m model teacher` has completed ({error!r})"
        ) from error
    for name in names:
        try:
            with (folder / name).open("rb") as stream:
                for record in read_frames(iter(partial(stream.read, _CHUNK_BYTES), b"")):
                    features = decode_example(record, (TEXT, EMBEDDING))
                    text, embedding = features[TEXT], features[EMBEDDING]
                    assert isinstance(text, bytes)
                    assert isinstance(embedding, bytes)
                    yield text.decode(), np.frombuffer(embedding, HALF_FLOAT)
        except (OSError, ValueError) as error:
            raise InputError(f"{folder / name}: {error}") from error


def _dim(file: Path) -> int:
    """The numbers of the embedding of the first record."""
    with file.open("rb") as stream:
        record = next(read_frames(iter(partial(stream.read, _CHUNK_BYTES), b"")))
    embedding = decode_example(record)[EMBEDDING]
    assert isinstance(embedding, bytes)
    return len(embedding) // HALF_FLOAT.itemsize


def _incomplete(output: Path) -> Path:
    return output / _INCOMPLETE
