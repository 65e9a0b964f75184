"""Training and validation, with the Model Garden's flags.

python -m model --experiment reddit --mode train_and_eval --model_dir run/ \\
        --config_file model/configs/presets/laptop_dan.yaml \\
        --params_override "task.train_data.input_path=pairs/train-*"
"""

import argparse
import os
import sys
from collections.abc import Sequence

import model


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command; exits with one line and status 1 on an error that the user can fix."""
    arguments = _parser().parse_args(argv)
    # TensorFlow takes 8 seconds to import, and logs at length about missing devices.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from model.distribute import cluster
    from model.errors import InputError, StoppedError, TrainingError
    from model.layers import encoders

    try:
        encoders.import_modules(arguments.import_module)
        model.train(
            arguments.experiment,
            model_dir=arguments.model_dir,
            mode=arguments.mode,
            config_files=arguments.config_file,
            params_override=",".join(arguments.params_override),
            tpu=arguments.tpu,
        )
    except StoppedError as stopped:
        print(stopped, file=sys.stderr)
        cluster.leave(stopped.status)  # in here: what the error holds would wait for dead peers
    except (InputError, TrainingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        cluster.leave(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m model",
        description="Trains and validates; resumes from the last checkpoint of --model_dir.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--experiment", required=True, metavar="NAME", help="reddit, nli or reddit_nli"
    )
    parser.add_argument("--mode", required=True, choices=model.MODES)
    parser.add_argument(
        "--model_dir", required=True, metavar="DIR", help="checkpoints, params.yaml, events"
    )
    parser.add_argument(
        "--config_file",
        action="append",
        default=[],
        metavar="F.yaml",
        help="overrides the experiment's parameters; may be repeated",
    )
    parser.add_argument(
        "--params_override",
        action="append",
        default=[],
        metavar="a.b=c",
        help="further overrides, a.b=c,d=e; may be repeated",
    )
    parser.add_argument(
        "--import_module",
        action="append",
        default=[],
        metavar="NAME",
        help="imports a Python module that registers an encoder; may be given several times",
    )
    parser.add_argument("--tpu", default="", help="address of a TPU")
    return parser


if __name__ == "__main__":
    main()
    from model.distribute import cluster

    cluster.leave(0)
