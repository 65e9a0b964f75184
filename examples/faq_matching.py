r"""Answers questions from a list of questions and answers, or says that none fits.

    python examples/faq_matching.py module/ faq.tsv "can I send it back" "when do you open"

`faq.tsv` has a question and its answer on each line, separated by a tab. To choose the threshold:
label a few dozen questions of your users, each beside one of the FAQ's (1: it answers them), and

    python -m evaluation threshold --module module/ --data labelled.csv \
        --columns question match label
"""

import argparse
import csv
from collections.abc import Sequence

import conversational_embeddings


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the question that is most similar, and its answer."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    parser.add_argument("faq", help="question and answer on each line, separated by a tab")
    parser.add_argument("question", nargs="+", help="texts")
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.3,
        help="lowest cosine of a match, from evaluation threshold; default: %(default)s",
    )
    given = parser.parse_args(argv)

    with open(given.faq, encoding="utf-8-sig") as file:  # noqa: PTH123
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise SystemExit(f"{given.faq}:{number}: accepted: a question, a tab and its answer")
    if not rows:
        raise SystemExit(f"{given.faq} is empty; accepted: a question, a tab and its answer a line")
    questions, answers = zip(*rows, strict=True)
    module = conversational_embeddings.load(given.module)
    # Embeddings have unit length: their dot products are their cosines.
    cosines = module.encode(given.question) @ module.encode(list(questions)).T
    for question, row in zip(given.question, cosines, strict=True):
        best = row.argmax()
        found = f"{questions[best]} ({row[best]:.3f})"
        print(f"\n{question}")
        if row[best] < given.threshold:
            print(f"no question fits; the nearest is {found}")
        else:
            print(f"{found}\n{answers[best]}")


if __name__ == "__main__":
    main()
