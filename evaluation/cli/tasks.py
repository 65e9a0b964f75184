"""`response_ranking`, `snli`, `sts`, `cqa`, `retrieval`: a module on the data of one task."""

from functools import cache, partial
from typing import Any

from common import sts as sts_files
from common import sts_matrix
from common.sts import Columns
from evaluation.cli import claimed
from evaluation.cli.options import (
    CqaOptions,
    ResponseRankingOptions,
    ResultsOptions,
    RetrievalOptions,
    SnliOptions,
    StsOptions,
    command,
)
from evaluation.data.origin import provenance
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.results.result import Result
from evaluation.tasks import cqa as cqa_task
from evaluation.tasks import sts as sts_task
from evaluation.tasks import sts_tuning
from evaluation.tasks.evaluate import Store, evaluate


def response_ranking(options: ResponseRankingOptions) -> None:
    """Rank the true response among others."""
    settings = {"candidates": options.candidates, "at": options.at}
    _evaluate(options, "response_ranking", options.module, options.data, **settings)


def snli(options: SnliOptions) -> None:
    """Score on SNLI."""
    settings = {"train": options.train, "dev": options.dev}
    _evaluate(options, "snli", options.module, options.data, **settings)


def cqa(options: CqaOptions) -> None:
    """Score the module, or the search engine where there is no text."""
    results = _evaluate(options, "cqa", options.module, options.data, dev=options.dev)
    for path in cqa_task.write_predictions(results, options.output):
        print(f"-> {path}\n")


def retrieval(options: RetrievalOptions) -> None:
    """Rank documents for queries."""
    files = RetrievalFiles(options.queries, options.documents, options.relevant)
    _evaluate(options, "retrieval", options.module, files)


def sts(options: StsOptions) -> None:
    """Score the module as it is and, if asked, with the matrix."""
    if options.tune:
        with claimed.folder(options.output, "sts"):
            results = _tuned(options)
    else:
        columns = options.columns and Columns(*options.columns, quotes=not options.no_quotes)
        results = _evaluate(options, "sts", options.module, options.data, columns=columns)
    sts_task.require_defined(results)


def _evaluate(options: ResultsOptions, task: str, encoder: Any, data: Any, **settings) -> list:
    with claimed.folder(options.output, task):
        return evaluate(encoder, task, data, **settings, **storing(options, task))


def storing(options: ResultsOptions, name: str) -> dict[str, Any]:
    """Return what `tasks.evaluate` needs to know of --output, --seed and --again."""
    shared = {key: getattr(options, key) for key in ("output", "seed", "again")}
    return shared | {"command": command(options, name), "say": print}


def _tuned(options: StsOptions) -> list[Result]:
    """Score with the matrix too; it is learned only if a result or its file is missing."""
    from evaluation.encoders.saved_model import load_encoder  # TensorFlow takes seconds

    learned_from = sts_task.tuning_sources(options.data)
    load = cache(partial(load_encoder, options.module))
    evaluations = sts_task.evaluations(options.data, load)
    path = options.output / sts_matrix.FILE

    @cache
    def matrix():
        train, dev = learned_from
        tuned = sts_tuning.learn(load(), sts_files.read(train), sts_files.read(dev))
        about = {"train": provenance(train), "dev": provenance(dev)}
        about |= {"command": command(options, "sts"), "module": load().provenance()}
        sts_matrix.write(path, tuned.matrix, about=about | tuned.about())
        print(f"{tuned.summary()}\n-> {path}\n", flush=True)
        return tuned.matrix

    evaluations += sts_task.tuned_evaluations(
        options.data, load(), matrix=matrix, learned_from=learned_from
    )
    results = Store(**storing(options, "sts")).results(evaluations)
    if not path.exists():
        matrix()
    return results
