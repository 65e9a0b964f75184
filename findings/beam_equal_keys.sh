#!/usr/bin/env bash
# Guess: GroupByKey, CombinePerKey, Count and Distinct agree on which keys are equal.
# Seen: GroupByKey compares encoded keys: 1, 1.0 and True are three keys, 0.0 and -0.0 two.
#   Combiners first merge inside a bundle, in a dict, by Python's ==: there 1, 1.0 and True are one
#   key, with the type of whichever came first. So a count of keys depends on the transform, and,
#   where keys are spread over bundles, on the bundles.
# Hurt: who groups ids that came as 12 from one file and as 12.0 from another.
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

KEYS = [1, 1.0, True, 0.0, -0.0]


def result(name, keys, transform):
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        made = pipeline | beam.Create(keys, reshuffle=False)
        made | transform | beam.Map(repr) | beam.io.WriteToText(name, shard_name_template="")
    return sorted(Path(name).read_text().splitlines())


class Group(beam.PTransform):
    def expand(self, keys):
        paired = keys | beam.Map(lambda key: (key, 1)) | beam.GroupByKey()
        return paired | beam.MapTuple(lambda key, ones: (key, sum(ones)))


grouped = result("grouped", KEYS, Group())
counted = result("counted", KEYS, beam.combiners.Count.PerElement())
distinct = result("distinct", KEYS, beam.Distinct())
print("GroupByKey:", *grouped)
print("Count.PerElement:", *counted)
print("Distinct:", *distinct)
assert len(grouped) == 5, "changed"
assert counted == ["(0.0, 2)", "(1, 3)"] and distinct == ["0.0", "1"], "changed"
PYTHON
