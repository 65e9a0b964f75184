"""`baselines`: the same tasks for what needs no training.

python -m evaluation baselines --sts DIR --cqa DIR --vectors glove.txt --output results
"""

import argparse
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from evaluation.cli import options
from evaluation.errors import InputError

FOLDER = "baselines"
"""Where the results stand, in the output folder: a folder for each baseline."""
TASKS = ("response_ranking", "snli", "sts", "cqa")


def add(commands) -> None:
    """Add the command `baselines`."""
    summary = "the same tasks for TF-IDF, word vectors and models that are installed"
    parser = commands.add_parser("baselines", help=summary, description=summary)
    for task in TASKS:
        parser.add_argument(f"--{task}", type=Path, metavar="DATA", help=f"as --data of {task}")
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
    parser.add_argument("--candidates", type=int, default=100, help="default: %(default)s")
    options.seeded(parser)
    options.again(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Score every baseline on every data set that is given; TF-IDF is always among them."""
    from evaluation.cli import (
        cqa,
        response_ranking,
        snli,
        sts,
    )
    from evaluation.encoders.installed import SentenceTransformersEncoder

    # First of all, for one that cannot be loaded should not be told after the others were scored,
    # and if TensorFlow is loaded before PyTorch's compiler, the LLVM of both ends the process.
    installed = [SentenceTransformersEncoder(name) for name in arguments.sentence_transformers]
    given = {task: path for task in TASKS if (path := getattr(arguments, task))}
    if not given:
        raise InputError(f"no data: one or more of {', '.join(f'--{task}' for task in TASKS)}")
    _check_given(arguments)
    texts = {task: _texts(task, path) for task, path in given.items()}
    commands = {"response_ranking": response_ranking, "snli": snli, "sts": sts, "cqa": cqa}
    for encoder in itertools.chain(_encoders(arguments), installed):
        folder = arguments.output / FOLDER / _folder_name(encoder.path)
        for task, path in given.items():
            print(f"== {encoder.path}: {task} ==", flush=True)
            if hasattr(encoder, "fit"):
                encoder.fit(texts[task])
            asked = _arguments(commands[task], task, data=path, output=folder)
            asked.module = encoder
            asked.seed, asked.again = arguments.seed, arguments.again
            asked.candidates = arguments.candidates
            with options.claimed(asked):
                commands[task].run(asked, command=command)


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
    """Return what a baseline's results are called: of a model in a folder, that folder's name."""
    name = Path(path).resolve().name if Path(path).is_dir() else path
    return re.sub(r"[^\w.+-]+", "_", name).strip("_")


def _arguments(command, task: str, *, data: Path, output: Path) -> argparse.Namespace:
    """Return what a task's command takes, but for data and output by default."""
    root = argparse.ArgumentParser()
    command.add(root.add_subparsers(dest="command"))
    return root.parse_args([task, "--module=", f"--data={data}", f"--output={output}"])


def _texts(task: str, path: Path) -> list[str]:
    """Return all texts of a task's data, those of its train file included."""
    from evaluation.data import snli_files, sts_files
    from evaluation.tasks import cqa, response_ranking

    if task == "sts":
        pairs = [pair for source in sts_files.find(path) for pair in sts_files.read(source).pairs]
        return [text for pair in pairs for text in (pair.sentence1, pair.sentence2)]
    if task == "snli":
        found = [snli_files.read(source) for source in snli_files.find(path).values()]
        return [text for data in found for p in data.pairs for text in (p.premise, p.hypothesis)]
    if task == "cqa":
        queries = [query for source in cqa.find(path) for query in cqa.read(source).queries]
        return [text for q in queries for text in (q.text, *(c.text for c in q.candidates))]
    ranked = [
        pair
        for source in response_ranking.find(path)
        for pair in response_ranking.read(source).pairs
    ]
    return [text for pair in ranked for text in (pair.input, pair.response)]


def _encoders(arguments: argparse.Namespace) -> Iterator:
    """Yield the others, each loaded when its turn comes."""
    from evaluation.encoders import averages, tfidf, word_vectors

    yield tfidf.TfIdf()
    vectors = [word_vectors.of_file(path) for path in arguments.vectors]
    vectors += [word_vectors.of_module(module) for module in arguments.module_words]
    for name, source, lookup in vectors:
        yield averages.Averaged(name, source=source, lookup=lookup)
        yield averages.Sif(name, source=source, lookup=lookup)
    for module in arguments.modules:
        yield options.encoder(module)
