"""`compare`: whether two modules' scores differ by more than chance."""

import contextlib
from dataclasses import asdict

from tabulate import tabulate

from common import statistics
from common.files import write_json
from evaluation.analysis import paired_test
from evaluation.analysis.paired_test import Difference
from evaluation.cli import claimed
from evaluation.cli.options import CompareOptions, command
from evaluation.results import measure, store
from evaluation.results.text import figure, label


def run(options: CompareOptions) -> None:
    """Test what both have, and print the differences."""
    with claimed.file(options.output) if options.output else contextlib.nullcontext():
        _run(options)


def _run(options: CompareOptions) -> None:
    if options.output:
        store.check_replaceable(options.output, "compare")
    a, b = (
        store.read_results(path) if path.is_dir() else [store.read(path)]
        for path in (options.a, options.b)
    )
    systems = {"system_a": options.system_a, "system_b": options.system_b}
    pairs, left_out = paired_test.with_systems(paired_test.pairs_of(a, b), **systems)
    found = [
        row
        for of_a, of_b in pairs
        for row in paired_test.compare(of_a, of_b, seed=options.seed, **systems)
    ]
    print(_table(found))
    only_a, only_b = paired_test.only_in_one(a, b)
    few = dict.fromkeys(row.name for row in found if row.n < measure.FEW_UNITS)
    for said, names in (
        ("only in A, so not compared", only_a),
        ("only in B, so not compared", only_b),
        (f"fewer than {measure.FEW_UNITS} units, so the intervals are too narrow", few),
        (
            "learned or chosen on other data in A than in B",
            paired_test.learned_elsewhere(pairs),
        ),
        ("not compared, because they lack the system", left_out),
    ):
        if names:
            print(f"{said}: {', '.join(names)}")
    print(
        f"{len(found)} tests of {statistics.RESAMPLES} resamples; p is not corrected for their "
        f"number (Bonferroni's bound for 0.05 is {0.05 / len(found):.4f})"
    )
    if options.output:
        of_a, of_b = pairs[0]
        stored = {
            "a": of_a.module,
            "b": of_b.module,
            "system_a": options.system_a or of_a.system,
            "system_b": options.system_b or of_b.system,
            "resamples": statistics.RESAMPLES,
            "differences": [asdict(row) for row in found],
            "command": command(options, "compare"),
            "seed": options.seed,
        }
        write_json(options.output, store.defined(stored))
        print(f"-> {options.output}")


def _table(found: list[Difference]) -> str:
    """Return the differences as a text table."""
    body = [
        [
            row.name,
            label(row.figure),
            row.n,
            figure(row.a),
            figure(row.b),
            figure(row.difference, row.interval),
            "-" if row.p is None else f"{row.p:.3f}",
        ]
        for row in found
    ]
    headers = ["result", "metric", "units", "A", "B", "B - A [95%]", "p"]
    return tabulate(body, headers=headers, disable_numparse=True)
