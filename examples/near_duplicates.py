"""Removes texts that say almost the same as one before them.

    python examples/near_duplicates.py module/ tickets.txt > distinct.txt

Each text is compared with all that were kept. Embeddings see meaning rather than numbers and names:
do not use this where these matter.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import conversational_embeddings
import numpy as np

BLOCK = 1024


def distinct(vectors: np.ndarray, *, threshold: float) -> list[int]:
    """The rows that have a cosine below the threshold with every row kept before them.

    Args:
      vectors: float [texts, dim], of unit length.
      threshold: a cosine.
    """
    kept: list[int] = []
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        before = len(kept)
        nearest = np.max(block @ vectors[kept].T, axis=1, initial=-1.0)
        for row in np.flatnonzero(nearest < threshold):
            new = vectors[kept[before:]]  # those of this block
            if np.max(new @ block[row], initial=-1.0) < threshold:
                kept.append(start + int(row))
    return kept


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the texts that are kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    parser.add_argument("texts", type=Path, help="a file with a text on each line")
    parser.add_argument("--threshold", type=float, default=0.9, help="default: %(default)s")
    given = parser.parse_args(argv)

    module = conversational_embeddings.load(given.module)
    with given.texts.open(encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line in file if line.strip()]
    if not texts:
        parser.error(f"{given.texts} has no text")
    for row in distinct(module.encode(texts), threshold=given.threshold):
        print(texts[row])


if __name__ == "__main__":
    main()
