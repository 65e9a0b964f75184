"""`response_ranking`, `snli`, `sts`, `cqa`, `retrieval`: a module on the data of one task."""

from functools import cache
from pathlib import Path
from typing import Any

from common import sts as sts_files
from common import sts_matrix
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
    _evaluate(options, "response_ranking", options.data, candidates=options.candidates)


def snli(options: SnliOptions) -> None:
    """Score on SNLI."""
    _evaluate(options, "snli", options.data)


def cqa(options: CqaOptions) -> None:
    """Score the module, or the search engine where there is no text."""
    results = _evaluate(options, "cqa", options.data, dev=options.dev)
    for path in cqa_task.write_predictions(results, options.output):
        print(f"-> {path}\n")


def retrieval(options: RetrievalOptions) -> None:
    """Rank documents for queries."""
    files = RetrievalFiles(options.queries, options.documents, options.relevant)
    _evaluate(options, "retrieval", files)


def sts(options: StsOptions) -> None:
    """Score the module as it is and, if asked, with the matrix."""
    encoder: Any = options.module
    store = storing(options, "sts")
    if options.tune:
        from evaluation.encoders.saved_model import load_encoder  # TensorFlow takes seconds

        sts_task.tuning_sources(options.data)  # an error before the module is loaded
        encoder = load_encoder(options.module)
    results = evaluate(encoder, "sts", options.data, columns=options.named_columns(), **store)
    if options.tune:
        file = options.output / sts_matrix.FILE
        results += tuned(encoder, options.data, Store(**store), file=file)
    sts_task.require_defined(results)


def tuned(encoder: Any, path: Path, store: Store, *, file: Path | None = None) -> list[Result]:
    """Score with the matrix too, which is learned only if a result or its file is missing."""
    train, dev = sts_task.tuning_sources(path)

    @cache
    def matrix():
        found = sts_tuning.learn(encoder, sts_files.read(train), sts_files.read(dev))
        if file:
            about = {
                "train": provenance(train),
                "dev": provenance(dev),
                "command": store.command,
                "module": encoder.provenance(),
                "scores": found.scores,
                "chosen": found.chosen,
            }
            sts_matrix.write(file, found.matrix, about=about)
        print(f"{found.summary()}\n{f'-> {file}' if file else ''}\n", flush=True)
        return found.matrix

    results = store.results(sts_task.tuned_evaluations(path, encoder, matrix=matrix))
    if file and not file.exists():
        matrix()
    return results


def _evaluate(options: Any, task: str, data: Any, **settings) -> list[Result]:
    return evaluate(options.module, task, data, **settings, **storing(options, task))


def storing(options: ResultsOptions, name: str) -> dict[str, Any]:
    """Return what `tasks.evaluate` needs to know of --output, --seed and --again."""
    shared = {key: getattr(options, key) for key in ("output", "seed", "again")}
    return shared | {"command": command(options, name), "say": print}
