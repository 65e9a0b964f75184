"""Embeddings that a strong encoder gives to unlabelled texts: the targets of the teacher task.

    python -m model teacher --encoder sentence-transformers/all-MiniLM-L6-v2 \\
        --texts 'pairs/train-*' 'nli/train/nli-*' --limit 65000 --output teacher/

After an interruption, the same command resumes from the last finished shard.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from data_pipeline.storage.synthetic import synthetic_flag
from model import output_folder
from model.errors import InputError
from model.teacher import encoders, targets
from model.teacher.texts import Drawn, draw, find_files, read_texts

BATCH_SIZE = 64
SHARDS = 16
VALIDATION_FRACTION = 0.02


def main(argv: Sequence[str]) -> None:
    """Runs the command; exits with one line and status 1 on an error that the user can fix."""
    arguments = parser().parse_args(argv)
    try:
        print(make_targets(**vars(arguments)))
    except (InputError, OSError) as error:
        sys.exit(f"error: {' '.join(str(error).split())}")
    except KeyboardInterrupt:
        print("interrupted; run the same command again to complete it", file=sys.stderr)
        sys.exit(130)


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    found = argparse.ArgumentParser(
        prog="python -m model teacher",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    inputs = found.add_argument_group("encoder and texts")
    inputs.add_argument(
        "--encoder",
        required=True,
        metavar="[NAME=]FOLDER",
        help="the folder of a SavedModel of a text module, or a name or folder of a model of "
        "sentence-transformers, which must be installed; model cards show the NAME",
    )
    inputs.add_argument(
        "--texts",
        required=True,
        action="extend",
        nargs="+",
        metavar="FILE",
        help="names or patterns: pairs or NLI pairs in .tfrecord, .txt with a text a line, or a "
        "vocabulary's words.tsv, each with or without .gz; each different text is embedded once",
    )
    inputs.add_argument(
        "--limit",
        type=int,
        default=0,
        metavar="N",
        help="embed a sample of N texts, the same for the same files; default: all",
    )
    outputs = found.add_argument_group("output")
    outputs.add_argument("--output", required=True, metavar="DIR", help="the folder to write")
    outputs.add_argument(
        "--validation_fraction",
        type=float,
        default=VALIDATION_FRACTION,
        metavar="PART",
        help="part of the texts that go to validation-*; default: %(default)s",
    )
    outputs.add_argument(
        "--shards",
        type=int,
        default=SHARDS,
        metavar="N",
        help="how many files train-* to write; default: %(default)s",
    )
    inputs.add_argument(
        "--batch_size",
        type=int,
        default=BATCH_SIZE,
        metavar="N",
        help="texts that the encoder gets at once; default: %(default)s",
    )
    return found


def make_targets(
    encoder: str,
    texts: Sequence[str],
    output: str,
    *,
    limit: int = 0,
    validation_fraction: float = VALIDATION_FRACTION,
    shards: int = SHARDS,
    batch_size: int = BATCH_SIZE,
) -> str:
    """Writes the embeddings of texts; returns a line that says what was written.

    Args:
      encoder: a SavedModel's folder, or a name or folder of a model of sentence-transformers;
        NAME=FOLDER calls it NAME.
      texts: names or patterns of the files with the texts.
      output: the folder to write.
      limit: the number of texts, a sample of all; 0 for all.
      validation_fraction: the part of them in `validation-*`.
      shards: number of files `train-*`.
      batch_size: texts that the encoder gets at once.

    Raises:
      InputError: if an argument, a file or the encoder is unusable, or the folder holds something
        else.
      ClaimedError: if another job works in the folder.
    """
    _require("--limit", limit, limit >= 0, "whole numbers of at least 1, or 0 for all texts")
    _require("--shards", shards, shards > 0, "whole numbers of at least 1")
    _require("--batch_size", batch_size, batch_size > 0, "whole numbers of at least 1")
    _require(
        "--validation_fraction",
        validation_fraction,
        0 <= validation_fraction < 1,
        "numbers from 0 to below 1",
    )
    began = time.monotonic()
    files = find_files(texts)
    drawn = _draw(texts, files, limit)
    folder = Path(output)
    with output_folder.claimed(folder):
        written = targets.split(drawn.texts, shards=shards, validation_fraction=validation_fraction)
        teacher = encoders.load(encoder)
        job = targets.describe(teacher, written)
        if targets.is_done(folder, job):
            return f"{output} is complete already; nothing to do"
        with tqdm(total=len(drawn.texts), desc="embedding", unit=" texts") as progress:

            def embed(some: Sequence[str]) -> np.ndarray:
                return _embed(teacher, some, batch_size=batch_size, progress=progress)

            completed = targets.write(
                *(folder, job, written, embed),
                written=progress.update,
                said=synthetic_flag(map(str, files)),
            )
    about = "" if drawn.is_exact else "about "
    return (
        f"{len(drawn.texts):,} texts, {completed['dim']} numbers each, written to {output} "
        f"({drawn.read:,} texts read, {about}{drawn.different:,} different) in "
        f"{time.monotonic() - began:.0f} s"
    )


def _require(option: str, value: float, is_accepted: bool, accepted: str) -> None:
    if not is_accepted:
        raise InputError(f"{option}: {value}; accepted: {accepted}")


def _draw(patterns: Sequence[str], files: Sequence[Path], limit: int) -> Drawn:
    drawn = draw(read_texts(files), limit=limit)
    if not drawn.texts:
        names = " ".join(map(repr, patterns))
        held = f"{drawn.read:,} blank texts and no other" if drawn.read else "no text"
        raise InputError(f"--texts: {names}: {held}; accepted: files with texts")
    return drawn


def _embed(
    teacher: encoders.Teacher, some: Sequence[str], *, batch_size: int, progress: tqdm
) -> np.ndarray:
    """Embeddings of texts, in batches of similar lengths: float32 [texts, dim].

    The longest come first: if they do not fit into memory, that shows at once.
    """
    order = sorted(range(len(some)), key=lambda index: -len(some[index]))
    rows: np.ndarray | None = None
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        found = teacher.embed([some[index] for index in batch])
        if rows is None:
            rows = np.empty([len(some), found.shape[1]], np.float32)
        rows[batch] = found
        progress.update(len(batch))
    assert rows is not None, "a shard has texts"
    return rows
