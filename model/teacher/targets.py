"""The output folder of targets: written shard by shard, published whole, COMPLETED last.

    OUTPUT/_incomplete/job.json                 the encoder and the texts: only the same job goes on
    OUTPUT/_incomplete/train-00000-of-00016.tfrecord    a shard that is finished
    OUTPUT/train-*, validation-*, words-*, then COMPLETED        all of them

A record is a `tf.train.Example` with `text` (UTF-8), `embedding` (little-endian half floats, of
unit length, as bytes) and `text_id` (a hash of the text).
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
from tqdm import tqdm

from common.errors import InputError, reading
from common.files import COMPLETED, aside, require_only, write_json
from common.tfrecord import Features, encode_example, frame, parse_records
from model.teacher.encoders import Teacher
from model.teacher.texts import text_id

TEXT, EMBEDDING, TEXT_ID = "text", "embedding", "text_id"
"""The features of a record."""
SHARDS = 16
"""Files `train-*`, and `words-*`; fewer if there are fewer texts."""
Shards = dict[str, Sequence[str]]
"""The name of each file, and the texts that it gets."""
_HALF_FLOAT = np.dtype("<f2")
_INCOMPLETE, _JOB, _COMPONENTS = "_incomplete", "job.json", "components.npy"
_TRAIN, _VALIDATION, _WORDS = "train", "validation", "words"


def split(texts: Sequence[str], words: Sequence[str] = (), *, validation_fraction: float) -> Shards:
    """Divides texts among `validation-*`, one file, and `train-*`, files of about equal sizes.

    The texts are in an order as good as shuffled; their fraction is rounded down. `words`, of a
    vocabulary, are for `words-*`: to begin with, not to train on.
    """
    held_out, found = int(len(texts) * validation_fraction), {}
    sides = {_VALIDATION: (texts[:held_out], 1), _TRAIN: (texts[held_out:], SHARDS)}
    sides[_WORDS] = (words, SHARDS)
    for side, (some, most) in sides.items():
        number = min(most, len(some))
        for index in range(number):
            start, end = (len(some) * edge // number for edge in (index, index + 1))
            found[f"{side}-{index:05d}-of-{number:05d}.tfrecord"] = some[start:end]
    return found


def describe(teacher: Teacher, shards: Shards) -> dict[str, Any]:
    """What a job makes, for JSON: another encoder, other texts or shards are another job."""
    ids = [text_id(text) for texts in shards.values() for text in texts]
    digest = hashlib.sha256("".join(ids).encode()).hexdigest()
    return {
        "encoder": {"name": teacher.name, "fingerprint": teacher.fingerprint},
        "texts": {"count": len(ids), "sha256": digest},
        "shards": {name: len(texts) for name, texts in shards.items()},
    }


def is_done(output: Path, job: dict[str, Any]) -> bool:
    """Whether this same job has completed in a folder; refuses one that holds anything else."""
    for path in (output / COMPLETED, output / _INCOMPLETE / _JOB):
        if path.exists():
            before = json.loads(path.read_text())
            if _identity(before) != _identity(job):
                raise InputError(f"--output: {path} is of another job; name another folder")
            for name, about in before.get("outputs", {}).items():
                file = output / name
                if not file.is_file() or file.stat().st_size != about["bytes"]:
                    raise InputError(f"--output: {file}: cut or missing; name another folder")
            return path.name == COMPLETED
    require_only(output, _INCOMPLETE)
    return False


def _identity(job: dict[str, Any]) -> tuple:
    """Without the encoder's name: its fingerprint tells."""
    return job.get("encoder", {}).get("fingerprint"), job.get("texts"), job.get("shards")


def write(
    output: Path, job: dict[str, Any], shards: Shards, teacher: Teacher, *, said: dict[str, Any]
) -> dict[str, Any]:
    """Writes the shards that are not there yet, then publishes all; returns COMPLETED's contents.

    The folder is claimed, and empty or with a part of the same job, as `describe` gives it. `said`
    is what COMPLETED says besides, which makes it no other job.
    """
    incomplete, outputs = output / _INCOMPLETE, {}
    write_json(incomplete / _JOB, job)
    turned = _components(incomplete, shards, teacher) if teacher.of_several else None
    for name, texts in tqdm(shards.items(), "embedding", unit=" shards"):
        if not any((folder / name).exists() for folder in (incomplete, output)):
            rows = teacher.embed(texts)
            with aside(incomplete / name) as new:
                rows = rows if turned is None else rows @ turned
                new.write_bytes(b"".join(map(_record, texts, rows)))
    for name, texts in shards.items():
        if (incomplete / name).exists():
            (incomplete / name).rename(output / name)
        content = (output / name).read_bytes()
        checksum = f"{google_crc32c.value(content):08x}"
        outputs[name] = {"bytes": len(content), "crc32c": checksum, "records": len(texts)}
    _, first = next(_read(output / next(iter(shards))))
    completed = job | said | {"dim": len(first), "outputs": outputs}
    write_json(output / COMPLETED, completed)
    shutil.rmtree(incomplete)
    return completed


def _components(incomplete: Path, shards: Shards, teacher: Teacher) -> np.ndarray:
    """The principal components of a shard's embeddings, the first first: float32 [dim, dim].

    Without them the first numbers, all that a narrower model learns, would be those of the first
    encoder. Turned by them, all embeddings keep their cosines.
    """
    if not (file := incomplete / _COMPONENTS).exists():
        texts = next((shards[name] for name in shards if name.startswith(_TRAIN)), None)
        rows = teacher.embed(texts or next(iter(shards.values())))
        _, components = np.linalg.eigh(rows.T @ rows)  # by rising eigenvalue
        with aside(file) as new, new.open("wb") as stream:
            np.save(stream, components[:, ::-1])
    return np.load(file)


def _record(text: str, embedding: np.ndarray) -> bytes:
    half = embedding.astype(_HALF_FLOAT).tobytes()
    return frame(encode_example({TEXT: text, EMBEDDING: half, TEXT_ID: text_id(text)}))


def read(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """The words of a complete folder, or else its texts, and their embeddings, float16 [dim]."""
    with reading(f"{folder}: not a folder that `python -m model teacher` has completed"):
        names = json.loads((folder / COMPLETED).read_text())["outputs"]
    for name in [name for name in names if name.startswith(_WORDS)] or names:
        yield from _read(folder / name)


def _read(file: Path) -> Iterator[tuple[str, np.ndarray]]:
    def parse(found: Features) -> tuple[str, np.ndarray]:
        return found[TEXT].decode(), np.frombuffer(found[EMBEDDING], _HALF_FLOAT)

    return parse_records(file, parse)
