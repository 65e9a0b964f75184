"""`response_ranking`, `snli`, `sts`, `cqa`, `retrieval`: a module on the data of one task."""

from functools import cache, partial
from typing import Any

from common import sts as sts_files
from common import sts_matrix
from common.files import claim
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
from evaluation.probes import sts_tuning
from evaluation.results.evaluation import Store
from evaluation.results.result import Result
from evaluation.tasks import cqa as cqa_task
from evaluation.tasks import evaluate
from evaluation.tasks import sts as sts_task


def response_ranking(options: ResponseRankingOptions) -> None:
    """Rank the true response among others."""
    _evaluate(
        options, "response_ranking", options.module, options.data, candidates=options.candidates
    )


def snli(options: SnliOptions) -> None:
    """Score on SNLI."""
    _evaluate(options, "snli", options.module, options.data)


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
        with claim(options.output, name=".sts.claim"):
            results = _tuned(options)
    else:
        named = options.named_columns()
        results = _evaluate(options, "sts", options.module, options.data, columns=named)
    sts_task.require_defined(results)


def _evaluate(options: ResultsOptions, task: str, encoder: Any, data: Any, **settings) -> list:
    with claim(options.output, name=f".{task}.claim"):
        return evaluate(encoder, task, data, **settings, **storing(options, task))


def storing(options: ResultsOptions, name: str) -> dict[str, Any]:
    """Return what `tasks.evaluate` needs to know of --output, --seed and --again."""
    shared = {key: getattr(options, key) for key in ("output", "seed", "again")}
    return shared | {"command": command(options, name), "say": print}


def _tuned(options: StsOptions) -> list[Result]:
    """Score with the matrix too; it is learned only if a result or its file is missing."""
    from evaluation.encoders.saved_model import load_encoder  # TensorFlow takes seconds

    train, dev = sts_task.tuning_sources(options.data)
    load = cache(partial(load_encoder, options.module))
    path = options.output / sts_matrix.FILE

    @cache
    def matrix():
        tuned = sts_tuning.learn(load(), sts_files.read(train), sts_files.read(dev))
        about = {"train": provenance(train), "dev": provenance(dev)}
        about |= {"command": command(options, "sts"), "module": load().provenance()}
        about |= {"scores": tuned.scores, "chosen": tuned.chosen}
        sts_matrix.write(path, tuned.matrix, about=about)
        print(f"{tuned.summary()}\n-> {path}\n", flush=True)
        return tuned.matrix

    evaluations = sts_task.evaluations(options.data, load)
    evaluations += sts_task.tuned_evaluations(options.data, load(), matrix=matrix)
    results = Store(**storing(options, "sts")).results(evaluations)
    if not path.exists():
        matrix()
    return results
