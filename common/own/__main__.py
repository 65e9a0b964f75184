"""Trains a module on your own conversations, and says whether to use it.

python -m common.own --input EXPORT --format slack --output DIR
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from common import command_line
from common.command_line import Command, Options, option
from common.errors import InputError

FORMATS = (
    *("conversations", "pairs", "reddit"),
    *("slack", "discord", "telegram", "mbox", "stackexchange", "hackernews", "zendesk"),
    "dialogues",
)
"""Those with commands of data_pipeline, and those of its command `import`."""
PRETRAINED = Path(__file__).parents[2] / "pretrained" / "conversations-small"
"""In a checkout; an installed copy has no module."""


@dataclass(frozen=True, kw_only=True)
class OwnOptions(Options):
    """Train a module on an export of conversations and compare it (the default)."""

    input: tuple[str, ...] = option(help="the export, as --input of data_pipeline", metavar="GLOB")
    format: str = option(
        help="conversations, pairs, reddit, or a format of data_pipeline import", choices=FORMATS
    )
    output: Path = option(help="the folder to write", metavar="DIR")
    labelled: Path | None = option(
        None,
        help="pairs of texts (sentence1, sentence2) and a score, as --data of evaluation sts",
        metavar="FILE",
    )
    pretrained: Path | None = option(
        None,
        help="a module to begin with and to compare with; default: that of the repository",
        metavar="DIR",
    )
    rivals: tuple[str, ...] = option(
        (),
        help="further encoders to compare with, which you would take instead: folders of a "
        "SavedModel, a StaticEmbedding or a model of model2vec",
        metavar="DIR",
    )

    def __post_init__(self) -> None:
        """Checks what must be there before anything is made."""
        super().__post_init__()
        if self.pretrained is None and PRETRAINED.is_dir():
            object.__setattr__(self, "pretrained", PRETRAINED)
        given = [("labelled", self.labelled), ("pretrained", self.pretrained)]
        for name, path in [*given, *(("rivals", Path(rival)) for rival in self.rivals)]:
            if path and not path.exists():
                raise InputError(f"--{name}: {path} is not there")


COMMANDS = [
    Command(
        "run",
        OwnOptions,
        run="common.own.run:run",
        example="--input export.zip --format slack --output own/",
        others="Options of the data_pipeline command of the format are accepted, too.",
    )
]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command."""
    name = "common.own" if command_line.runner == "python -m" else "own"
    about = (__doc__ or "").replace("common.own", name)
    command_line.main(name, about, COMMANDS, argv, default="run")


if __name__ == "__main__":
    main()
