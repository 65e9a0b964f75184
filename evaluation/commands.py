"""The commands that score: a module on the data of a task, and `baselines` on those of several."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from common import sts as sts_files
from common import sts_matrix
from common.errors import InputError
from evaluation.data import ranking_files
from evaluation.data.origin import provenance
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.encoders import words
from evaluation.encoders.sentence_transformers import SentenceTransformersEncoder
from evaluation.options import (
    BaselinesOptions,
    CqaOptions,
    ResponseRankingOptions,
    ResultsOptions,
    RetrievalOptions,
    SnliOptions,
    StsOptions,
    command,
)
from evaluation.probes import sts_tuning
from evaluation.results.result import RETRIEVAL, TASKS, Result
from evaluation.results.store import Store
from evaluation.tasks import evaluate
from evaluation.tasks import sts as sts_task

FOLDER = "baselines"
"""In the output folder: a folder of results for each baseline."""
SLOW_PAIRS = 10_000
"""Training pairs for the map of a sentence-transformers model, as many as in Henderson et al. 2019,
and a fifth as many for its validation: on 2 cores all-MiniLM-L6-v2 encodes them in two minutes."""


def response_ranking(options: ResponseRankingOptions) -> None:
    """Rank the true response among others."""
    _evaluate(options, "response_ranking", options.data, candidates=options.candidates)


def snli(options: SnliOptions) -> None:
    """Score on SNLI."""
    _evaluate(options, "snli", options.data)


def cqa(options: CqaOptions) -> None:
    """Score the module, or the search engine where there is no text."""
    _evaluate(options, "cqa", options.data)


def retrieval(options: RetrievalOptions) -> None:
    """Rank documents for queries."""
    files = RetrievalFiles(options.queries, options.documents, options.relevant)
    _evaluate(options, RETRIEVAL, files)


def _evaluate(options: Any, task: str, data: Any, **settings: Any) -> None:
    evaluate(options.module, task, data, **settings, **_storing(options, task))


def sts(options: StsOptions) -> None:
    """Score the module as it is and, if asked, with the matrix."""
    encoder: Any = options.module
    store = _storing(options, "sts")
    if options.tune:
        from evaluation.encoders.saved_model import load_encoder  # TensorFlow takes seconds

        sts_task.tuning_sources(options.data)  # an error before the module is loaded
        encoder = load_encoder(options.module)
    results = evaluate(encoder, "sts", options.data, columns=options.named_columns(), **store)
    if options.tune:
        file = options.output / sts_matrix.FILE
        results += _tuned(encoder, options.data, Store(**store), file=file)
    sts_task.require_defined(results)


def _tuned(encoder: Any, path: Path, store: Store, *, file: Path | None = None) -> list[Result]:
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


def _storing(options: ResultsOptions, name: str) -> dict[str, Any]:
    """Return what `tasks.evaluate` needs to know of --output, --seed and --again."""
    shared = {key: getattr(options, key) for key in ("output", "seed", "again")}
    return shared | {"command": command(options, name), "say": print}


def baselines(options: BaselinesOptions) -> None:
    """Score every baseline on every data set; TF-IDF, BM25 and untrained words are always there."""
    for path in options.sts if options.tune else ():
        sts_task.tuning_sources(path)
    # All are loaded before any is scored.
    encoders = {}
    for encoder in _encoders(options):
        folder = options.output / FOLDER / _folder_name(encoder.path)
        if folder in encoders:
            raise InputError(f"{folder}: of two baselines; accepted: other names, or one")
        encoders[folder] = encoder
    given = [(task, path) for task in TASKS for path in getattr(options, task)]
    if options.queries and options.documents and options.relevant:
        files = RetrievalFiles(options.queries, options.documents, options.relevant)
        given.append((RETRIEVAL, files))
    settings: dict[str, dict[str, Any]] = {
        "response_ranking": {"candidates": options.candidates},
        "sts": {"columns": options.named_columns()},
    }
    for folder, encoder in encoders.items():
        store = _storing(options, "baselines") | {"output": folder}
        for task, data in given:
            if task not in getattr(encoder, "tasks", (task,)):
                continue
            print(f"== {encoder.path}: {task} ==", flush=True)
            evaluate(encoder, task, data, **settings.get(task, {}), **store)
            if task == "sts" and options.tune and not getattr(encoder, "sparse", False):
                if hasattr(encoder, "fit"):  # words of the train file count too
                    train, _ = sts_task.tuning_sources(data)
                    read = (sts_files.read(one) for one in (train, *sts_files.sources(data)))
                    encoder.fit([text for one in read for texts in one.texts() for text in texts])
                _tuned(encoder, data, Store(**store))


def _folder_name(path: str) -> str:
    """Return the folder of a baseline's results: of a model in a folder, that folder's name."""
    name = Path(path).resolve().name if Path(path).is_dir() else path
    return re.sub(r"[^\w.+-]+", "_", name).strip("_")


def _encoders(options: BaselinesOptions) -> list:
    """Return each baseline, in the order in which they are scored."""
    # First: if TensorFlow is loaded before PyTorch's compiler, the LLVM of both ends the process.
    installed = [SentenceTransformersEncoder(name) for name in options.sentence_transformers]
    pairs = {}
    if folder := options.training_pairs:
        for name in ("train", "validation"):
            pairs[name] = ranking_files.read(ranking_files.shards(folder, name)).pairs
    encoders: list[Any] = [words.TfIdf(), words.Bm25()]
    untrained = [words.untrained(letters=letters) for letters in (False, True)]
    trained = [words.of_file(path) for path in options.vectors]
    trained += [words.of_module(module) for module in options.module_words]
    for table in (*untrained, *trained):
        weighted = words.WordAverage(table, sif=True)
        encoders += [] if table in untrained else [words.WordAverage(table)]
        encoders += [weighted, *_mapped(weighted, pairs)]
    if options.modules:
        from evaluation.encoders.saved_model import load_encoder  # TensorFlow takes seconds

        encoders += [load_encoder(module, pretrained=True) for module in options.modules]
    for encoder in installed:
        encoders += [encoder, *_mapped(encoder, pairs, most=SLOW_PAIRS)]
    return encoders


def _mapped(encoder, pairs: dict[str, list], *, most: int | None = None) -> Iterator:
    """Yield the encoder with a linear map that is learned on the first pairs, if there are any."""
    if pairs:
        from evaluation.probes.linear_map import LinearMap  # TensorFlow takes seconds

        yield LinearMap(encoder, pairs["train"][:most], pairs["validation"][: most and most // 5])
