"""Command line of the STS regressors of Prijatelj et al. 2017.

python -m model.sts_regression run --data DIR --vectors FILE --output DIR --preset quick
python -m model.sts_regression export --data DIR --vectors FILE --row lstm2_lstm2 --output DIR
python -m model.sts_regression vectors --data DIR --module DIR --output FILE
"""

import argparse
import dataclasses
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

from model import output_folder
from model.errors import InputError, TrainingError
from model.sts_regression.choices import (
    CARRIED,
    FRESH,
    PRESETS,
    RANDOM,
    WAYS,
    WEIGHTS,
    Choices,
    accepted,
    of,
)
from model.sts_regression.data.pairs import CORPORA, STSB

_EXAMPLES = {
    "run": "run --preset quick --data DIR --vectors glove.txt --output regressors/",
    "export": "export --row lstm2_lstm2 --data DIR --vectors glove.txt --output regressor/",
    "vectors": "vectors --data DIR --module module/ --output vectors.txt",
}
"""Of each command, what follows the program's name."""
_OF_SEVERAL = ("folds_by", "weights_between_folds")
"""Choices of which `run` takes several."""
EXPORT_WORDS = 50_000


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    root = argparse.ArgumentParser(
        prog="python -m model.sts_regression",
        description="Trains simple networks that compare two sentences (Prijatelj et al. 2017).",
    )
    commands = root.add_subparsers(dest="command", required=True)
    run = _command(commands, "run", "cross-validate the rows of table 2")
    _add_training(run)
    run.add_argument(
        "--rows",
        action="extend",
        nargs="+",
        metavar="NAME",
        help="default: those of --rows_file; without it all 11 of table 2",
    )
    run.add_argument(
        "--module", type=Path, help="SavedModel; adds the cosine of its embeddings as two rows"
    )
    run.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        help="number of processes; default: that of the cores",
    )
    run.add_argument(
        "--folds_by",
        action="extend",
        nargs="+",
        choices=WAYS,
        help="random (default); sentences: no sentence both trains and is held out; both: also "
        "compare them",
    )
    run.add_argument(
        "--weights_between_folds",
        action="extend",
        nargs="+",
        choices=WEIGHTS,
        help="fresh (default): every fold begins with new weights; carried: with the weights of "
        "the fold before; both: also compare them with the paper's figures",
    )
    export = _command(
        commands, "export", "train one row on all training pairs and write a SavedModel"
    )
    _add_training(export)
    export.add_argument("--row", required=True, metavar="NAME", help="a row of table 2")
    export.add_argument(
        "--export_words",
        type=int,
        metavar="N",
        help="first words of the vectors' file that the SavedModel keeps, besides those of the "
        f"data; default: {EXPORT_WORDS}; of a module it keeps those of the data alone",
    )
    vectors = _command(commands, "vectors", "write a module's word vectors in GloVe's format")
    vectors.add_argument(
        "--module", type=Path, required=True, help="SavedModel with signature word_vectors"
    )
    return root


def _command(commands: Any, name: str, summary: str) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n  python -m model.sts_regression {_EXAMPLES[name]}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder with sts2016/ and sts2017_track5/, or stsb/",
    )
    command.add_argument(
        "--corpus", choices=CORPORA, default=CORPORA[0], help="training pairs; default: %(default)s"
    )
    command.add_argument("--output", type=Path, required=True, help="folder or file to write")
    return command


