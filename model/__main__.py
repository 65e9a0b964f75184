"""Training and validation, with the Model Garden's flags.

python -m model --experiment reddit --mode train --model_dir run/ \\
        --config_file laptop_dan \\
        --params_override "task.train_data.input_path=pairs/train-*"
python -m model --experiment reddit --config_file laptop_dan --print_config
python -m model teacher --help
"""

import argparse
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import model
from model.configs import PRESETS

_EXAMPLE = """\
python -m model --experiment reddit --mode train --model_dir run/ \\
      --config_file laptop_dan \\
      --params_override "task.train_data.input_path=pairs/train-*"
  python -m model --experiment reddit --config_file laptop_dan --print_config"""
_TEACHER = "teacher"
"""The command that writes the targets of the experiments with a teacher."""
_DEFAULT = "reddit"
"""The experiment whose parameters are printed if none is named."""
_NO_COOCCURRENCE = "task.word_cooccurrence_records=0"
"""Word vectors begin either from a file or from co-occurrence counts."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command; exits with one line and status 1 on an error that the user can fix."""
    # TensorFlow takes 8 seconds to import, and logs at length about missing devices.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Makes tf.keras the Keras of our layers, tf_keras: importing Keras 3 as well takes a second.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # else one process takes all memory
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == [_TEACHER]:
        from model.teacher import command

        command.main(words[1:])
        return
    parser = _parser()
    arguments = parser.parse_args(words)
    if not arguments.print_config:
        needed = ("experiment", "mode", "model_dir")
        missing = [name for name in needed if getattr(arguments, name) is None]
        if missing:
            parser.error(f"the following arguments are required: --{', --'.join(missing)}")
    from model.distribute import cluster
    from model.errors import InputError, StoppedError, TrainingError
    from model.layers import encoders

    try:
        encoders.import_modules(arguments.import_module)
        overrides = list(arguments.params_override)
        if arguments.word_vectors:
            quoted = "'" + arguments.word_vectors.replace("'", "''") + "'"
            overrides += [f"task.word_vectors={quoted}", _NO_COOCCURRENCE]
        given = {
            "config_files": arguments.config_file,
            "params_override": overrides,
            "tpu": arguments.tpu,
        }
        if arguments.print_config:
            _print_config(arguments.experiment or _DEFAULT, **given)
        else:
            model.train(
                arguments.experiment,
                model_dir=arguments.model_dir,
                mode=arguments.mode,
                **given,
            )
    except StoppedError as stopped:
        print(stopped, file=sys.stderr)
        cluster.leave(stopped.status)  # in here: what the error holds would wait for dead peers
    except KeyboardInterrupt:  # while validating; training saves before it ends
        print("interrupted", file=sys.stderr)
        cluster.leave(128 + signal.SIGINT)
    except (InputError, TrainingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        cluster.leave(1)


def _print_config(experiment: str, **given: Any) -> None:
    """Prints all parameters of a run, checked, as YAML that `--config_file` takes."""
    import yaml

    from model.configs import parsing

    params = parsing.parse(experiment=experiment, **given).as_dict()
    print(yaml.safe_dump(params, sort_keys=False), end="")


def _presets() -> str:
    """The presets, each with the first line of its file."""
    lines = ["presets of --config_file, in model/configs/presets:"]
    for path in sorted(PRESETS.glob("*.yaml")):
        first = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").partition(":")[0]
        lines.append(f"  {path.stem:22} {textwrap.shorten(first, 70, placeholder=' ...')}")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m model",
        description="Trains and validates; resumes from the last checkpoint of --model_dir. "
        "`python -m model teacher --help`: embeddings of texts by a teacher.",
        epilog=f"{_presets()}\n\nexample:\n  {_EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    run = parser.add_argument_group("run")
    run.add_argument(
        "--experiment",
        metavar="NAME",
        help="reddit, nli, teacher, reddit_nli, reddit_teacher or reddit_nli_teacher; required "
        f"unless --print_config is given, which takes {_DEFAULT} by default",
    )
    run.add_argument("--mode", choices=model.MODES, help="required unless --print_config is given")
    run.add_argument(
        "--model_dir",
        metavar="DIR",
        help="checkpoints, params.yaml, events; required unless --print_config is given",
    )
    run.add_argument("--tpu", default="", help="address of a TPU; default: none")
    run.add_argument(
        "--print_config",
        action="store_true",
        help="print all parameters as YAML, and stop; needs nothing else",
    )
    parameters = parser.add_argument_group("parameters")
    parameters.add_argument(
        "--config_file",
        action="append",
        default=[],
        metavar="F.yaml",
        help="a YAML file or the name of a preset; overrides the experiment's parameters; may be "
        "repeated; default: none",
    )
    parameters.add_argument(
        "--params_override",
        action="append",
        default=[],
        metavar="a.b=c",
        help="further overrides, a.b=c,d=e; may be repeated; default: none",
    )
    parameters.add_argument(
        "--word_vectors",
        metavar="FILE",
        help="initialise word vectors from a file in GloVe's, fastText's or word2vec's format; "
        "sets task.word_vectors, and task.word_cooccurrence_records to 0; default: none",
    )
    parameters.add_argument(
        "--import_module",
        action="append",
        default=[],
        metavar="NAME",
        help="imports a Python module that registers an encoder; may be given several times; "
        "default: none",
    )
    return parser


if __name__ == "__main__":
    main()
    from model.distribute import cluster

    cluster.leave(0)
