"""`python -m model teacher`: embeddings that a strong encoder gives to unlabelled texts."""

import time

from common.errors import InputError
from common.files import claim
from common.origin import synthetic_flag
from model.commands import TeacherOptions
from model.teacher import encoders, targets, texts


def run(options: TeacherOptions) -> None:
    """Writes the embeddings; completes what was interrupted."""
    began = time.monotonic()
    output, files = options.output, texts.find_files(options.texts)
    for file in files:
        if texts.kind_of(file) == texts.TFRECORD and file.name.startswith(("test-", "validation-")):
            raise InputError(f"--texts: {str(file)!r} is held out from training")
    vocabularies = [file for file in files if texts.kind_of(file) == texts.VOCABULARY]
    words, of_words = texts.draw(texts.read_texts(vocabularies))
    others = [file for file in files if file not in vocabularies]
    drawn, read = texts.draw(texts.read_texts(others), limit=options.limit)
    if not drawn and not words:
        raise InputError(f"--texts: {' '.join(options.texts)}: no text in {len(files)} files")
    shards = targets.split(drawn, words, validation_fraction=options.validation_fraction)
    with claim(output):
        teacher = encoders.load(options.encoder)
        job = targets.describe(teacher, shards)
        if targets.is_done(output, job):
            print(f"{output} is complete already; nothing to do")
            return
        said = synthetic_flag(files)
        completed = targets.write(output, job, shards, teacher, said=said)
    print(
        f"{len(drawn) + len(words):,} texts, {completed['dim']} numbers each, written to {output} "
        f"({read + of_words:,} texts read) in {time.monotonic() - began:.0f} s"
    )
