"""`compare`: whether two modules' scores differ by more than chance."""

from dataclasses import asdict

from tabulate import tabulate

from common import statistics
from common.files import write_json
from evaluation.analysis import paired_test
from evaluation.analysis.paired_test import Difference
from evaluation.cli.options import CompareOptions, command
from evaluation.metrics.declared import label
from evaluation.results import measure, store
from evaluation.results.result import DECLARED, Result
from evaluation.results.text import figure


def run(options: CompareOptions) -> None:
    """Test what both have; print the differences, and what was not compared."""
    if options.output:
        store.check_replaceable(options.output, "compare")
    a, b = (
        store.read_results(path) if path.is_dir() else [store.read(path)]
        for path in (options.a, options.b)
    )
    all_pairs = paired_test.pairs_of(a, b)
    with_system = [one for one in all_pairs if paired_test.has(one[1], options.system_b)]
    pairs = with_system or all_pairs[:1]  # of which the test says what it lacks
    differences = [
        row
        for of_a, of_b in pairs
        for row in paired_test.compare(of_a, of_b, seed=options.seed, system_b=options.system_b)
    ]
    print(_table(differences))
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
    if options.output:
        of_a, of_b = pairs[0]
        stored = {
            "a": of_a.module,
            "b": of_b.module,
            "system_a": of_a.system,
            "system_b": options.system_b or of_b.system,
            "resamples": statistics.RESAMPLES,
            "differences": [asdict(row) for row in differences],
            "command": command(options, "compare"),
            "seed": options.seed,
        }
        write_json(options.output, store.defined(stored))
        print(f"-> {options.output}")


def _names(results: list[Result], pairs: list[tuple[Result, Result]]) -> list[str]:
    """Return the names of results that can be compared and are in none of the pairs."""
    paired = {one.name for pair in pairs for one in pair}
    comparable = (one.name for one in results if one.task in DECLARED)
    return [name for name in comparable if name not in paired]


def _learned_from(result: Result) -> str | None:
    """Return the hash of the data that something was learned or chosen on, if there are any."""
    return result.data.get("learned_from", {}).get("sha256")


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
