"""Answers a question from a list of questions and answers, or says that none fits.

    python examples/faq_matching.py module/ faq.tsv "can I send it back"

`faq.tsv` has a question and its answer on each line, separated by a tab.
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
    parser.add_argument("question", help="a text")
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.3,
        help="lowest cosine of a match; choose it on questions whose match you know; "
        "default: %(default)s",
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
    # Embeddings have unit length: their dot product is their cosine.
    cosines = module.encode(list(questions)) @ module.encode([given.question])[0]
    best = cosines.argmax()
    if cosines[best] < given.threshold:
        print(f"no question fits; the nearest is {questions[best]!r} ({cosines[best]:.3f})")
    else:
        print(f"{questions[best]} ({cosines[best]:.3f})\n{answers[best]}")


if __name__ == "__main__":
    main()