def _add_training(command: argparse.ArgumentParser) -> None:
    """Adds what training needs, and each choice as an option."""
    command.add_argument(
        "--vectors", type=Path, required=True, help="file in GloVe's format, or a SavedModel"
    )
    command.add_argument("--dim", type=int, metavar="N", help="width that the vectors must have")
    command.add_argument(
        "--preset",
        choices=PRESETS,
        default="paper",
        help="the paper's setting, or a quick one; default: %(default)s",
    )
    command.add_argument("--rows_file", type=Path, help="Python file with EXPERIMENTS of your own")
    group = command.add_argument_group("choices", "model/sts_regression/choices.py says more")
    for field in dataclasses.fields(Choices):
        if field.name in _OF_SEVERAL:
            continue
        if isinstance(field.default, bool):
            group.add_argument(
                f"--{field.name}", action="store_const", const=True, help="paper: off"
            )
            continue
        group.add_argument(
            f"--{field.name}",
            type=type(field.default),
            choices=accepted(field.name),
            metavar=None if accepted(field.name) else "N",
            help=f"paper: {field.default}",
        )


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns 0, or 1 after one line about what went wrong."""
    argv = sys.argv[1:] if argv is None else argv
    arguments = parser().parse_args(argv)
    # TensorFlow reports a missing GPU as an error; what matters it raises as well.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Makes tf.keras the Keras of our layers, tf_keras: importing Keras 3 as well takes a second.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    try:
        if arguments.command == "run":
            output_folder.require_folder(arguments.output)
            with output_folder.claimed(arguments.output):
                _run(arguments, command=shlex.join(["python", "-m", "model.sts_regression", *argv]))
        elif arguments.command == "export":
            _export(arguments)
        else:
            _vectors(arguments)
    except (InputError, TrainingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the folds that are done are kept", file=sys.stderr)
        return 130
    return 0


def _choices(arguments: argparse.Namespace) -> Choices:
    """The choices of the command line, checked."""
    if arguments.dim is not None and arguments.dim < 1:
        raise InputError(f"--dim {arguments.dim}; accepted: numbers of at least 1")
    names = [field.name for field in dataclasses.fields(Choices) if field.name not in _OF_SEVERAL]
    given = {name: getattr(arguments, name) for name in names}
    return of(arguments.preset, {name: value for name, value in given.items() if value is not None})


def _run(arguments: argparse.Namespace, *, command: str) -> None:
    """Computes all folds of all rows; writes their results and the table."""
    choices = _choices(arguments)
    if arguments.jobs < 1:
        raise InputError(f"--jobs {arguments.jobs}; accepted: numbers of at least 1")
    weights = arguments.weights_between_folds or [FRESH]
    if arguments.corpus == STSB and (
        arguments.folds is not None or arguments.folds_by or CARRIED in weights
    ):
        raise InputError(
            f"--folds, --folds_by, --weights_between_folds {CARRIED}: {STSB} has its own split; "
            "accepted: none of them"
        )
    from model.sts_regression import experiments
    from model.sts_regression.data import prepared
    from model.sts_regression.results import figure, results, table
    from model.sts_regression.training import run

    output = arguments.output
    results.read(output)  # those of earlier runs are rows of the table, too
    known = experiments.load(arguments.rows_file)
    own = [name for name in known if name not in experiments.TABLE_2]
    rows = _known_rows("--rows", arguments.rows or own or list(experiments.TABLE_2), known)
    rows += experiments.COSINES if arguments.module else ()
    data = prepared.prepare(
        arguments.data,
        arguments.corpus,
        choices=choices,
        ways=arguments.folds_by or [RANDOM],
        vectors_path=arguments.vectors,
        dim=arguments.dim,
        module=arguments.module,
    )
    _print_summary(data)
    done = run.run(
        rows,
        data,
        choices,
        output=output,
        jobs=arguments.jobs,
        rows_file=arguments.rows_file,
        weights=weights,
    )
    for result in results.of_rows(
        done, known=known, prepared=data, choices=choices, corpus=arguments.corpus, command=command
    ):
        output_folder.write_json(output / "results" / f"{result['name']}.json", result)
    found = results.read(output)
    text = table.markdown(found)
    output_folder.write_text(output / "table_2.md", text)
    for way in arguments.folds_by or [RANDOM]:
        if picture := figure.svg(found, way):
            output_folder.write_text(output / f"folds_{way}.svg", picture.decode())
    print(f"\n{text}\n-> {output}/results")
    if all("diverged_in_epoch" in fold for fold in done.values()):
        raise TrainingError("every fold of every row diverged; --gates bounded may help")


def _known_rows(option: str, rows: list[str], known: dict) -> list[str]:
    for row in rows:
        if row not in known:
            raise InputError(f"{option}: {row!r}; accepted: {', '.join(known)}")
    return rows


def _print_summary(data: Any) -> None:
    vectors = data.vectors
    often = ", ".join(word for word, _ in vectors.unknown.most_common(8))
    print(
        f"{len(data.corpus.data.scores):,} pairs; {vectors.dim}-d word vectors; "
        f"{vectors.unknown.total():,} of {vectors.looked_up:,} words without one"
        + (f" ({often}, ...)" if often else "")
    )


def _export(arguments: argparse.Namespace) -> None:
    """Trains on all training pairs, and writes the SavedModel."""
    choices = _choices(arguments)
    if arguments.folds is not None:
        raise InputError("--folds: accepted only by run; export trains on all pairs")
    output_folder.require_folder(arguments.output.parent)
    if arguments.export_words is not None and arguments.export_words < 0:
        raise InputError(
            f"--export_words {arguments.export_words}; accepted: numbers of at least 0"
        )
    from tqdm import tqdm

    from model.sts_regression import experiments, serving
    from model.sts_regression.data import prepared
    from model.sts_regression.data import vectors as word_vectors
    from model.sts_regression.layers import regressor as regressors
    from model.sts_regression.training import training

    is_module = arguments.vectors.is_dir()
    if is_module and arguments.export_words is not None:
        raise InputError(
            f"--export_words: {arguments.export_words}; accepted with a file of vectors, as "
            f"{str(arguments.vectors)!r} is a module"
        )
    serving.check(arguments.output)
    known = experiments.load(arguments.rows_file)
    (row,) = _known_rows("--row", [arguments.row], known)
    source, _, own = prepared.sources(arguments.data, arguments.corpus)
    pairs = source.pairs if own is None else [source.pairs[i] for i in own.training]
    words = prepared.split_words(pairs)
    vectors = word_vectors.load(
        arguments.vectors,
        {word for sentence in words.values() for word in sentence},
        unknown_as=choices.unknown_words,
        dim=arguments.dim,
        first=EXPORT_WORDS if arguments.export_words is None else arguments.export_words,
    )
    data = prepared.as_data(pairs, words, vectors)
    regressor = regressors.build(
        known[row], choices, table=vectors.table, training=data.sentences(), seed=choices.seed
    )
    epochs = choices.epochs(known[row].epochs)
    with tqdm(total=epochs, unit=" epochs") as bar:
        try:
            training.train(
                regressor, data, choices, epochs=epochs, seed=choices.seed, epoch_ended=bar.update
            )
        except training.DivergedError as error:
            raise TrainingError(f"{row}: {error}; --gates bounded may help") from error
    serving.write(arguments.output, regressor, vectors)
    print(f"-> {arguments.output}")


def _vectors(arguments: argparse.Namespace) -> None:
    """Writes the module's vectors of all words of the data."""
    if arguments.output.is_dir():
        raise InputError(f"--output {arguments.output}: a folder; the name of a file is accepted")
    output_folder.require_folder(arguments.output.parent)
    if not arguments.module.is_dir():
        raise InputError(f"--module {arguments.module}: not a folder; a SavedModel is accepted")
    from model.sts_regression.data import prepared
    from model.sts_regression.data import vectors as word_vectors

    source, tests, _ = prepared.sources(arguments.data, arguments.corpus)
    words = prepared.split_words([*source.pairs, *(p for t in tests.values() for p in t.pairs)])
    found = word_vectors.load(
        arguments.module, {word for some in words.values() for word in some}, unknown_as="zero"
    )
    word_vectors.write(arguments.output, found.words, found.table[-len(found.words) :])
    print(f"{len(found.words):,} words of {found.dim} dimensions -> {arguments.output}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: ends all processes
    sys.exit(main())
