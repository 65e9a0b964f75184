"""Figure 8: Pearson's r on the STS Benchmark by the share of the NLI pairs that were trained on."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.report.cells import OURS, Cell, Row, Table
from evaluation.report.systems import System
from evaluation.results.result import Result

NAME = "nli"
SPLITS = ("dev", "test")
CAPTIONS = "main-captions"
COLUMNS = (("pearson", "interval", "all"), ("captions", "captions_interval", "captions"))
Point = dict[str, Any]
"""`share`, from 0 to 1, and for `dev` and `test` what `of_split` returns."""


def of_split(found: Result) -> Point:
    """Return r of an STS result with its interval, over all pairs and over captions."""
    captions = found.groups.get(CAPTIONS, {})
    return {
        "pearson": found.metrics["pearson"],
        "interval": found.intervals.get("pearson"),
        "captions": captions.get("metrics", {}).get("pearson"),
        "captions_interval": captions.get("intervals", {}).get("pearson"),
    }


def points(shares: Mapping[int, System]) -> list[Point]:
    """Return a point for each system, by its share in percent, that has dev and test scores."""
    made = []
    for share, system in shares.items():
        found = {split: system.named(f"sts-{split}") for split in SPLITS}
        if all(found.values()):
            point = {split: of_split(results[0]) for split, results in found.items()}
            made.append({"share": share / 100} | point)
    return made


def table(found: Sequence[Point]) -> Table:
    """Return the points as a table, a row each."""
    columns = [(split, *column) for column in COLUMNS for split in SPLITS]
    rows = [
        Row(
            f"{point['share']:.0%} of the NLI pairs",
            [Cell(point[split][key], point[split][ends]) for split, key, ends, _ in columns],
            OURS,
        )
        for point in found
    ]
    headers = [f"{split}, {name}" for split, *_, name in columns]
    return Table("Pearson's r on the STS Benchmark by share of the NLI pairs", headers, rows)
