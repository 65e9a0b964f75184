"""Command line of the evaluation.

python -m evaluation response_ranking --module DIR --data PATH --output DIR
python -m evaluation sts --module DIR --data PATH --output DIR
python -m evaluation cqa --module DIR --data PATH --output DIR
python -m evaluation report --results DIR --output FILE.html

TensorFlow takes seconds to import, matplotlib one: each command imports what it needs.
"""

import argparse
import os
import shlex
import sys
import time
from pathlib import Path

from evaluation.errors import InputError


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    root = argparse.ArgumentParser(
        prog="python -m evaluation",
        description="Scores a sentence-embedding SavedModel and reports the scores.",
    )
    commands = root.add_subparsers(dest="command", required=True)
    ranking = _task(
        commands,
        "response_ranking",
        summary="P@1, P@3, P@10: the true response among others",
        data="folder with test-*.tfrecord, or one such file",
    )
    ranking.add_argument("--candidates", type=int, default=100, help="default: %(default)s")
    ranking.add_argument("--seed", type=int, default=0, help="of the blocks; default: %(default)s")
    _task(
        commands,
        "sts",
        summary="Pearson and Spearman on the STS Benchmark",
        data="an STS Benchmark csv, or the folder of sts-dev.csv and sts-test.csv; plain or .gz",
    )
    _task(
        commands,
        "cqa",
        summary="MAP, AvgRec, MRR on SemEval Task 3, subtask B",
        data="an official .xml or .relevancy file, or a folder of them; plain or .gz",
        module_required=False,
    )
    report = commands.add_parser("report", help="one HTML page from the results of the others")
    report.add_argument("--results", type=Path, required=True, help="folder of result files")
    report.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    return root


def _task(commands, name: str, *, summary: str, data: str, module_required: bool = True):
    """Add a command that scores a module on data, and return its parser."""
    task = commands.add_parser(name, help=summary, description=summary)
    module_help = "folder of a SavedModel"
    if not module_required:
        module_help += "; not needed for files without text (.relevancy)"
    task.add_argument("--module", type=Path, required=module_required, help=module_help)
    task.add_argument("--data", type=Path, required=True, help=data)
    task.add_argument("--output", type=Path, required=True, help="folder for the result files")
    return task


def main(argv: list[str] | None = None) -> int:
    """Run one command; return 0, or 1 after one line about what was wrong with its input."""
    argv = sys.argv[1:] if argv is None else argv
    arguments = parser().parse_args(argv)
    # TensorFlow's runtime reports a missing GPU as an error; what matters it raises as well.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        if arguments.command == "report":
            _report(arguments)
        else:
            _evaluate(arguments, command=shlex.join(["python", "-m", "evaluation", *argv]))
    except (InputError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _evaluate(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module on every data set found; write and print each result."""
    from evaluation import cqa, response_ranking, result, scores, sts

    task = {"cqa": cqa, "response_ranking": response_ranking, "sts": sts}[arguments.command]
    settings = {key: getattr(arguments, key) for key in ("candidates", "seed") if key in arguments}
    sources = task.find(arguments.data)
    data_sets = [task.read(source) for source in sources]  # before the slow load of the module
    encoder = _encoder(arguments.module)
    for source, data in zip(sources, data_sets, strict=True):
        started = time.perf_counter()
        found = task.evaluate(encoder, data, **settings)
        found = result.stamped(
            found,
            data=source.provenance(),
            module=encoder.provenance() if encoder and found.system == "module" else None,
            command=command,
            seconds=time.perf_counter() - started,
        )
        path = result.write(found, arguments.output)
        print(f"{scores.table(found)}\n-> {path}\n", flush=True)


def _encoder(module: Path | None):
    """Load the module, where one is given."""
    if module is None:
        return None
    from evaluation.encoder import Encoder

    return Encoder(module)


def _report(arguments: argparse.Namespace) -> None:
    """Write the report and print the table of all scores."""
    from evaluation import report, result, scores

    results = result.read_all(arguments.results)
    report.write(results, arguments.output)
    print(f"{scores.overview(results)}\n-> {arguments.output}")


if __name__ == "__main__":
    sys.exit(main())
