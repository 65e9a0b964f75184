"""`baselines`: the same tasks for what is not our model, linear maps learned on it included."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import sts as sts_files
from common.errors import InputError
from evaluation.cli.options import BaselinesOptions
from evaluation.cli.tasks import storing, tuned
from evaluation.data import ranking_files
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.encoders import word_average
from evaluation.encoders.bm25 import Bm25
from evaluation.encoders.sentence_transformers import SentenceTransformersEncoder
from evaluation.encoders.tfidf import TfIdf
from evaluation.encoders.word_average import WordAverage
from evaluation.results.evaluation import Store
from evaluation.results.result import RETRIEVAL, TASKS
from evaluation.tasks import cqa, evaluate, sts

FOLDER = "baselines"
"""In the output folder: a folder of results for each baseline."""
SLOW_PAIRS = 10_000
"""Training pairs for the map of a sentence-transformers model, as many as in Henderson et al. 2019,
and a fifth as many for its validation: on 2 cores all-MiniLM-L6-v2 encodes them in two minutes."""


def run(options: BaselinesOptions) -> None:
    """Score every baseline on every data set; TF-IDF, BM25 and untrained words are always there."""
    for path in options.sts if options.tune else ():
        sts.tuning_sources(path)
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
        store = storing(options, "baselines") | {"output": folder}
        for task, data in given:
            if task not in getattr(encoder, "tasks", (task,)):
                continue
            print(f"== {encoder.path}: {task} ==", flush=True)
            results = evaluate(encoder, task, data, **settings.get(task, {}), **store)
            if task == "cqa":
                cqa.write_predictions(results, folder)
            if task == "sts" and options.tune and not getattr(encoder, "sparse", False):
                _tune(encoder, data, Store(**store))


def _tune(encoder, path: Path, store: Store) -> None:
    """Score with the matrix of `sts --tune`; words of the train file count too."""
    if hasattr(encoder, "fit"):
        train, _ = sts.tuning_sources(path)
        data = (sts_files.read(source) for source in (train, *sts_files.sources(path)))
        encoder.fit([text for one in data for texts in one.texts() for text in texts])
    tuned(encoder, path, store)


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
    encoders: list[Any] = [TfIdf(), Bm25()]
    untrained = [word_average.untrained(letters=letters) for letters in (False, True)]
    trained = [word_average.of_file(path) for path in options.vectors]
    trained += [word_average.of_module(module) for module in options.module_words]
    for table in (*untrained, *trained):
        weighted = WordAverage(table, sif=True)
        encoders += [] if table in untrained else [WordAverage(table)]
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
