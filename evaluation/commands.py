"""The commands that score: a module on the data of a task, and `baselines` on those of several."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import evaluation
from common import sts as sts_files
from common.errors import InputError
from evaluation.data import ranking_files
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.encoders import sentence_transformer, words
from evaluation.options import BaselinesOptions
from evaluation.probes import sts_tuning
from evaluation.results import store
from evaluation.results.result import BASELINES, IGNORE_IDENTICAL_IDS, RETRIEVAL, TASKS
from evaluation.tasks import evaluate
from evaluation.tasks import sts as sts_task

SLOW_PAIRS = 10_000
"""Training pairs for the map of a sentence-transformers model, as many as in Henderson et al. 2019,
and a fifth as many for its validation: on 2 cores all-MiniLM-L6-v2 encodes them in two minutes."""
TUNED = (
    "sts_matrix: start {power:g}, penalty {penalty:g}, {steps} steps; Pearson on "
    "train {train_untuned:.4f} -> {train:.4f}, dev {dev_untuned:.4f} -> {dev:.4f}"
)
SETTINGS = {
    RETRIEVAL: (IGNORE_IDENTICAL_IDS,),
    "response_ranking": ("candidates", "own_replies", "name"),
}
"""Options of tasks that `evaluate` takes by the same name."""


def score(options: Any) -> None:
    """Score a module on the data of a task; with `sts --tune`, with the matrix too."""
    encoder = options.module
    data: Any = _files(options) if options.task == RETRIEVAL else options.data
    if options.task == "sts" and options.tune:
        sts_task.tuning_sources(data)  # an error before the module is loaded
        encoder = evaluation.load_encoder(encoder)
    _scored(encoder, options.task, data, options, file=options.output / sts_files.MATRIX)


def _files(options: Any) -> RetrievalFiles:
    return RetrievalFiles(options.queries, options.documents, options.relevant)


def _scored(encoder: Any, task: str, data: Any, options: Any, *, file: Path | None = None) -> None:
    """Score on the data of a task; with `--tune`, dense embeddings with the matrix, too.

    It is learned only if a result or its file is missing.
    """
    settings = {name: getattr(options, name) for name in ("output", "seed", "again")}
    settings |= {"command": store.command_line(), "say": print}
    settings |= {name: getattr(options, name) for name in SETTINGS.get(task, ())}
    if task == "sts":
        settings["columns"] = options.named_columns()
    evaluate(encoder, task, data, **settings)
    if task == "sts" and options.tune and not getattr(encoder, "sparse", False):
        matrix = cache(partial(_matrix, data, file))
        evaluate(encoder, task, data, matrix=matrix, **settings)
        if file and not file.exists():
            matrix(encoder)


def _matrix(data: Path, file: Path | None, encoder: Any) -> np.ndarray:
    """Learn the matrix, float32 [dim, dim]; write it into a file, where one is named."""
    train, dev = sts_task.tuning_sources(data)
    found = sts_tuning.learn(encoder, sts_files.read(train), sts_files.read(dev))
    if file:
        about: dict = {"train": store.provenance(train), "dev": store.provenance(dev)}
        about |= {"command": store.command_line(), "module": encoder.provenance()}
        about |= {"scores": found.scores, "chosen": found.chosen}
        sts_files.write_matrix(file, found.matrix, about=about)
    said = TUNED.format(**found.chosen, **found.scores)
    print(f"{said}\n{f'-> {file}' if file else ''}\n", flush=True)
    return found.matrix


def baselines(options: BaselinesOptions) -> None:
    """Score every baseline on every data set; TF-IDF, BM25 and untrained words are always there."""
    for path in options.sts if options.tune else ():
        sts_task.tuning_sources(path)
    # All are loaded before any is scored.
    encoders = {}
    for encoder in _encoders(options):
        path = Path(encoder.path)
        name = path.resolve().name if path.is_dir() else encoder.path
        folder = options.output / BASELINES / re.sub(r"[^\w.+-]+", "_", name).strip("_")
        if folder in encoders:
            raise InputError(f"{folder}: of two baselines; accepted: other names, or one")
        encoders[folder] = encoder
    given: list[tuple] = [(task, path) for task in TASKS for path in getattr(options, task)]
    given += [(RETRIEVAL, _files(options))] if options.queries else []
    for folder, encoder in encoders.items():
        for task, data in given:
            if task in getattr(encoder, "tasks", (task,)):
                print(f"== {encoder.path}: {task} ==", flush=True)
                _scored(encoder, task, data, replace(options, output=folder))


def _encoders(options: BaselinesOptions) -> list:
    # First: if TensorFlow is loaded before PyTorch's compiler, the LLVM of both ends the process.
    installed = [sentence_transformer(name) for name in options.sentence_transformers]
    pairs = {}
    if folder := options.training_pairs:
        for name in ("train", "validation"):
            pairs[name] = ranking_files.read(ranking_files.find(folder, name)).pairs

    def mapped(encoder: Any, most: int | None = None) -> Iterator:
        """Yield it with a linear map that is learned on the first pairs, if there are any."""
        if pairs:
            from evaluation.probes.linear_map import LinearMap  # TensorFlow takes seconds

            validation = pairs["validation"][: most and most // 5]
            yield LinearMap(encoder, pairs["train"][:most], validation)

    encoders: list[Any] = [words.TfIdf(), words.Bm25()]
    encoders += [words.WordAverage(words.untrained(letters=x), sif=True) for x in (False, True)]
    trained = [words.of_file(path) for path in options.vectors]
    trained += [words.of_module(module) for module in options.module_words]
    for table in trained:
        weighted = words.WordAverage(table, sif=True)
        encoders += [words.WordAverage(table), weighted, *mapped(weighted)]
    encoders += [evaluation.load_encoder(one, pretrained=True) for one in options.modules]
    for encoder in installed:
        encoders += [encoder, *mapped(encoder, SLOW_PAIRS)]
    return encoders
