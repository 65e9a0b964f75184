"""`baselines`: the same tasks for what needs no training."""

import argparse
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from evaluation.cli import options
from evaluation.errors import InputError
from evaluation.results.claim import claim
from evaluation.results.result import RETRIEVAL, TASKS

FOLDER = "baselines"
"""In the output folder: a folder of results for each baseline."""
UNTRAINED = 2
"""Of the word vectors, the first: their plain mean is not scored, only SIF's."""
SLOW_PAIRS = 10_000
"""Training pairs for the map of a sentence-transformers model, as many as in Henderson et al. 2019,
and a fifth as many for its validation: on 2 cores all-MiniLM-L6-v2 encodes them in two minutes."""


def add(commands) -> None:
    """Add the command `baselines`."""
    summary = "TF-IDF, BM25, untrained words, word vectors and installed models on the same tasks"
    parser = options.command(commands, "baselines", run, summary=summary)
    for task in TASKS:
        parser.add_argument(
            f"--{task}", type=Path, metavar="DATA", help=f"as --data of the command {task}"
        )
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
        help="modules whose word_vectors signature gives the vectors, used in the same two ways",
    )
    parser.add_argument(
        "--sentence_transformers",
        **several,
        metavar="NAME|DIR|NAME=DIR",
        help="models of sentence-transformers, where that package is installed",
    )
    parser.add_argument("--modules", **several, metavar="DIR|URL", help="pretrained SavedModels")
    parser.add_argument(
        "--training_pairs",
        type=Path,
        metavar="DIR",
        help="pairs of the pipeline (train-*, validation-*): learn a linear map of the inputs on "
        "them, for response ranking, over the SIF-weighted and the sentence-transformers baselines",
    )
    parser.add_argument(
        "--tune",
        action="store_true",
        help="also score dense embeddings with the matrix of sts --tune",
    )
    options.folder_output(parser, help=f"results go to {FOLDER}/NAME in this folder")
    options.candidates(parser)
    options.seeded(parser)
    options.again(parser)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score every baseline on every data set; TF-IDF, BM25 and untrained words are always there."""
    from evaluation.data import cqa_files, ranking_files, retrieval_files, snli_files, sts_files
    from evaluation.encoders.sentence_transformers import SentenceTransformersEncoder

    _check_options(arguments)
    # First, as one that cannot be loaded should not be told after the others were scored, and if
    # TensorFlow is loaded before PyTorch's compiler, the LLVM of both ends the process.
    installed = [SentenceTransformersEncoder(name) for name in arguments.sentence_transformers]
    given: dict[str, Any] = {task: path for task in TASKS if (path := getattr(arguments, task))}
    if files := options.given_retrieval_files(arguments):
        given[RETRIEVAL] = files
    if not given:
        needed = ", ".join(f"--{task}" for task in (*TASKS, "queries"))
        raise InputError(f"no data: one or more of {needed}")
    _check_given(arguments)
    _check_folders(arguments, installed)
    from evaluation.tasks.cqa import write_predictions
    from evaluation.tasks.evaluate import evaluate

    columns = sts_files.Columns(*arguments.sts_columns) if arguments.sts_columns else None
    if columns:
        columns = columns._replace(quotes=not arguments.no_quotes)
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
    storing = options.storing(arguments, command=command)
    for encoder in _encoders(arguments, installed):
        folder = arguments.output / FOLDER / _folder_name(encoder.path)
        storing["output"] = folder
        for task in (one for one in given if one in getattr(encoder, "tasks", given)):
            print(f"== {encoder.path}: {task} ==", flush=True)
            if hasattr(encoder, "fit"):
                encoder.fit(texts[task])
            with claim(folder, command=task, folder=True):
                results = evaluate(encoder, task, given[task], **settings.get(task, {}), **storing)
                if task == "cqa":
                    write_predictions(results, folder)
                if task == "sts" and arguments.tune and not getattr(encoder, "sparse", False):
                    _tune(encoder, given[task], texts[task], storing)


def _tune(encoder, path: Path, texts: list[str], storing: dict) -> None:
    """Score with the matrix of `sts --tune`; words of the train file count too."""
    from evaluation.data import sts_files
    from evaluation.tasks import sts, sts_tuning
    from evaluation.tasks.evaluate import Store

    sources = sts.tuning_sources(path)
    train, dev = map(sts_files.read, sources)
    if hasattr(encoder, "fit"):
        encoder.fit([*texts, *itertools.chain.from_iterable(train.texts())])

    @cache
    def matrix():
        found = sts_tuning.learn(encoder, train, dev)
        print(f"{found.summary()}\n", flush=True)
        return found.matrix

    Store(**storing).results(
        sts.tuned_evaluations(path, encoder, matrix=matrix, learned_from=sources)
    )


def _check_options(arguments: argparse.Namespace) -> None:
    """Raise InputError for an option without the data that it is about."""
    for option, data in (("training_pairs", "response_ranking"), ("sts_columns", "sts")):
        if getattr(arguments, option) and not getattr(arguments, data):
            raise InputError(f"--{option}: --{data} is missing; accepted: with --{data}")
    if arguments.candidates != options.CANDIDATES and not arguments.response_ranking:
        raise InputError("--candidates: accepted with --response_ranking, which is missing")


def _check_given(arguments: argparse.Namespace) -> None:
    """Raise InputError for a file or module that is not there, before the others are scored."""
    from evaluation.data.files import existing
    from evaluation.tasks import sts

    if arguments.tune and not arguments.sts:
        raise InputError("--tune needs --sts, the folder of the STS Benchmark")
    if arguments.tune:
        sts.tuning_sources(arguments.sts)
    for path in arguments.vectors:
        if not existing(path).is_file():
            raise InputError(
                f"--vectors {path}: not a regular file; a file of word vectors is accepted"
            )
    for module in (*arguments.module_words, *arguments.modules):
        if "://" not in module and not Path(module, "saved_model.pb").is_file():
            raise InputError(
                f"{module}: no SavedModel here (a folder with saved_model.pb is needed)"
            )


def _check_folders(arguments: argparse.Namespace, installed: Sequence) -> None:
    """Raise InputError for two baselines whose results would be in one folder."""
    from evaluation.encoders import words

    given = [(f"--vectors {path}", words.name_of_file(path)) for path in arguments.vectors]
    given += [
        (f"--module_words {one}", words.name_of_module(one)) for one in arguments.module_words
    ]
    given += [(f"--modules {module}", module) for module in arguments.modules]
    given += [(f"--sentence_transformers {one.path}", one.path) for one in installed]
    taken = {"TF-IDF": "TF-IDF", "BM25": "BM25"}
    for option, path in given:
        folder = _folder_name(path)
        if folder in taken:
            raise InputError(
                f"{option}: its results would be in {FOLDER}/{folder}, as those of "
                f"{taken[folder]}; accepted: other names, or a command for each"
            )
        taken[folder] = option


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


def _encoders(arguments: argparse.Namespace, installed: Sequence) -> Iterator:
    """Yield each baseline, most of them loaded when their turn comes."""
    from evaluation.encoders import words
    from evaluation.encoders.bm25 import Bm25
    from evaluation.encoders.saved_model import load_encoder

    pairs = _training_pairs(arguments)
    yield words.TfIdf()
    yield Bm25()
    vectors = [words.untrained(letters=letters) for letters in (False, True)]
    vectors += [words.of_file(path) for path in arguments.vectors]
    vectors += [words.of_module(module) for module in arguments.module_words]
    for number, (name, source, lookup) in enumerate(vectors):
        weighted = words.WordAverage(name, source=source, lookup=lookup, sif=True)
        if number >= UNTRAINED:
            yield words.WordAverage(name, source=source, lookup=lookup)
        yield weighted
        yield from _mapped(weighted, pairs)
    for module in arguments.modules:
        yield load_encoder(module, pretrained=True)
    for encoder in installed:
        yield encoder
        yield from _mapped(encoder, pairs, most=SLOW_PAIRS)


def _training_pairs(arguments: argparse.Namespace) -> dict[str, list]:
    """Return the training and the validation pairs, where they are asked for.

    Raises:
      InputError: if the folder lacks either, or has too few.
    """
    if not (arguments.training_pairs and arguments.response_ranking):
        return {}
    from evaluation.data import ranking_files
    from evaluation.data.files import Source
    from evaluation.encoders.linear_map import require_enough

    found = {}
    for split in ("train", "validation"):
        files = ranking_files.shards(arguments.training_pairs, split)
        found[split] = ranking_files.read(Source(split, files)).pairs
    require_enough(found["train"], found["validation"])
    return found


def _mapped(encoder, pairs: dict[str, list], *, most: int | None = None) -> Iterator:
    """Yield the encoder with a linear map that is learned on the first pairs, if there are any."""
    if pairs:
        from evaluation.encoders.linear_map import LinearMap

        yield LinearMap(encoder, pairs["train"][:most], pairs["validation"][: most and most // 5])
