"""`compare`: whether two modules' scores differ by more than chance."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `compare`."""
    summary = "a paired test of two modules, from their stored results"
    parser = options.command(commands, "compare", run, summary=summary)
    for name in "ab":
        parser.add_argument(name, type=Path, help="folder of result files, or one of them")
    for name in "ab":
        parser.add_argument(
            f"--system_{name}", help=f"a baseline in {name}'s results to compare, not its module"
        )
    options.file_output(
        parser,
        metavar="FILE.json",
        help="a file to write the differences to",
        required=False,
    )
    options.seeded(parser)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Test what both have, and print the differences."""
    from evaluation.analysis import paired_test
    from evaluation.data.files import existing, write_whole
    from evaluation.metrics import bootstrap
    from evaluation.results import measure, store

    if arguments.output:
        store.check_replaceable(arguments.output, "compare")
    a, b = (
        store.read_results(path) if existing(path).is_dir() else [store.read(path)]
        for path in (arguments.a, arguments.b)
    )
    systems = {"system_a": arguments.system_a, "system_b": arguments.system_b}
    pairs, left_out = paired_test.with_systems(paired_test.pairs_of(a, b), **systems)
    found = [
        row
        for of_a, of_b in pairs
        for row in paired_test.compare(of_a, of_b, seed=arguments.seed, **systems)
    ]
    print(_table(found))
    for side, names in zip("AB", paired_test.only_in_one(a, b), strict=True):
        if names:
            print(f"only in {side}, so not compared: {', '.join(names)}")
    if few := list(dict.fromkeys(row.name for row in found if row.n < measure.FEW_UNITS)):
        print(
            f"fewer than {measure.FEW_UNITS} units, so the intervals are too narrow: "
            f"{', '.join(few)}"
        )
    if other := paired_test.learned_elsewhere(pairs):
        print(f"learned or chosen on other data in A than in B: {', '.join(other)}")
    if left_out:
        print(f"not compared, because they lack the system: {', '.join(left_out)}")
    print(
        f"{len(found)} tests of {bootstrap.RESAMPLES} resamples; p is not corrected for their "
        f"number (Bonferroni's bound for 0.05 is {0.05 / len(found):.4f})"
    )
    if arguments.output:
        of_a, of_b = pairs[0]
        stored = {
            "a": of_a.module,
            "b": of_b.module,
            "system_a": arguments.system_a or of_a.system,
            "system_b": arguments.system_b or of_b.system,
            "resamples": bootstrap.RESAMPLES,
            "differences": [asdict(row) for row in found],
            "command": command,
            "seed": arguments.seed,
        }
        content = json.dumps(store.defined(stored), indent=1, allow_nan=False)
        write_whole(arguments.output, content + "\n")
        print(f"-> {arguments.output}")


def _table(found: list) -> str:
    """Return the differences as a text table."""
    from tabulate import tabulate

    from evaluation.results.text import figure, label

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
