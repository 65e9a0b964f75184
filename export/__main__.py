"""Exports a trained model as a SavedModel with a model card.

python -m export --model_dir run/ --output module/ [--variant int8] [--with_sts_matrix FILE.npz]
python -m export variants --model_dir run/ --output modules/ [--sts stsb/]
python -m export card --module module/ --results results/
python -m export index --module module/ --responses replies.txt [--input TEXT]
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from export import FLOAT32, VARIANTS

MODULE = "module"
TERMINATED = 128 + signal.SIGTERM


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command; exits with one line and status 1 on what the user can mend."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv and argv[0].startswith("-") and argv[0] not in ("-h", "--help"):
        argv.insert(0, MODULE)
    arguments = parser().parse_args(argv)
    # TensorFlow takes 8 seconds to import, and warns about devices that are missing.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from export import commands
    from export.saved_model import write
    from model.errors import InputError
    from model.layers import encoders

    signal.signal(signal.SIGTERM, _stop)  # removes partial output, as Ctrl-C does
    try:
        encoders.import_modules(getattr(arguments, "import_module", ()))
        run: Callable[[argparse.Namespace], None] = getattr(commands, arguments.command)
        run(arguments)
    except (InputError, OSError, write.VerificationError) as error:
        sys.exit(f"error: {' '.join(str(error).split())}")


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    root = argparse.ArgumentParser(
        prog="python -m export",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    module = _from_model(commands, MODULE, "export a module (the default command)")
    module.add_argument("--variant", choices=VARIANTS, default=FLOAT32, help="of the weights")
    module.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="scores of a module with these weights",
    )
    _tuned(module)
    variants = _from_model(commands, "variants", "export all variants and compare size and scores")
    variants.add_argument("--sts", type=Path, metavar="PATH", help="STS Benchmark for the scores")
    _tuned(variants)
    card = commands.add_parser("card", help="add scores to a module and its model card")
    card.add_argument("--module", type=Path, required=True, metavar="DIR")
    card.add_argument(
        "--results", type=Path, required=True, metavar="DIR", help="results of evaluation"
    )
    _index(commands)
    return root


def _from_model(commands, name: str, summary: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary)
    command.add_argument(
        "--model_dir", type=Path, required=True, metavar="DIR", help="folder of python -m model"
    )
    command.add_argument("--output", type=Path, required=True, metavar="PATH", help="to write")
    command.add_argument(
        "--import_module",
        action="append",
        default=[],
        metavar="NAME",
        help="imports a Python module that registers an encoder; may be given several times",
    )
    return command


def _tuned(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--with_sts_matrix",
        type=Path,
        metavar="FILE.npz",
        help="matrix of python -m evaluation sts --tune; embeddings are multiplied by it",
    )


def _index(commands) -> None:
    summary = "index responses, and find the best ones for an input"
    index = commands.add_parser("index", help=summary, description=summary)
    index.add_argument("--module", type=Path, required=True, metavar="DIR")
    index.add_argument(
        "--responses",
        type=Path,
        required=True,
        metavar="FILE",
        help="a response per line, plain or .gz, or TFRecords of pairs",
    )
    index.add_argument("--output", type=Path, metavar="DIR", help="the index; default: FILE.index")
    index.add_argument("--dtype", choices=("float16", "float32"), default="float16")
    index.add_argument(
        "--input",
        action="append",
        metavar="TEXT",
        help="an input; may be repeated; - reads a line each from standard input, which is the "
        "default on a terminal",
    )
    index.add_argument("--top", type=int, default=10, metavar="K", help="default: %(default)s")


def _stop(*_: object) -> NoReturn:
    sys.exit(TERMINATED)


if __name__ == "__main__":
    main()
