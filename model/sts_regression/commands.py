"""`run` writes results and tables, `export` a SavedModel."""

import shlex
import sys
from typing import Any

from common.errors import InputError
from common.files import aside, claim, write_json, write_text
from model.sts_regression import run as folds
from model.sts_regression import serving, training
from model.sts_regression.data import prepared
from model.sts_regression.experiments import COSINES, TABLE_2
from model.sts_regression.layers import regressor as regressors
from model.sts_regression.options import ExportOptions, RunOptions, TrainingOptions
from model.sts_regression.results import result, table

EXPORT_WORDS = 50_000
"""First words of the vectors' file that a SavedModel keeps, besides those of the data."""


def run(options: RunOptions) -> None:
    """Computes the folds that are missing; writes results, table and figure of all there are."""
    rows = _known("--rows", options.rows or tuple(TABLE_2))
    rows += tuple(COSINES) if options.module else ()
    settings, output = options.settings(), options.output
    with claim(output):
        data = _prepared(options, folds_by=options.folds_by, module=options.module)
        weights = options.weights_between_folds
        done = folds.run(rows, data, settings, output=output, weights=weights)
        command = shlex.join(["python", "-m", "model.sts_regression", *sys.argv[1:]])
        for found in result.of_rows(done, data, settings, corpus=options.corpus, command=command):
            write_json(output / "results" / f"{found['name']}.json", found)
        results = result.read(output)
        text = table.markdown(results)
        write_text(output / "table_2.md", text)
        for folds_by in table.with_both_readings(results):
            with aside(output / f"folds_{folds_by}.svg") as new:
                table.draw(results, folds_by, new)
    print(f"\n{text}\n-> {output}/results")
    if all("diverged_in_epoch" in fold for fold in done.values()):
        raise InputError("every fold of every row diverged; --gates bounded may help")


def export(options: ExportOptions) -> None:
    """Trains a row on all training pairs, and writes the SavedModel."""
    (row,), settings = _known("--row", (options.row,)), options.settings()
    with claim(options.output):
        serving.require_replaceable(options.output)
        data = _prepared(options, first_words=EXPORT_WORDS)
        pairs = data.corpus
        if prepared.OWN_SPLIT in data.splits:
            pairs = pairs.take(data.splits[prepared.OWN_SPLIT][0].training)
        regressor = regressors.build(
            TABLE_2[row],
            settings,
            table=data.vectors.table,
            training=pairs.sentences(),
            seed=settings.seed,
        )
        epochs = settings.epochs(TABLE_2[row].epochs)
        training.train(regressor, pairs, settings, epochs=epochs, seed=settings.seed)
        serving.write(options.output, regressor, data.vectors)
    print(f"-> {options.output}")


def _prepared(options: TrainingOptions, **others: Any) -> prepared.Prepared:
    data = prepared.prepare(
        options.data,
        options.corpus,
        settings=options.settings(),
        vectors_path=options.vectors,
        dim=options.dim,
        **others,
    )
    counts = data.vectors.counts()
    print(
        f"{len(data.corpus.scores):,} pairs; {data.vectors.dim}-d word vectors; "
        f"{counts['words_without_vector']:,} of {counts['words']:,} words without one"
    )
    return data


def _known(option: str, rows: tuple[str, ...]) -> tuple[str, ...]:
    for row in rows:
        if row not in TABLE_2:
            raise InputError(f"{option}: {row!r}; accepted: {', '.join(TABLE_2)}")
    return rows
