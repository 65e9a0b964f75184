"""Scores a sentence-embedding SavedModel and reports the scores."""

import os
from collections.abc import Sequence

from common import command_line
from common.command_line import Command
from evaluation import options

_SCORE, _MODULE = "evaluation.commands:score", "--module module/ --output results/"
COMMANDS = (
    Command(
        *("response_ranking", options.ResponseRankingOptions, _SCORE),
        "P@N: the true response among others (table 1)",
        f"{_MODULE} --data pairs/",
    ),
    Command(
        *("snli", options.SnliOptions, _SCORE, "accuracy on SNLI (table 2)"),
        f"{_MODULE} --data snli/",
    ),
    Command(
        *("sts", options.StsOptions, _SCORE),
        "Pearson and Spearman on the STS Benchmark, a SemEval year or SICK",
        "--module module/ --data stsb/ --output results/\n"
        "  python -m evaluation sts --module module/ --data pairs.csv \\\n"
        "      --columns sentence1 sentence2 score --output results/",
    ),
    Command(
        *("cqa", options.CqaOptions, _SCORE),
        "MAP, AvgRec, MRR on SemEval Task 3, subtask B (table 6)",
        f"{_MODULE} --data semeval_cqa/",
    ),
    Command(
        *("retrieval", options.RetrievalOptions, _SCORE),
        "your own queries and documents: nDCG, MRR and recall",
        "--module module/ --queries queries.tsv \\\n"
        "      --documents documents.jsonl --relevant qrels.txt --output results/",
    ),
    Command(
        *("baselines", options.BaselinesOptions, "evaluation.commands:baselines"),
        "TF-IDF, BM25, untrained words, word vectors and installed models, same tasks",
        "--sts stsb/ --vectors glove.txt --output results/",
    ),
    Command(
        *("compare", options.CompareOptions, "evaluation.analysis.paired_test:run"),
        "a paired test of two modules, from their stored results",
        "results_a/ results_b/",
    ),
    Command(
        *("contamination", options.ContaminationOptions, "evaluation.analysis.contamination:run"),
        "overlaps between training records and evaluation sets, and scores without them",
        "--training pairs/ --sts stsb/ --results results/ --output leaks/",
    ),
    Command(
        *("mistakes", options.MistakesOptions, "evaluation.analysis.mistakes:run"),
        "where a module is wrong: errors by kind of text, the worst pairs",
        "--module module/ --sts stsb/sts-dev.csv --output mistakes/",
    ),
    Command(
        *("threshold", options.ThresholdOptions, "evaluation.analysis.threshold:run"),
        "from which cosine on two texts match, chosen on labelled pairs",
        "--module module/ --data labelled.csv --columns question match label",
    ),
    Command(
        *("report", options.ReportOptions, "evaluation.report.pages:report"),
        "one HTML page from stored results",
        "--results results/ --output report.html",
    ),
    Command(
        *("rows", options.RowsOptions, "evaluation.report.pages:rows"),
        "the main figures and the paper's tables with means over seeds; every row as CSV",
        "--results runs/results/ --pairs pairs/ --output RESULTS.md",
    ),
)


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
