"""The options of `python -m model`, and what runs them."""

import os
import signal
import sys
from dataclasses import dataclass

from common.command_line import Command, Options, option
from common.errors import InputError, message_of
from model import MODES
from model.configs import EXPERIMENTS, PRESETS

_NEEDED = ("experiment", "mode", "model_dir")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(Options):
    """What is trained, with which parameters, and where it goes."""

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
        (),
        help="further overrides, a.b=c,d=e; values with commas in quotes",
        metavar="a.b=c",
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
    run="model.commands:train",
    summary="train and validate; the default command",
    example="--experiment reddit --mode train --model_dir run/ --config_file laptop_dan "
    '--params_override "task.train_data.input_path=pairs/train-*"',
)


def train(options: TrainOptions) -> None:
    """Trains, validates or prints the parameters."""
    from model import cluster
    from model.errors import StoppedError

    try:
        _train(options)
    except StoppedError as stopped:
        print(stopped, file=sys.stderr)
        cluster.leave(stopped.status)  # in here: what the error holds would wait for dead peers
    except BaseException as error:
        if not os.environ.get("TF_CONFIG"):
            raise
        if isinstance(error, Exception):
            print(f"error: {message_of(error)}", file=sys.stderr)
        interrupted = isinstance(error, KeyboardInterrupt)
        cluster.leave(getattr(error, "code", 128 + signal.SIGINT if interrupted else 1))


def _train(options: TrainOptions) -> None:
    import yaml

    from model.configs import parsing
    from model.layers import encoders
    from model.training import run

    encoders.import_modules(options.import_module)
    if options.print_config:
        params = parsing.parse(
            experiment=options.experiment or "reddit",
            config_files=options.config_file,
            params_override=options.params_override,
        )
        print(yaml.safe_dump(params.as_dict(), sort_keys=False), end="")
        return
    run.train(
        str(options.experiment),
        model_dir=str(options.model_dir),
        mode=str(options.mode),
        config_files=options.config_file,
        params_override=options.params_override,
    )
