"""Search in many texts: the index of `python -m export index` beside brute force.

    python -m benchmarks.speed.search --module module/ --texts sentences.txt

A text per line, of which the last `--queries` are the queries. They are encoded as part of the
search. Times are CPU seconds of one thread, so that other work on the machine changes little.
"""

import os
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from benchmarks import runs

TOP = 10
ONE_BY_ONE = 20
"""Queries that are asked one at a time: brute force takes long."""


def main() -> None:
    """Builds the index, asks, prints."""
    given = runs.given(__doc__, "module", "texts", queries=512)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    from export.retrieval.index import build_index
    from export.retrieval.search import search

    lines = Path(given.texts).read_text(encoding="utf-8").splitlines()
    queries = lines[-given.queries :]
    with tempfile.TemporaryDirectory() as name:
        texts = Path(name, "texts.txt")
        texts.write_text("\n".join(lines[: -given.queries]) + "\n", encoding="utf-8")
        began = time.process_time()
        index = build_index(given.module, texts, mode="similar")
        print(f"{len(index.texts):,} texts, built in {time.process_time() - began:.0f} CPU seconds")
        rows, truth = [], []
        for way, exact in (("brute force", True), ("this index", False)):
            began = time.process_time()
            found = search(index, queries, top=TOP, exact=exact)
            together = time.process_time() - began
            began = time.process_time()
            for query in queries[:ONE_BY_ONE]:
                search(index, [query], top=TOP, exact=exact)
            single = (time.process_time() - began) / ONE_BY_ONE
            best = [{each.text for each in some} for some in found]
            truth = truth or best
            hits = sum(len(a & b) for a, b in zip(best, truth, strict=True)) / sum(map(len, truth))
            rows.append((way, hits, len(queries) / together, 1000 * single))
    header = ("", f"recall@{TOP}", "queries/s", "one query, ms")
    print(tabulate(rows, header, floatfmt=("", ".3f", ",.0f", ".2f")))


if __name__ == "__main__":
    main()
