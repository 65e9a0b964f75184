"""`python -m model teacher`: embeddings that a strong encoder gives to unlabelled texts."""

import time
from dataclasses import dataclass
from pathlib import Path

from common.command_line import Command, Options, option
from common.errors import InputError
from common.files import claim


@dataclass(frozen=True, kw_only=True)
class TeacherOptions(Options):
    """What is embedded, by whom, and where it goes."""

    encoder: str = option(
        help="the folder of a SavedModel of a text module, or a name or folder of a model of "
        "sentence-transformers, which must be installed; model cards show the NAME",
        metavar="[NAME=]FOLDER",
    )
    texts: tuple[str, ...] = option(
        help="names or patterns: pairs or NLI pairs in .tfrecord, .txt with a text a line, or a "
        "vocabulary's words.tsv, each with or without .gz; each different text is embedded once",
        metavar="FILE",
    )
    output: Path = option(
        help="the folder to write; what an interrupted command has finished is kept", metavar="DIR"
    )
    limit: int = option(
        0, help="embed a sample of N texts, the same for the same files; 0: all", minimum=0
    )
    validation_fraction: float = option(
        0.02, help="part of the texts that go to validation-*", minimum=0, below=1, metavar="PART"
    )


TEACHER = Command(
    "teacher",
    TeacherOptions,
    run="model.teacher.command:run",
    summary="write a teacher's embeddings of texts",
    example="--encoder sentence-transformers/all-MiniLM-L6-v2 --texts 'pairs/train-*' "
    "--limit 65000 --output teacher/",
)


def run(options: TeacherOptions) -> None:
    """Writes the embeddings; completes what was interrupted."""
    from data_pipeline.storage.synthetic import synthetic_flag
    from model.teacher import encoders, targets, texts

    began = time.monotonic()
    output, files = options.output, texts.find_files(options.texts)
    for file in files:
        is_held_out = file.name.startswith(("test-", "validation-"))
        if is_held_out and texts.kind_of(file) == texts.TFRECORD:
            raise InputError(f"--texts: {str(file)!r} is held out from training")
    drawn, read = texts.draw(texts.read_texts(files), limit=options.limit)
    if not drawn:
        raise InputError(f"--texts: {' '.join(options.texts)}: no text in {len(files)} files")
    shards = targets.split(drawn, validation_fraction=options.validation_fraction)
    with claim(output):
        teacher = encoders.load(options.encoder)
        job = targets.describe(teacher, shards)
        if targets.is_done(output, job):
            print(f"{output} is complete already; nothing to do")
            return
        said = synthetic_flag(map(str, files))
        completed = targets.write(output, job, shards, teacher, said=said)
    print(
        f"{len(drawn):,} texts, {completed['dim']} numbers each, written to {output} "
        f"({read:,} texts read) in {time.monotonic() - began:.0f} s"
    )
