"""`sts`: tables 3, 4, 5 and figure 7.

python -m evaluation sts --module DIR --data PATH --output DIR [--tune]
"""

import argparse
import dataclasses
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
        help="besides, learn one matrix on sts-train.csv, choose it on sts-dev.csv, score with it "
        "and write it to sts_matrix.npz",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module on every data set found, as it is and, if asked, tuned."""
    from evaluation.data import sts_files
    from evaluation.results import runs
    from evaluation.tasks import sts

    sources = sts_files.find(arguments.data)
    data = {source.name: sts_files.read(source) for source in sources}  # before the slow load
    tuning = _tuning_sources(arguments.data, sources) if arguments.tune else []
    encoder = options.encoder(arguments.module)
    run = runs.run_of(arguments, command=command)
    tuned = [_named_tuned(source, tuning) for source in sources] if tuning else []
    for source in (*sources, *tuned):
        run.stored(source, module=encoder.provenance())
    for source in sources:
        run.result(
            source, partial(sts.evaluate, encoder, data[source.name]), module=encoder.provenance()
        )
    if tuning:
        _tuned(run, sources, data=data, tuning=tuning, encoder=encoder)


def _tuning_sources(path, sources: list) -> list:
    """Return the train and the dev source."""
    from evaluation.data import sts_files
    from evaluation.errors import InputError

    dev = [source for source in sources if source.name == "sts-dev"]
    if not dev:
        raise InputError(f"{path}: --tune chooses on sts-dev.csv, which is not there")
    return [sts_files.train_of(path), *dev]


def _tuned(run, sources: list, *, data: dict, tuning: list, encoder) -> None:
    """Learn the matrix once, unless it and every result that it gives are there; score with it."""
    from evaluation.data import sts_files
    from evaluation.tasks import sts, sts_tuning

    train, dev = tuning

    @cache
    def matrix():
        found = sts_tuning.learn(encoder, sts_files.read(train), data[dev.name])
        about = {
            "module": encoder.provenance(),
            "train": train.provenance(),
            "dev": dev.provenance(),
            "command": run.command,
        }
        path = sts_tuning.write(found, run.output, about=about)
        print(f"{found.summary()}\n-> {path}\n", flush=True)
        return found.matrix

    if not (run.output / sts_tuning.MATRIX_FILE).exists():
        matrix()

    def compute(source):
        return sts.evaluate_tuned(
            encoder, data[source.name], matrix=matrix(), name=f"{source.name}-tuned"
        )

    for source in sources:
        named = _named_tuned(source, tuning)
        run.result(named, partial(compute, source), module=encoder.provenance())


def _named_tuned(source, tuning: list):
    """Return the source of a result that the matrix gives."""
    from evaluation.results import runs

    named = dataclasses.replace(source, name=f"{source.name}-tuned")
    return runs.learned(named, tuning)
