"""Paired tests of two modules, from the items that their results store.

The same units are drawn for both, so what makes an item hard for both cancels out. p is twice the
share of resamples whose difference has the other sign (two-sided), with one added to their number.
Where p is below 0.05, the 95% interval excludes 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

from common import statistics
from common.errors import InputError
from common.statistics import Sample
from evaluation.options import CompareOptions
from evaluation.results import measure, store
from evaluation.results.result import DECLARED, LEARNED_FROM, Result, facts, figure, label


class Difference(NamedTuple):
    """One metric of A and B on the same items: B - A, its 95% interval and its p-value."""

    name: str
    figure: str
    n: int
    a: float
    b: float
    difference: float
    interval: list[float] | None
    p: float | None


def run(options: CompareOptions) -> None:
    """Test what both have; print the differences, and what was not compared."""
    a, b = (
        store.read_results(path) if path.is_dir() else [store.read(path)]
        for path in (options.a, options.b)
    )
    common = pairs_of(a, b)
    pairs = [pair for pair in common if options.system_b in (None, *measure.systems(pair[1]))]
    differences = [
        row
        for pair in pairs or common[:1]  # of which the test says what it lacks
        for row in compare(*pair, seed=options.seed, system_b=options.system_b)
    ]
    headers = ["result", "metric", "units", "A", "B", "B - A [95%]", "p"]
    body = []
    for row in differences:
        between = figure(row.difference, row.interval)
        p = "-" if row.p is None else f"{row.p:.3f}"
        body.append([row.name, label(row.figure), row.n, figure(row.a), figure(row.b), between, p])
    print(tabulate(body, headers=headers, disable_numparse=True))
    in_both = {one.name for pair in common for one in pair}
    both_have = {name for one, other in pairs for name in one.metrics.keys() & other.metrics}
    learned = {pair[0].name: {facts(one)[LEARNED_FROM] for one in pair} for pair in pairs}
    left_out = {
        "only in A, so not compared": [one.name for one in a if one.name not in in_both],
        "only in B, so not compared": [one.name for one in b if one.name not in in_both],
        "not compared, because they lack the system": sorted(
            {of_a.name for of_a, _ in common} - {of_a.name for of_a, _ in pairs}
        ),
        "not compared, because the items do not give it": sorted(
            both_have - {row.figure for row in differences}
        ),
        "learned or chosen on other data in A than in B": [
            name for name, of in learned.items() if len(of - {None}) > 1
        ],
    }
    for said, names in left_out.items():
        if names:
            print(f"{said}: {', '.join(names)}")
    print(
        f"{len(differences)} tests of {statistics.RESAMPLES} resamples; p is not corrected for "
        f"their number (Bonferroni's bound for 0.05 is {0.05 / len(differences):.4f})"
    )


def compare(
    a: Result,
    b: Result,
    *,
    seed: int = 0,
    system_a: str | None = None,
    system_b: str | None = None,
    metrics: Sequence[str] | None = None,
) -> list[Difference]:
    """Test every metric that both results have, or `metrics`; InputError if they share none.

    A system is a baseline's name, None the module.
    """
    _check_same_items(a, b)
    for option, result, system in (("--system_a", a, system_a), ("--system_b", b, system_b)):
        if system not in (None, *measure.systems(result)):
            there = ", ".join(measure.systems(result)) or "none"
            raise InputError(f"{option}: {system!r}; the baselines of {result.name}: {there}")
    sample_a = measure.sample_of(a, system=system_a, metrics=metrics)
    sample_b = measure.sample_of(b, system=system_b, metrics=metrics)
    once_a, once_b = sample_a.once(), sample_b.once()
    shared = [name for name in once_a if name in once_b]
    if not shared:
        raise InputError(f"{a.name} and {b.name}: no metric in both; {[*once_a]} and {[*once_b]}")

    def differences(units: np.ndarray) -> dict[str, np.ndarray]:
        of_a, of_b = sample_a.metrics(units), sample_b.metrics(units)
        return {name: of_b[name] - of_a[name] for name in shared}

    n = sample_a.units
    drawn = statistics.distribution(Sample(n, differences), seed=seed) if n > 1 else {}
    return [
        Difference(
            name=a.name,
            figure=metric,
            n=n,
            a=once_a[metric],
            b=once_b[metric],
            difference=once_b[metric] - once_a[metric],
            interval=statistics.interval(drawn[metric]) if drawn else None,
            p=_p(drawn[metric], units=n) if drawn else None,
        )
        for metric in shared
    ]


def _p(differences: np.ndarray, *, units: int) -> float | None:
    """Return the two-sided p of resampled differences; None where it is undefined.

    It is never 0, nor below what turning the signs of units can show: 2 cases in 2 ** units.
    """
    defined = differences[~np.isnan(differences)]
    if statistics.interval(differences) is None:
        return None
    wrong = min((defined <= 0).sum(), (defined >= 0).sum())
    return float(min(1.0, max(2 * (wrong + 1) / (len(defined) + 1), 2.0 ** (1 - units))))


def _check_same_items(a: Result, b: Result) -> None:
    both = f"{a.name} and {b.name}"
    if a.task != b.task or a.task not in DECLARED:
        accepted = ", ".join(DECLARED)
        raise InputError(f"{both}: tasks {a.task} and {b.task}; accepted: two of one of {accepted}")
    if a.data.get("sha256") != b.data.get("sha256"):
        files = " and ".join(str(one.data.get("file", "a file")) for one in (a, b))
        raise InputError(f"{both}: computed on different data: {files}")
    keys = DECLARED[a.task].identity
    ids_a, ids_b = ([[item.get(key) for key in keys] for item in one.items] for one in (a, b))
    if ids_a != ids_b or not ids_a:
        raise InputError(f"{both}: other items; accepted: the same ones, in the same order")


def pairs_of(a: list[Result], b: list[Result]) -> list[tuple[Result, Result]]:
    """Return the results of the same name; two single results are a pair by any name."""
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    by_name = {result.name: result for result in b if result.task in DECLARED}
    pairs = [(result, by_name[result.name]) for result in a if result.name in by_name]
    if not pairs:
        has_a, has_b = (", ".join(result.name for result in results) for results in (a, b))
        raise InputError(f"no result of one task and name in both: {has_a}; and {has_b}")
    return pairs
