"""`python -m model teacher`: embeddings that a strong encoder gives to unlabelled texts."""

import time
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from common.errors import InputError
from common.files import claim
from data_pipeline.storage.synthetic import synthetic_flag
from model.teacher import encoders, targets, texts
from model.teacher.options import TeacherOptions


def run(options: TeacherOptions) -> None:
    """Writes the embeddings; completes what was interrupted.

    Raises:
      InputError: if a file or the encoder is unusable, or the folder holds something else.
    """
    began = time.monotonic()
    output, files = options.output, texts.find_files(options.texts)
    texts.require_training(files)
    drawn, read = texts.draw(texts.read_texts(files), limit=options.limit)
    if not drawn:
        raise InputError(f"--texts: {' '.join(options.texts)}: no text in {read:,} lines")
    shards = targets.split(
        drawn, shards=options.shards, validation_fraction=options.validation_fraction
    )
    with claim(output):
        teacher = encoders.load(options.encoder)
        job = targets.describe(teacher, shards)
        if targets.is_done(output, job):
            print(f"{output} is complete already; nothing to do")
            return
        with tqdm(total=len(drawn), desc="embedding", unit=" texts") as progress:

            def embed(some: Sequence[str]) -> np.ndarray:
                rows = _embed(teacher, some, batch_size=options.batch_size)
                progress.update(len(some))
                return rows

            said = synthetic_flag(map(str, files))
            completed = targets.write(output, job, shards, embed, said=said)
    print(
        f"{len(drawn):,} texts, {completed['dim']} numbers each, written to {output} "
        f"({read:,} texts read) in {time.monotonic() - began:.0f} s"
    )


def _embed(teacher: encoders.Teacher, some: Sequence[str], *, batch_size: int) -> np.ndarray:
    """Embeddings of texts, in batches of similar lengths: float32 [texts, dim].

    The longest come first: if they do not fit into memory, that shows at once.
    """
    order = sorted(range(len(some)), key=lambda index: -len(some[index]))
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    rows = np.concatenate([teacher.embed([some[index] for index in batch]) for batch in batches])
    return rows[np.argsort(order)]
