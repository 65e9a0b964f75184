"""`response_ranking`, `snli`, `sts`, `cqa`, `retrieval`: a module on the data of one task."""

import argparse
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from evaluation.cli import options
from evaluation.errors import InputError


def add(commands) -> None:
    """Add the five commands."""
    ranking = _task(
        commands,
        "response_ranking",
        _response_ranking,
        summary="P@N: the true response among others (table 1)",
        data="folder with test-*.tfrecord, or one such file",
    )
    options.candidates(ranking)
    ranking.group(options.METHOD).add_argument(
        "--at", type=int, nargs="+", metavar="N", help="the Ns of P@N; default: 1 3 10"
    )
    snli = _task(
        commands,
        "snli",
        _snli,
        summary="accuracy on SNLI (table 2)",
        data="folder of SNLI's files (*dev*, *test*; *train* where the module has no "
        "classify_nli), or one of them; .jsonl or .txt, plain or .gz",
    )
    for split in ("train", "dev"):
        snli.add_argument(
            f"--{split}",
            type=Path,
            metavar="FILE",
            help=f"{split} file for the classifier of a module without classify_nli; "
            "default: the one in --data",
        )
    sts = _task(
        commands,
        "sts",
        _sts,
        summary="Pearson and Spearman on the STS Benchmark, a SemEval year or SICK",
        data="the folder of sts-dev.csv and sts-test.csv, of a SemEval year's *.input.*.txt and "
        "*.gs.*.txt, of .tsv files (score, two sentences) or of SICK*.txt; or one such file; with "
        "--columns, any CSV or TSV file",
    )
    options.columns(sts, "--columns")
    sts.group(options.METHOD).add_argument(
        "--tune",
        action="store_true",
        help="also learn one matrix on sts-train.csv, choose it on sts-dev.csv, score with it "
        "and write it to sts_matrix.npz",
    )
    cqa = _task(
        commands,
        "cqa",
        _cqa,
        summary="MAP, AvgRec, MRR on SemEval Task 3, subtask B (table 6)",
        data="an official .xml or .relevancy file, or a folder of them; plain or .gz",
        module=f"{options.MODULE_HELP}; not needed for files without text (.relevancy)",
        needed=False,
    )
    cqa.add_argument(
        "--dev",
        type=Path,
        metavar="FILE",
        help="question file to choose the thresholds of P, R, F1 and accuracy on; default: the "
        'one in --data with "dev" in its name',
    )
    retrieval = _task(
        commands,
        "retrieval",
        _retrieval,
        summary="your own queries and documents: nDCG, MRR and recall",
    )
    options.retrieval_files(retrieval, needed=True)


def _task(
    commands,
    name: str,
    run: Callable,
    *,
    summary: str,
    data: str | None = None,
    module: str = options.MODULE_HELP,
    needed: bool = True,
) -> options.Parser:
    """Add a command that scores a module on data, and return its parser."""
    parser = options.command(commands, name, run, summary=summary)
    parser.add_argument("--module", metavar="DIR|URL", required=needed, help=module)
    if data is not None:
        parser.add_argument("--data", type=Path, required=True, metavar="PATH", help=data)
    options.folder_output(parser, help="folder for the result files")
    options.seeded(parser)
    options.again(parser)
    return parser


def _evaluate(arguments: argparse.Namespace, command: str, *, data: Any = None, **settings) -> list:
    """Score the module on every data set found in `data`, by default `--data`."""
    from evaluation.tasks.evaluate import evaluate

    storing = options.storing(arguments, command=command)
    data = data or arguments.data
    return evaluate(arguments.module, arguments.command, data, **settings, **storing)


def _response_ranking(arguments: argparse.Namespace, *, command: str) -> None:
    _evaluate(arguments, command, candidates=arguments.candidates, at=arguments.at)


def _snli(arguments: argparse.Namespace, *, command: str) -> None:
    _evaluate(arguments, command, train=arguments.train, dev=arguments.dev)


def _cqa(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module, or the search engine where there is no text."""
    from evaluation.tasks.cqa import write_predictions

    results = _evaluate(arguments, command, dev=arguments.dev)
    for path in write_predictions(results, arguments.output):
        print(f"-> {path}\n")


def _retrieval(arguments: argparse.Namespace, *, command: str) -> None:
    _evaluate(arguments, command, data=options.given_retrieval_files(arguments))


def _sts(arguments: argparse.Namespace, *, command: str) -> None:
    """Score the module as it is and, if asked, with the matrix.

    The matrix is learned only if a result or its file is missing.
    """
    from evaluation.tasks import sts

    if not arguments.tune:
        columns = arguments.columns and (*arguments.columns, not arguments.no_quotes)
        sts.require_defined(_evaluate(arguments, command, columns=columns))
        return
    if arguments.columns:
        raise InputError("--tune: accepted without --columns, as it learns on sts-train.csv")
    from evaluation.data import sts_files
    from evaluation.encoders.saved_model import load_encoder
    from evaluation.tasks import sts_tuning
    from evaluation.tasks.evaluate import Store

    learned_from = sts.tuning_sources(arguments.data)
    load = cache(partial(load_encoder, arguments.module))
    evaluations = sts.evaluations(arguments.data, load)

    @cache
    def matrix():
        train, dev = learned_from
        found = sts_tuning.learn(load(), sts_files.read(train), sts_files.read(dev))
        about = {"train": train.provenance(), "dev": dev.provenance(), "command": command}
        about |= {"module": load().provenance()}
        path = sts_tuning.write(found, arguments.output, about=about)
        print(f"{found.summary()}\n-> {path}\n", flush=True)
        return found.matrix

    evaluations += sts.tuned_evaluations(
        arguments.data, load(), matrix=matrix, learned_from=learned_from
    )
    results = Store(**options.storing(arguments, command=command)).results(evaluations)
    sts.require_defined(results)
    if not (arguments.output / sts_tuning.MATRIX_FILE).exists():
        matrix()
