"""`python -m model train`: trains, validates, or prints the parameters."""

import os
import signal
import sys

import yaml

from common.errors import message_of
from model import cluster
from model.commands import TrainOptions
from model.configs import parsing
from model.errors import StoppedError
from model.layers import encoders
from model.training import run


def train(options: TrainOptions) -> None:
    """Trains, validates or prints the parameters."""
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
    encoders.import_modules(options.import_module)
    experiment = options.experiment or "reddit"
    given = {"config_files": options.config_file, "params_override": options.params_override}
    if options.print_config:
        params = parsing.parse(experiment=experiment, **given)
        print(yaml.safe_dump(params.as_dict(), sort_keys=False), end="")
        return
    run.train(experiment, model_dir=str(options.model_dir), mode=str(options.mode), **given)
