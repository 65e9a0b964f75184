"""Paired tests of two modules, from the items that their results store.

Both are resampled together, the same units drawn for both, so what makes an item hard for
both cancels out of the difference. p is twice the share of resamples whose difference has the
other sign (two-sided), with one added to their number. Where p is below 0.05, the 95% interval
excludes 0. The interval may also exclude 0 at a p just above 0.05: the quantile lies between two
resamples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tabulate import tabulate

from common import statistics
from common.errors import InputError
from common.statistics import Sample
from evaluation.metrics.declared import label
from evaluation.options import CompareOptions
from evaluation.results import measure, store
from evaluation.results.result import DECLARED, Result
from evaluation.results.text import figure


@dataclass(frozen=True)
class Difference:
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
    all_pairs = pairs_of(a, b)
    with_system = [pair for pair in all_pairs if has(pair[1], options.system_b)]
    pairs = with_system or all_pairs[:1]  # of which the test says what it lacks
    differences = [
        row
        for of_a, of_b in pairs
        for row in compare(of_a, of_b, seed=options.seed, system_b=options.system_b)
    ]
    body = [
        [
            *(row.name, label(row.figure), row.n, figure(row.a), figure(row.b)),
            figure(row.difference, row.interval),
            "-" if row.p is None else f"{row.p:.3f}",
        ]
        for row in differences
    ]
    headers = ["result", "metric", "units", "A", "B", "B - A [95%]", "p"]
    print(tabulate(body, headers=headers, disable_numparse=True))
    left_out = {
        "only in A, so not compared": _names(a, all_pairs),
        "only in B, so not compared": _names(b, all_pairs),
        "not compared, because they lack the system": _names([one for one, _ in all_pairs], pairs),
        f"fewer than {measure.FEW_UNITS} units, so the intervals are too narrow": dict.fromkeys(
            row.name for row in differences if row.n < measure.FEW_UNITS
        ),
        "learned or chosen on other data in A than in B": [
            of_a.name
            for of_a, of_b in pairs
            if len({_learned_from(of_a), _learned_from(of_b)} - {None}) > 1
        ],
    }
    for said, names in left_out.items():
        if names:
            print(f"{said}: {', '.join(names)}")
    print(
        f"{len(differences)} tests of {statistics.RESAMPLES} resamples; p is not corrected for "
        f"their number (Bonferroni's bound for 0.05 is {0.05 / len(differences):.4f})"
    )


def _names(results: list[Result], pairs: list[tuple[Result, Result]]) -> list[str]:
    """Return the names of results that can be compared and are in none of the pairs."""
    paired = {one.name for pair in pairs for one in pair}
    return [one.name for one in results if one.task in DECLARED and one.name not in paired]


def _learned_from(result: Result) -> str | None:
    """Return the hash of the data that something was learned or chosen on, if there are any."""
    return result.data.get("learned_from", {}).get("sha256")


def compare(
    a: Result,
    b: Result,
    *,
    seed: int = 0,
    system_a: str | None = None,
    system_b: str | None = None,
    metrics: Sequence[str] | None = None,
) -> list[Difference]:
    """Test every metric that both results have; a system is a baseline's name, None the module.

    With `metrics`, only these.

    Raises:
      InputError: if the two are not of the same items, or have no such system or no common metric.
    """
    _check_same_items(a, b)
    for option, result, system in (("--system_a", a, system_a), ("--system_b", b, system_b)):
        if not has(result, system):
            there = ", ".join(sorted(measure.systems(result))) or "none"
            raise InputError(f"{option}: {system!r}; the baselines of {result.name}: {there}")
    sample_a = measure.sample_of(a, system=system_a, metrics=metrics)
    sample_b = measure.sample_of(b, system=system_b, metrics=metrics)
    once_a, once_b = sample_a.once(), sample_b.once()
    shared = [name for name in once_a if name in once_b]
    if not shared:
        raise InputError(
            f"{a.name} and {b.name}: no metric in both; the first has {', '.join(once_a)}, the "
            f"second {', '.join(once_b)}"
        )

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
    """Return the two-sided p of resampled differences; never 0, which no count of them shows.

    Nor below what a test that turns the signs of so many units can show, one case in 2 ** units on
    each side: all of two units often differ in one direction.
    """
    defined = differences[~np.isnan(differences)]
    if statistics.interval(differences) is None:
        return None
    wrong = min((defined <= 0).sum(), (defined >= 0).sum())
    return float(min(1.0, max(2 * (wrong + 1) / (len(defined) + 1), 2.0 ** (1 - units))))


def has(result: Result, system: str | None) -> bool:
    """Return whether every item has the score of a system."""
    return system is None or all(system in item.get("baselines", {}) for item in result.items)


def _check_same_items(a: Result, b: Result) -> None:
    """Raise InputError unless both scored the same items in the same order."""
    if a.task != b.task or a.task not in DECLARED:
        raise InputError(
            f"{a.name} is of the task {a.task}, {b.name} of {b.task}; accepted: two of the "
            f"same, of {', '.join(DECLARED)}"
        )
    if a.data.get("sha256") != b.data.get("sha256"):
        files = " and ".join(str(one.data.get("file", "a file")) for one in (a, b))
        raise InputError(f"{a.name} and {b.name}: computed on different data: {files}")
    keys = DECLARED[a.task].identity
    ids_a, ids_b = ([[item.get(key) for key in keys] for item in one.items] for one in (a, b))
    if ids_a != ids_b or not ids_a:
        raise InputError(
            f"{a.name} and {b.name}: the same items, in the same order, are needed; were they "
            "computed with other settings?"
        )


def pairs_of(a: list[Result], b: list[Result]) -> list[tuple[Result, Result]]:
    """Return the results of the same name; two single results are a pair by any name.

    Raises:
      InputError: if there are none; names what either has.
    """
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    by_name = {result.name: result for result in b if result.task in DECLARED}
    pairs = [(result, by_name[result.name]) for result in a if result.name in by_name]
    if not pairs:
        has_a, has_b = (", ".join(result.name for result in results) for results in (a, b))
        raise InputError(
            f"no result of the same name in both, of {', '.join(DECLARED)}: "
            f"the first has {has_a}; the second has {has_b}"
        )
    return pairs
