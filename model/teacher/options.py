"""The options of `python -m model teacher`."""

from dataclasses import dataclass
from pathlib import Path

from common.command_line import Command, Options, option


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
