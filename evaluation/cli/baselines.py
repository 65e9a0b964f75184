"""`baselines`: the same tasks for what is not our model, linear maps learned on it included."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from common import sts as sts_files
from common.errors import InputError
from evaluation.cli import claimed
from evaluation.cli.options import BaselinesOptions
from evaluation.cli.tasks import storing
from evaluation.data import cqa_files, ranking_files, retrieval_files, snli_files
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.encoders import word_tables
from evaluation.encoders.bm25 import Bm25
from evaluation.encoders.sentence_transformers import SentenceTransformersEncoder
from evaluation.encoders.tfidf import TfIdf
from evaluation.encoders.word_average import WordAverage
from evaluation.results.result import RETRIEVAL, TASKS
from evaluation.tasks import cqa, sts, sts_tuning
from evaluation.tasks.evaluate import Store, evaluate

FOLDER = "baselines"
"""In the output folder: a folder of results for each baseline."""
UNTRAINED = 2
"""Of the word vectors, the first: their plain mean is not scored, only SIF's."""
SLOW_PAIRS = 10_000
"""Training pairs for the map of a sentence-transformers model, as many as in Henderson et al. 2019,
and a fifth as many for its validation: on 2 cores all-MiniLM-L6-v2 encodes them in two minutes."""


def run(options: BaselinesOptions) -> None:
    """Score every baseline on every data set; TF-IDF, BM25 and untrained words are always there."""
    # First, as one that cannot be loaded should not be told after the others were scored, and if
    # TensorFlow is loaded before PyTorch's compiler, the LLVM of both ends the process.
    installed = [SentenceTransformersEncoder(name) for name in options.sentence_transformers]
    _check_given(options, installed)
    given: dict[str, Any] = {task: path for task in TASKS if (path := getattr(options, task))}
    if options.queries and options.documents and options.relevant:
        given[RETRIEVAL] = RetrievalFiles(options.queries, options.documents, options.relevant)
    columns = options.sts_columns and sts_files.Columns(
        *options.sts_columns, quotes=not options.no_quotes
    )
    settings: dict[str, dict[str, Any]] = {
        "response_ranking": {"candidates": options.candidates},
        "sts": {"columns": columns},
    }
    readers: dict[str, tuple[Callable, Callable]] = {
        "response_ranking": (ranking_files.find, ranking_files.read),
        "snli": (lambda path: snli_files.find(path).values(), snli_files.read),
        "sts": (sts_files.sources, partial(sts_files.read, columns=columns)),
        "cqa": (cqa_files.find, cqa_files.read),
        RETRIEVAL: (retrieval_files.find, retrieval_files.read),
    }
    texts = {task: _texts(*readers[task], data) for task, data in given.items()}
    for encoder in _encoders(options, installed):
        folder = options.output / FOLDER / _folder_name(encoder.path)
        to_folder = storing(options, "baselines") | {"output": folder}
        for task in (one for one in given if one in getattr(encoder, "tasks", given)):
            print(f"== {encoder.path}: {task} ==", flush=True)
            if hasattr(encoder, "fit"):
                encoder.fit(texts[task])
            with claimed.folder(folder, task):
                results = evaluate(
                    encoder, task, given[task], **settings.get(task, {}), **to_folder
                )
                if task == "cqa":
                    cqa.write_predictions(results, folder)
                if task == "sts" and options.tune and not getattr(encoder, "sparse", False):
                    _tune(encoder, given[task], texts[task], to_folder)


def _tune(encoder, path: Path, texts: list[str], to_folder: dict) -> None:
    """Score with the matrix of `sts --tune`; words of the train file count too."""
    sources = sts.tuning_sources(path)
    train, dev = map(sts_files.read, sources)
    if hasattr(encoder, "fit"):
        encoder.fit([*texts, *itertools.chain.from_iterable(train.texts())])

    @cache
    def matrix():
        tuned = sts_tuning.learn(encoder, train, dev)
        print(f"{tuned.summary()}\n", flush=True)
        return tuned.matrix

    Store(**to_folder).results(
        sts.tuned_evaluations(path, encoder, matrix=matrix, learned_from=sources)
    )


def _check_given(options: BaselinesOptions, installed: Sequence) -> None:
    """Raise InputError, before the others are scored, for what cannot be.

    A file or module that is not there, and two baselines whose results would be in one folder.
    """
    if options.tune and options.sts:
        sts.tuning_sources(options.sts)
    modules = [each for each in (*options.module_words, *options.modules) if "://" not in each]
    needed = [*options.vectors, *(Path(module, "saved_model.pb") for module in modules)]
    if missing := next((path for path in needed if not path.is_file()), None):
        raise InputError(f"{missing}: no such file")
    paths = [TfIdf.path, Bm25.path, *(encoder.path for encoder in installed), *options.modules]
    paths += map(word_tables.name_of_file, options.vectors)
    paths += map(word_tables.name_of_module, options.module_words)
    folders = [_folder_name(path) for path in paths]
    if twice := next((name for name in folders if folders.count(name) > 1), None):
        raise InputError(f"{FOLDER}/{twice}: of two baselines; accepted: other names, or one")


def _folder_name(path: str) -> str:
    """Return the folder of a baseline's results: of a model in a folder, that folder's name."""
    name = Path(path).resolve().name if Path(path).is_dir() else path
    return re.sub(r"[^\w.+-]+", "_", name).strip("_")


def _texts(find: Callable, read: Callable, data: Any) -> list[str]:
    """Return all texts of a task's data, those of its train file included."""
    return [text for source in find(data) for texts in read(source).texts() for text in texts]


def _encoders(options: BaselinesOptions, installed: Sequence) -> Iterator:
    """Yield each baseline, most of them loaded when their turn comes."""
    pairs = _training_pairs(options.training_pairs) if options.training_pairs else {}
    yield TfIdf()
    yield Bm25()
    tables = [word_tables.untrained(letters=letters) for letters in (False, True)]
    tables += [word_tables.of_file(path) for path in options.vectors]
    tables += [word_tables.of_module(module) for module in options.module_words]
    for number, table in enumerate(tables):
        weighted = WordAverage(table, sif=True)
        if number >= UNTRAINED:
            yield WordAverage(table)
        yield weighted
        yield from _mapped(weighted, pairs)
    for module in options.modules:
        from evaluation.encoders.saved_model import load_encoder  # TensorFlow takes seconds

        yield load_encoder(module, pretrained=True)
    for encoder in installed:
        yield encoder
        yield from _mapped(encoder, pairs, most=SLOW_PAIRS)


def _training_pairs(folder: Path) -> dict[str, list]:
    """Return the training and the validation pairs.

    Raises:
      InputError: if the folder lacks either, or has too few.
    """
    from evaluation.encoders import linear_map  # TensorFlow takes seconds

    splits = ("train", "validation")
    pairs = {name: ranking_files.read(ranking_files.shards(folder, name)).pairs for name in splits}
    linear_map.require_enough(pairs["train"], pairs["validation"])
    return pairs


def _mapped(encoder, pairs: dict[str, list], *, most: int | None = None) -> Iterator:
    """Yield the encoder with a linear map that is learned on the first pairs, if there are any."""
    if pairs:
        from evaluation.encoders.linear_map import LinearMap

        yield LinearMap(encoder, pairs["train"][:most], pairs["validation"][: most and most // 5])
