"""The commands of `python -m model`, and their options."""

from dataclasses import dataclass
from pathlib import Path

from common.command_line import Command, Options, option
from common.errors import InputError
from model import MODES
from model.configs import EXPERIMENTS, PRESETS

_NEEDED = ("experiment", "mode", "model_dir")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(Options):
    """Train and validate (the default command)."""

    experiment: str | None = option(
        None,
        help="the tasks; required unless --print_config is given, which takes reddit by default",
        choices=EXPERIMENTS,
    )
    mode: str | None = option(None, help="required unless --print_config is given", choices=MODES)
    model_dir: str | None = option(
        None,
        help="checkpoints, params.yaml, events; training resumes from its last checkpoint; "
        "required unless --print_config is given",
        metavar="DIR",
    )
    config_file: tuple[str, ...] = option(
        (),
        help="YAML files that override the experiment's parameters, or presets: "
        + ", ".join(sorted(path.stem for path in PRESETS.glob("*.yaml"))),
        metavar="F.yaml",
    )
    params_override: tuple[str, ...] = option(
        (), help="further overrides, a.b=c,d=e; values with commas in quotes", metavar="a.b=c"
    )
    import_module: tuple[str, ...] = option(
        (), help="imports Python modules that register encoders", metavar="NAME"
    )
    print_config: bool = option(
        False, help="print all parameters as YAML, and stop; needs nothing else"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        missing = [f"--{name}" for name in _NEEDED if not getattr(self, name)]
        if missing and not self.print_config:
            raise InputError(f"{', '.join(missing)}: missing; required unless --print_config")


TRAIN = Command(
    "train",
    TrainOptions,
    run="model.training.command:train",
    example="--experiment reddit --mode train --model_dir run/ --config_file laptop_dan "
    '--params_override "task.train_data.input_path=pairs/train-*"',
)


@dataclass(frozen=True, kw_only=True)
class TeacherOptions(Options):
    """Write a teacher's embeddings of texts."""

    encoder: tuple[str, ...] = option(
        help="the folder of a SavedModel of a text module, universal-sentence-encoder, wordllama, "
        "or a name or folder of a model of sentence-transformers, which must be installed; model "
        "cards show the NAME; the cosines of several are averaged",
        metavar="[NAME=]FOLDER",
    )
    texts: tuple[str, ...] = option(
        help="names or patterns: pairs or NLI pairs in .tfrecord, .txt with a text a line, or a "
        "vocabulary's words.tsv, each with or without .gz; each different text is embedded once, "
        "words into files of their own",
        metavar="FILE",
    )
    output: Path = option(
        help="the folder to write; what an interrupted command has finished is kept", metavar="DIR"
    )
    limit: int = option(
        0,
        help="embed a sample of N texts, the same for the same files, and all words; 0: all",
        minimum=0,
    )
    validation_fraction: float = option(
        0.02, help="part of the texts that go to validation-*", minimum=0, below=1, metavar="PART"
    )


TEACHER = Command(
    "teacher",
    TeacherOptions,
    run="model.teacher.command:run",
    example="--encoder sentence-transformers/all-MiniLM-L6-v2 --texts 'pairs/train-*' "
    "--limit 65000 --output teacher/",
)

COMMANDS = (TRAIN, TEACHER)
