"""`compare`: whether two modules' figures differ by more than chance.

python -m evaluation compare RESULTS_OF_A RESULTS_OF_B
"""

import argparse
import json
from pathlib import Path

from evaluation.cli import options


def add(commands) -> None:
    """Add the command `compare`."""
    summary = "a paired test of two modules, from their stored results"
    parser = commands.add_parser("compare", help=summary, description=summary)
    for side in "ab":
        parser.add_argument(side, type=Path, help="folder of result files, or one of them")
    for side in "ab":
        parser.add_argument(
            f"--system_{side}", help=f"a baseline in {side}'s results to compare, not its module"
        )
    options.file_output(
        parser,
        metavar="FILE.json",
        help="a file to write the differences to",
        required=False,
    )
    options.seeded(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Test what both sides have, and print the differences."""
    from evaluation.analysis import paired
    from evaluation.data.files import existing, write_whole
    from evaluation.metrics import bootstrap
    from evaluation.results import result

    if arguments.output:
        result.replaces_own(arguments.output, "compare")
    sides = [
        result.read_all(path) if existing(path).is_dir() else [result.read(path)]
        for path in (arguments.a, arguments.b)
    ]
    pairs = paired.pairs_of(*sides)
    found = []
    for a, b in pairs:
        found += paired.compare(
            a,
            b,
            seed=arguments.seed,
            system_a=arguments.system_a,
            system_b=arguments.system_b,
        )
    print(paired.table(found))
    print(
        f"{len(found)} tests of {bootstrap.RESAMPLES} resamples; p is not corrected for their "
        f"number (Bonferroni's bound for 0.05 is {0.05 / len(found):.4f})"
    )
    if arguments.output:
        stored = paired.as_json(found, a=pairs[0][0], b=pairs[0][1]) | {
            "command": command,
            "seed": arguments.seed,
        }
        write_whole(arguments.output, json.dumps(stored, indent=1) + "\n")
        print(f"-> {arguments.output}")
