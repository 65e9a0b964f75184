"""`baselines`: the same tasks for what needs no training."""

import argparse
import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.cli import options
from evaluation.errors import InputError
from evaluation.results.claim import claim
from evaluation.results.result import RETRIEVAL, TASKS

FOLDER = "baselines"
"""In the output folder: a folder of results for each baseline."""


def add(commands) -> None:
    """Add the command `baselines`."""
    summary = "the same tasks for TF-IDF, untrained words, word vectors and installed models"
    parser = options.command(commands, "baselines", run, summary=summary)
    for task in TASKS:
        parser.add_argument(f"--{task}", type=Path, metavar="DATA", help=f"as --data of {task}")
    options.columns(parser, "--sts_columns")
    options.retrieval_files(parser, needed=False)
    several: dict = {"nargs": "+", "default": []}
    parser.add_argument(
        "--vectors",
        **several,
        type=Path,
        metavar="FILE",
        help="word vectors in GloVe's format, plain or .gz: averaged, and weighted as in SIF",
    )
    parser.add_argument(
        "--module_words",
        **several,
        metavar="DIR|URL",
        help="modules whose signature word_vectors is used likewise",
    )
    parser.add_argument(
        "--sentence_transformers",
        **several,
        metavar="NAME|DIR|NAME=DIR",
        help="models of sentence-transformers, where that package is installed",
    )
    parser.add_argument(
        "--modules", **several, metavar="DIR|URL", help="SavedModels, and what tensorflow-hub finds"
    )
    options.folder_output(parser, help=f"results go to {FOLDER}/NAME in this folder")
    options.candidates(parser)
    options.seeded(parser)
    options.again(parser)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score every baseline on every data set; TF-IDF and untrained words are always among them."""
    from evaluation.data import cqa_files, ranking_files, retrieval_files, snli_files, sts_files
    from evaluation.encoders.sentence_transformers import SentenceTransformersEncoder

    # First of all, for one that cannot be loaded should not be told after the others were scored,
    # and if TensorFlow is loaded before PyTorch's compiler, the LLVM of both ends the process.
    installed = [SentenceTransformersEncoder(name) for name in arguments.sentence_transformers]
    given: dict[str, Any] = {task: path for task in TASKS if (path := getattr(arguments, task))}
    if files := options.given_retrieval_files(arguments):
        given[RETRIEVAL] = files
    if not given:
        needed = ", ".join(f"--{task}" for task in (*TASKS, "queries"))
        raise InputError(f"no data: one or more of {needed}")
    _check_given(arguments)
    from evaluation.tasks.cqa import write_predictions
    from evaluation.tasks.evaluate import evaluate

    columns = sts_files.Columns(*arguments.sts_columns) if arguments.sts_columns else None
    settings = {
        "response_ranking": {"candidates": arguments.candidates},
        "sts": {"columns": columns},
    }
    readers: dict[str, tuple[Callable, Callable]] = {
        "response_ranking": (ranking_files.find, ranking_files.read),
        "snli": (snli_files.find, snli_files.read),
        "sts": (sts_files.find, partial(sts_files.read, columns=columns)),
        "cqa": (cqa_files.find, cqa_files.read),
        RETRIEVAL: (retrieval_files.find, retrieval_files.read),
    }
    texts = {task: _texts(*readers[task], data) for task, data in given.items()}
    for encoder in itertools.chain(_encoders(arguments), installed):
        folder = arguments.output / FOLDER / _folder_name(encoder.path)
        for task, data in given.items():
            print(f"== {encoder.path}: {task} ==", flush=True)
            if hasattr(encoder, "fit"):
                encoder.fit(texts[task])
            storing = options.storing(arguments, command=command) | {"output": folder}
            with claim(folder, command=task, folder=True):
                results = evaluate(encoder, task, data, **settings.get(task, {}), **storing)
                if task == "cqa":
                    write_predictions(results, folder)


def _check_given(arguments: argparse.Namespace) -> None:
    """Raise InputError for a file or module that is not there, before the others are scored."""
    from evaluation.data.files import existing

    for path in arguments.vectors:
        if not existing(path).is_file():
            raise InputError(f"--vectors {path}: a folder; a file of word vectors is accepted")
    for module in (*arguments.module_words, *arguments.modules):
        if "://" not in module and not Path(module, "saved_model.pb").is_file():
            raise InputError(
                f"{module}: no SavedModel here (a folder with saved_model.pb is needed)"
            )


def _folder_name(path: str) -> str:
    """Return the folder of a baseline's results: of a model in a folder, that folder's name."""
    name = Path(path).resolve().name if Path(path).is_dir() else path
    return re.sub(r"[^\w.+-]+", "_", name).strip("_")


def _texts(find: Callable, read: Callable, data: Any) -> list[str]:
    """Return all texts of a task's data, those of its train file included."""
    found = find(data)
    sources = found.values() if isinstance(found, dict) else found
    pairs = (pair for source in sources for pair in read(source).texts())
    return list(itertools.chain.from_iterable(pairs))


def _encoders(arguments: argparse.Namespace) -> Iterator:
    """Yield the others, each loaded when its turn comes."""
    from evaluation.encoders import words
    from evaluation.encoders.saved_model import load_encoder

    yield words.TfIdf()
    for letters in (False, True):
        name, source, lookup = words.untrained(letters=letters)
        yield words.WordAverage(name, source=source, lookup=lookup, sif=True)
    vectors = [words.of_file(path) for path in arguments.vectors]
    vectors += [words.of_module(module) for module in arguments.module_words]
    for name, source, lookup in vectors:
        for sif in (False, True):
            yield words.WordAverage(name, source=source, lookup=lookup, sif=sif)
    for module in arguments.modules:
        yield load_encoder(module)
