"""Groups texts by meaning, and shows the most typical texts of each group.

python examples/clustering.py module/ tickets.txt --clusters 20
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import conversational_embeddings
import numpy as np
from sklearn.cluster import KMeans

TYPICAL = 3


def main(argv: Sequence[str] | None = None) -> None:
    """Prints each cluster's size and the texts nearest to its centre, large clusters first."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    parser.add_argument("texts", type=Path, help="a file with a text on each line")
    parser.add_argument("--clusters", type=int, default=10, help="default: %(default)s")
    given = parser.parse_args(argv)

    module = conversational_embeddings.load(given.module)
    with given.texts.open(encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line in file if line.strip()]
    if not 1 <= given.clusters <= len(texts):
        parser.error(f"{given.texts} has {len(texts)} texts; --clusters: 1 to as many")
    vectors = module.encode(texts)
    # Embeddings have unit length, so the nearest centre by distance is the nearest by cosine.
    found = KMeans(given.clusters, n_init=4, random_state=0).fit(vectors)
    distances = found.transform(vectors)
    sizes = np.bincount(found.labels_, minlength=given.clusters)
    for cluster in np.argsort(-sizes, kind="stable"):
        members = np.flatnonzero(found.labels_ == cluster)
        print(f"\n{sizes[cluster]} texts")
        for row in members[np.argsort(distances[members, cluster])][:TYPICAL]:
            print(f"  {texts[row]}")


if __name__ == "__main__":
    main()
