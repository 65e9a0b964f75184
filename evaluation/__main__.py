"""Scores a sentence-embedding SavedModel and reports the scores."""

from collections.abc import Sequence

from common import command_line
from common.command_line import Command
from evaluation import options

_SCORE, _MODULE = "evaluation.commands:score", "--module module/ --output results/"
COMMANDS = (
    Command(
        *("response_ranking", options.ResponseRankingOptions, _SCORE),
        f"{_MODULE} --data pairs/",
    ),
    Command("snli", options.SnliOptions, _SCORE, f"{_MODULE} --data snli/"),
    Command(
        *("sts", options.StsOptions, _SCORE),
        "--module module/ --data stsb/ --output results/\n"
        "  python -m evaluation sts --module module/ --data pairs.csv \\\n"
        "      --columns sentence1 sentence2 score --output results/",
    ),
    Command("cqa", options.CqaOptions, _SCORE, f"{_MODULE} --data semeval_cqa/"),
    Command(
        *("retrieval", options.RetrievalOptions, _SCORE),
        "--module module/ --queries queries.tsv \\\n"
        "      --documents documents.jsonl --relevant qrels.txt --output results/",
    ),
    Command(
        *("baselines", options.BaselinesOptions, "evaluation.commands:baselines"),
        "--sts stsb/ --vectors glove.txt --output results/",
    ),
    Command(
        *("compare", options.CompareOptions, "evaluation.analysis.paired_test:run"),
        "results_a/ results_b/",
    ),
    Command(
        *("contamination", options.ContaminationOptions, "evaluation.analysis.contamination:run"),
        "--training pairs/ --sts stsb/ --results results/ --output leaks/",
    ),
    Command(
        *("mistakes", options.MistakesOptions, "evaluation.analysis.mistakes:run"),
        "--module module/ --sts stsb/sts-dev.csv --output mistakes/",
    ),
    Command(
        *("threshold", options.ThresholdOptions, "evaluation.analysis.threshold:run"),
        "--module module/ --data labelled.csv --columns question match label",
    ),
    Command(
        *("report", options.ReportOptions, "evaluation.report.pages:report"),
        "--results results/ --output report.html",
    ),
    Command(
        *("rows", options.RowsOptions, "evaluation.report.pages:rows"),
        "--results runs/results/ --pairs pairs/ --output RESULTS.md",
    ),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command."""
    command_line.main("evaluation", __doc__, COMMANDS, argv)


if __name__ == "__main__":
    main()
