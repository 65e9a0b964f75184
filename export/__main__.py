"""Exports a trained model as a SavedModel with a model card.

python -m export --model_dir run/ --output module/ [--variant int8] [--with_sts_matrix FILE.npz]
python -m export variants --model_dir run/ --output modules/ [--sts stsb/]
python -m export card --module module/ --results results/
python -m export index --module module/ --texts 'replies/*.txt' [--mode similar] [--input TEXT]
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
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
EXAMPLES = {
    MODULE: "--model_dir run/ --output module/ --variant int8",
    "variants": "variants --model_dir run/ --output modules/ --sts stsb/",
    "card": "card --module module/ --results results/",
    "index": "index --module module/ --texts 'replies/*.txt' \\\n"
    '      --output replies.index/ --input "How old are you?"',
}
"""Of each command, what follows the program's name."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command; exits with one line and status 1 on what the user can mend."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv and argv[0].startswith("-") and argv[0] not in ("-h", "--help"):
        argv.insert(0, MODULE)
    arguments = parser().parse_args(argv)
    # TensorFlow takes 8 seconds to import, and warns about devices that are missing.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Makes tf.keras the Keras of our layers, tf_keras: importing Keras 3 as well takes a second.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    # On the CPU: GPUs compute float32 products in fewer bits (TF32).
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
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
    except KeyboardInterrupt:
        print("stopped; nothing half-written is left", file=sys.stderr)
        sys.exit(INTERRUPTED)


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    root = argparse.ArgumentParser(
        prog="python -m export",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    module = _from_model(commands, MODULE, "export a module (the default command)")
    module.add_argument(
        "--variant", choices=VARIANTS, default=FLOAT32, help="format of the weights"
    )
    module.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="scores of a module with these weights, for the model card",
    )
    _finished(module)
    variants = _from_model(commands, "variants", "export all variants and compare size and scores")
    variants.add_argument("--sts", type=Path, metavar="PATH", help="STS Benchmark for the scores")
    _finished(variants)
    card = _command(commands, "card", "add scores to a module and its model card")
    card.add_argument(
        "--module", type=Path, required=True, metavar="DIR", help="module to add the scores to"
    )
    card.add_argument(
        "--results", type=Path, required=True, metavar="DIR", help="results of evaluation"
    )
    _index(commands)
    return root


class _WithDefaults(argparse.RawDescriptionHelpFormatter):
    """Adds the default to each option that may be left out, unless its help names one."""

    def _get_help_string(self, action: argparse.Action) -> str:
        said = action.help or ""
        if "default" in said or action.required or action.nargs == 0:
            return said
        return f"{said}; default: {'none' if action.default in (None, []) else '%(default)s'}"


def _command(commands, name: str, summary: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n  python -m export {EXAMPLES[name]}",
        formatter_class=_WithDefaults,
    )


def _from_model(commands, name: str, summary: str) -> argparse.ArgumentParser:
    command = _command(commands, name, summary)
    command.add_argument(
        "--model_dir", type=Path, required=True, metavar="DIR", help="folder of python -m model"
    )
    command.add_argument(
        "--output", type=Path, required=True, metavar="PATH", help="folder to write"
    )
    command.add_argument(
        "--import_module",
        action="append",
        default=[],
        metavar="NAME",
        help="imports a Python module that registers an encoder; may be given several times",
    )
    return command


def _finished(command: argparse.ArgumentParser) -> None:
    """Declares what is done to embeddings after training."""
    command.add_argument(
        "--remove_components",
        type=int,
        default=0,
        metavar="N",
        help="remove the first N principal components, which all sentences share, from the "
        "embeddings; choose N on STS-B dev and train",
    )
    command.add_argument(
        "--component_texts",
        action="extend",
        nargs="+",
        default=[],
        metavar="GLOB",
        help="texts from which the components are computed: files with a text per line, or the "
        "training pairs",
    )
    command.add_argument(
        "--with_sts_matrix",
        type=Path,
        metavar="FILE.npz",
        help="matrix of python -m evaluation sts --tune; embeddings are multiplied by it",
    )


def _index(commands) -> None:
    index = _command(
        commands,
        "index",
        "index texts, and find the best replies or the most similar texts for an input",
    )
    building = index.add_argument_group("index")
    building.add_argument(
        "--module", type=Path, required=True, metavar="DIR", help="encodes texts and inputs"
    )
    building.add_argument(
        "--texts",
        "--responses",
        dest="responses",
        action="extend",
        nargs="+",
        required=True,
        metavar="GLOB",
        help="files with a text per line, plain or .gz, or TFRecords of pairs, of which the "
        "responses are indexed; files that an index lacks are added to it",
    )
    building.add_argument(
        "--mode",
        choices=("responses", "similar"),
        default="responses",
        help="rank texts as replies to an input, or by similarity to it",
    )
    building.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder of the index; default for a single file: FILE.index or FILE.similar.index",
    )
    building.add_argument(
        "--dtype",
        choices=("float16", "float32"),
        default="float16",
        help="format of the stored vectors",
    )
    searching = index.add_argument_group("search")
    searching.add_argument(
        "--input",
        action="append",
        metavar="TEXT",
        help="an input; may be repeated; - reads an input per line from standard input, which is "
        "the default on a terminal",
    )
    searching.add_argument(
        "--top", type=int, default=10, metavar="K", help="texts to show for each input"
    )
    searching.add_argument(
        "--exact",
        action="store_true",
        help="score every text, even if there are 20,000 or more",
    )


def _stop(*_: object) -> NoReturn:
    sys.exit(TERMINATED)


if __name__ == "__main__":
    main()
