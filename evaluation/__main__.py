"""Command line of the evaluation.

python -m evaluation response_ranking --module DIR --data PATH --output DIR
python -m evaluation snli --module DIR --data PATH --output DIR
python -m evaluation sts --module DIR --data PATH --output DIR
python -m evaluation cqa --module DIR --data PATH --output DIR
python -m evaluation retrieval --module DIR --queries F --documents F --relevant F --output DIR
python -m evaluation baselines --sts PATH --cqa PATH --vectors FILE --output DIR
python -m evaluation compare RESULTS_OF_A RESULTS_OF_B
python -m evaluation contamination --training PATH --sts PATH --results DIR --output DIR
python -m evaluation mistakes --module DIR --sts PATH --response_ranking PATH --output DIR
python -m evaluation report --results DIR --output FILE.html
python -m evaluation rows --results DIR --pairs DIR --output FILE.md
"""

import argparse
import os
import shlex
import sys

from evaluation.cli import (
    baselines,
    compare,
    contamination,
    mistakes,
    options,
    report,
    rows,
    tasks,
)
from evaluation.errors import InputError

COMMANDS = (
    tasks,
    baselines,
    compare,
    contamination,
    mistakes,
    report,
    rows,
)


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    root = options.Parser(
        prog="python -m evaluation",
        description="Scores a sentence-embedding SavedModel and reports the scores.",
        epilog="example:\n  python -m evaluation sts " + options.EXAMPLES["sts"].splitlines()[0],
    )
    commands = root.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        command.add(commands)
    return root


def main(argv: list[str] | None = None) -> int:
    """Run one command; return 0, or 1 after one line about what was wrong with its input.

    130, as shells have it, is returned after Ctrl-C.
    """
    argv = sys.argv[1:] if argv is None else argv
    arguments = parser().parse_args(argv)
    # TensorFlow's runtime reports a missing GPU as an error; what matters it raises as well.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # TensorFlow imports a Keras, unused here: tf_keras takes a second less than Keras 3.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # else one process takes all memory
    try:
        options.check(arguments)
        with options.claimed(arguments):
            arguments.run(arguments, command=shlex.join(["python", "-m", "evaluation", *argv]))
    except (InputError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; finished results are kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
