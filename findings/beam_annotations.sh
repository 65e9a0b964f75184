#!/usr/bin/env bash
# Guess: a return annotation of a function in beam.Map is checked, or ignored.
# Seen: it chooses the coder of the elements, and the coder converts them wherever they are encoded,
#   between stages, but not inside a fused stage. `-> float` rounds an id beyond 2^53, `-> int` cuts
#   5.7 to 5 and makes 1 of True; without a stage border the same pipeline keeps them. So adding an
#   annotation, or a Reshuffle, changes the data; no error, no warning.
# Hurt: who annotates a function for the type checker, and tests it in a pipeline of one stage.
# Versions: apache-beam 2.77.0, its local FnApiRunner; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile apache-beam==2.77.0
cd "$folder"
venv/bin/python - <<'PYTHON'
from pathlib import Path

import apache_beam as beam


def plain(x):
    return x


def number(x) -> float:
    return x


def count(x) -> int:
    return x


def scored(x) -> tuple[str, float]:
    return x


def result(name, function, values, *borders):
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        made = pipeline | beam.Create(values) | beam.Map(function)
        for border in borders:
            made |= border
        made | beam.Map(repr) | beam.io.WriteToText(name, shard_name_template="")
    return sorted(Path(name).read_text().splitlines())


BIG = 2**53 + 1
CASES = [
    (plain, [BIG, 5.7, True], ["5.7", str(BIG), "True"]),
    (number, [BIG], [str(float(BIG))]),
    (count, [5.7, True], ["1", "5"]),
    (scored, [("id", BIG)], [f"('id', {float(BIG)})"]),
]
for function, values, expected in CASES:
    fused = result(f"{function.__name__}_fused", function, values)
    over = result(f"{function.__name__}_over", function, values, beam.Reshuffle())
    print(f"{function.__name__}: {values} in one stage {fused}, over a Reshuffle {over}")
    assert fused == sorted(map(repr, values)) and over == sorted(expected), "changed"
PYTHON
