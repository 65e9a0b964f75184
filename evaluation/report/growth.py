"""Scores by a share: of the training pairs (growth), and of the NLI pairs (figure 8 of the paper).

The slope of growth is that of a least-squares line of the score by the logarithm of the pairs. Its
interval comes from resampling the items of all points together; other seeds are not in it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from common import statistics
from common.errors import InputError
from common.statistics import Sample
from evaluation.report.systems import ALL, Scored, System
from evaluation.report.table import OURS, Cell, Row, Table
from evaluation.results import measure
from evaluation.results.result import Result
from evaluation.results.text import label

GROWTH, NLI = "growth", "nli"
"""Rows that are called so and a share in percent."""
METRICS = (("sts-dev", "pearson"), ("response_ranking", "p_at_1"), ("response_ranking", "p_at_10"))
FEWEST_POINTS = 3
"""That a line goes through."""
FIGURE_8 = {
    f"{split}, {name}": (f"sts-{split}", group)
    for name, group in ((ALL, ALL), ("captions", "main-captions"))
    for split in ("dev", "test")
}


def table(shares: Mapping[int, System], of_files: Sequence[int], models: Path | None) -> Table:
    """Return the scores by training pairs, and the slope of each metric.

    Args:
      shares: systems by the share of the files, in percent, that they were trained on: the first.
      of_files: how many pairs each file of the whole has.
      models: folders NAME-SEED of models, whose `chosen.json` has the learning rate.

    Raises:
      InputError: if a share is no file.
    """
    rows, pairs, points = [], [], []
    for share, system in shares.items():
        files = round(len(of_files) * share / 100)
        if not files:
            raise InputError(f"{GROWTH}_{share}: {share}% of {len(of_files)} files is no file")
        pairs.append(sum(of_files[:files]))
        points.append([system.named(name)[:1] for name, _ in METRICS])
        cells = [
            Scored("", OURS, found).cell(key)
            for found, (_, key) in zip(points[-1], METRICS, strict=True)
        ]
        chosen = models and models / f"{GROWTH}_{share}-{system.seeds[0]}" / "chosen.json"
        rate = json.loads(chosen.read_text())["rate"] if chosen and chosen.exists() else None
        rows.append(Row(f"{pairs[-1]:,} pairs", [*cells, Cell(rate)], OURS))
    slopes = [
        slope(pairs, [point[column] for point in points], key)
        for column, (_, key) in enumerate(METRICS)
    ]
    if any(cell.value is not None for cell in slopes):
        rows.append(Row("more for ten times the pairs", [*slopes, Cell()], OURS))
    headers = ["STS-B dev, r", *(label(key) for _, key in METRICS[1:]), "learning rate"]
    return Table(GROWTH, "Scores by training pairs", headers, rows)


def slope(pairs: Sequence[int], results: Sequence[Sequence[Result]], key: str) -> Cell:
    """Return what ten times the pairs add to a metric, with its interval; none for few points.

    `results` has one result a number of pairs, or none. Where points have other items, there is
    no interval.
    """
    known = [
        (number, found[0], value)
        for number, found in zip(pairs, results, strict=True)
        if found and (value := found[0].metrics.get(key)) is not None
    ]
    if len(known) < FEWEST_POINTS:
        return Cell()
    x = np.log10([number for number, *_ in known])
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)  # the slope is this weighted sum
    samples = [measure.sample_of(one, metrics=[key]) for _, one, _ in known if one.items]
    ends = None
    if len(samples) == len(known) and len({sample.units for sample in samples}) == 1:

        def total(units: np.ndarray) -> dict[str, np.ndarray]:
            each = [sample.metrics(units)[key] for sample in samples]
            return {key: np.tensordot(weights, np.stack(each), axes=1)}

        ends = statistics.intervals(Sample(samples[0].units, total), seed=0).get(key)
    return Cell(float(weights @ [value for *_, value in known]), ends)


def figure_8(shares: Mapping[int, System]) -> Table:
    """Return Pearson's r on the STS Benchmark by the share of the NLI pairs."""
    rows = [
        Row(
            f"{share}%",
            [
                Scored("", OURS, system.named(name)[:1]).cell("pearson", group=group)
                for name, group in FIGURE_8.values()
            ],
            OURS,
        )
        for share, system in shares.items()
    ]
    title = "Figure 8: Pearson's r on the STS Benchmark by share of the NLI pairs"
    return Table("figure_8", title, [*FIGURE_8], rows)
