"""Scores a sentence-embedding SavedModel and reports the scores."""

import argparse
import os
from collections.abc import Sequence

from common import command_line
from common.command_line import Command
from evaluation.cli import options

COMMANDS = (
    Command(
        "response_ranking",
        options.ResponseRankingOptions,
        run="evaluation.cli.tasks:response_ranking",
        summary="P@N: the true response among others (table 1)",
        example="--module module/ --data pairs/ --output results/",
    ),
    Command(
        "snli",
        options.SnliOptions,
        run="evaluation.cli.tasks:snli",
        summary="accuracy on SNLI (table 2)",
        example="--module module/ --data snli/ --output results/",
    ),
    Command(
        "sts",
        options.StsOptions,
        run="evaluation.cli.tasks:sts",
        summary="Pearson and Spearman on the STS Benchmark, a SemEval year or SICK",
        example="--module module/ --data stsb/ --output results/\n"
        "  python -m evaluation sts --module module/ --data pairs.csv \\\n"
        "      --columns sentence1 sentence2 score --output results/",
    ),
    Command(
        "cqa",
        options.CqaOptions,
        run="evaluation.cli.tasks:cqa",
        summary="MAP, AvgRec, MRR on SemEval Task 3, subtask B (table 6)",
        example="--module module/ --data semeval_cqa/ --output results/",
    ),
    Command(
        "retrieval",
        options.RetrievalOptions,
        run="evaluation.cli.tasks:retrieval",
        summary="your own queries and documents: nDCG, MRR and recall",
        example="--module module/ --queries queries.tsv \\\n"
        "      --documents documents.jsonl --relevant qrels.txt --output results/",
    ),
    Command(
        "baselines",
        options.BaselinesOptions,
        run="evaluation.cli.baselines:run",
        summary="TF-IDF, BM25, untrained words, word vectors and installed models, same tasks",
        example="--sts stsb/ --vectors glove.txt --output results/",
    ),
    Command(
        "compare",
        options.CompareOptions,
        run="evaluation.cli.compare:run",
        summary="a paired test of two modules, from their stored results",
        example="results_a/ results_b/ --output differences.json",
    ),
    Command(
        "contamination",
        options.ContaminationOptions,
        run="evaluation.cli.contamination:run",
        summary="overlaps between training records and evaluation sets, and scores without them",
        example="--training pairs/ --sts stsb/ \\\n      --results results/ --output leaks/",
    ),
    Command(
        "mistakes",
        options.MistakesOptions,
        run="evaluation.cli.mistakes:run",
        summary="where a module is wrong: errors by kind of text, the worst pairs",
        example="--module module/ --sts stsb/sts-dev.csv \\\n"
        "      --response_ranking pairs/ --output mistakes/",
    ),
    Command(
        "report",
        options.ReportOptions,
        run="evaluation.cli.pages:report",
        summary="one HTML page, one Markdown table, one JSON file from stored results",
        example="--results results/ --output report.html",
    ),
    Command(
        "rows",
        options.RowsOptions,
        run="evaluation.cli.pages:rows",
        summary="the main figures and the paper's tables with means over seeds; every row as CSV",
        example="--results runs/results/ --pairs pairs/ --output RESULTS.md",
    ),
)


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    return command_line.make_parser("evaluation", __doc__, COMMANDS)


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command."""
    # TensorFlow's runtime reports a missing GPU as an error; what matters it raises as well.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # TensorFlow imports a Keras, unused here: tf_keras takes a second less than Keras 3.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # else one process takes all memory
    command_line.main("evaluation", __doc__, COMMANDS, argv)


if __name__ == "__main__":
    main()
