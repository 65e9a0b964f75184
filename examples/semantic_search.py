"""Finds the texts most similar to a query, in files of any size.

    PYTHONPATH=. python examples/semantic_search.py module/ "how do I cook rice" recipes/*.txt

A file has a text on each line. The texts are encoded once, into search.index/; files named later
are added to it. With 20,000 texts or more, the search is approximate.
"""

import argparse
from collections.abc import Sequence

from export import build_index, search


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the most similar texts, each with its cosine."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    parser.add_argument("query", help="a text")
    parser.add_argument("files", nargs="+", help="a text on each line")
    parser.add_argument("--index", default="search.index", help="folder; default: %(default)s")
    parser.add_argument("--top", type=int, default=5, help="texts to show; default: %(default)s")
    given = parser.parse_args(argv)

    index = build_index(given.module, given.files, output=given.index, mode="similar")
    (best,) = search(index, [given.query], top=given.top)
    for found in best:
        print(f"{found.score:.3f}  {found.text}")


if __name__ == "__main__":
    main()
