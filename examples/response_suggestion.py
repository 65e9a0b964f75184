"""Suggests replies to a message, from a file of replies that were given before.

    PYTHONPATH=. python examples/response_suggestion.py module/ replies.txt "where is my parcel?"

Needs a module of a model that was trained on conversations. Replies that say almost the same as a
better one are left out.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from export import build_index, search

SAME = 0.9
"""Replies with a higher cosine say almost the same."""


def different(texts: Sequence[str], vectors: np.ndarray) -> Iterator[str]:
    """The texts that are unlike every one before them; vectors are float [texts, dim]."""
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    shown: list[int] = []
    for row, text in enumerate(texts):
        if not shown or np.max(vectors[shown] @ vectors[row]) < SAME:
            shown.append(row)
            yield text


def main(argv: Sequence[str] | None = None) -> None:
    """Prints up to three replies, the best one first."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    parser.add_argument("replies", help="a file with a reply on each line")
    parser.add_argument("message", help="a text")
    given = parser.parse_args(argv)

    index = build_index(given.module, given.replies)  # kept in REPLIES.index
    (best,) = search(index, [given.message], top=20)
    texts = [found.text for found in best]
    vectors = index.module.encode_responses(texts)
    for _, text in zip(range(3), different(texts, vectors), strict=False):
        print(text)


if __name__ == "__main__":
    main()
