#!/usr/bin/env bash
# Guess: Metrics.distribution keeps the numbers that it is given, or refuses fractions.
# Seen: it cuts each to an integer, without a warning: of scores between 0 and 1 it reports
#   minimum, maximum and mean 0.
# Hurt: who watches scores, shares or seconds of a job in a runner's metrics.
# Versions: apache-beam 2.77.0, its local FnApiRunner; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile apache-beam==2.77.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import apache_beam as beam
from apache_beam.metrics import Metrics


class Watch(beam.DoFn):
    def process(self, score):
        Metrics.distribution("scores", "score").update(score)
        yield score


pipeline = beam.Pipeline(runner="FnApiRunner")
pipeline | beam.Create([0.25, 0.75, 0.99, -0.5]) | beam.ParDo(Watch())
job = pipeline.run()
job.wait_until_finish()
(found,) = job.metrics().query()["distributions"]
seen = found.committed
print("of 0.25, 0.75, 0.99, -0.5:", seen.count, seen.min, seen.max, seen.sum)
assert (seen.count, seen.min, seen.max, seen.sum) == (4, 0, 0, 0), "changed"
PYTHON
