"""`sts`: tables 3, 4, 5 and figure 7.

python -m evaluation sts --module DIR --data PATH --output DIR [--tune]
"""

import argparse
from functools import cache, partial

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `sts`."""
    parser = options.task(
        commands,
        "sts",
        summary="Pearson and Spearman on the STS Benchmark, a SemEval year or SICK",
        data="the folder of sts-dev.csv and sts-test.csv, of a SemEval year's *.input.*.txt and "
        "*.gs.*.txt, of .tsv files (score, two sentences) or of SICK*.txt; or one such file",
    )
    parser.add_argument(
        "--tune",
        action="store_true",
        help="also learn one matrix on sts-train.csv, choose it on sts-dev.csv, score with it "
        "and write it to sts_matrix.npz",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module on every data set found, as it is and, if asked, tuned."""
    if arguments.tune:
        _tune(arguments, command=command)
    else:
        from evaluation.tasks.evaluate import evaluate

        storing = options.storing(arguments, command=command)
        evaluate(arguments.module, "sts", arguments.data, **storing)


def _tune(arguments: argparse.Namespace, *, command: str) -> None:
    """Score with and without the matrix, learned only if a result or its file is missing."""
    from evaluation.encoders.saved_model import load_encoder
    from evaluation.tasks import sts, sts_tuning
    from evaluation.tasks.evaluate import Store

    learned_from = sts.tuning_sources(arguments.data)
    load = cache(partial(load_encoder, arguments.module))
    evaluations = sts.evaluations(arguments.data, load)

    @cache
    def matrix():
        return _learn(load(), *learned_from, output=arguments.output, command=command)

    evaluations += sts.tuned_evaluations(
        arguments.data, load(), matrix=matrix, learned_from=learned_from
    )
    Store(**options.storing(arguments, command=command)).results(evaluations)
    if not (arguments.output / sts_tuning.MATRIX_FILE).exists():
        matrix()


def _learn(encoder, train, dev, *, output, command: str):
    """Learn the matrix, write it to sts_matrix.npz and return it."""
    from evaluation.data import sts_files
    from evaluation.tasks import sts_tuning

    found = sts_tuning.learn(encoder, sts_files.read(train), sts_files.read(dev))
    about = {
        "module": encoder.provenance(),
        "train": train.provenance(),
        "dev": dev.provenance(),
        "command": command,
    }
    path = sts_tuning.write(found, output, about=about)
    print(f"{found.summary()}\n-> {path}\n", flush=True)
    return found.matrix
