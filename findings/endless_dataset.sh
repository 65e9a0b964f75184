#!/usr/bin/env bash
# Guess: of a dataset without end, `next` of a distributed iterator takes the next batch.
# Seen: of a dataset whose end is unknown, such as a counter with flat_map, every step first sums over
#   all workers whether each has a batch: one more exchange, in which all wait for the slowest.
#   repeat() tells that there is no end, and so does assert_cardinality(INFINITE_CARDINALITY).
# Hurt: who trains in a cluster on an order of files that each epoch draws anew.
# Versions: TensorFlow 2.20.0; 29 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tensorflow==2.20.0
cd "$folder"
cat > worker.py <<'PYTHON'
import json
import os
import sys

index, *addresses = sys.argv[1:]
os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": int(index)}}
)
import tensorflow as tf  # noqa: E402  it reads TF_CONFIG

strategy = tf.distribute.MultiWorkerMirroredStrategy()
batch = tf.data.Dataset.from_tensors([1.0, 2.0])


def exchanges(dataset):
    """How many operations of a step that takes the next batch wait for other workers."""
    iterator = iter(strategy.distribute_datasets_from_function(lambda _: dataset))
    step = tf.function(lambda iterator: next(iterator))
    operations = step.get_concrete_function(iterator).graph.get_operations()
    return sum(operation.type.startswith("Collective") for operation in operations)


drawn = tf.data.Dataset.counter().flat_map(lambda _: batch)
told = drawn.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
found = {
    name: exchanges(dataset)
    for name, dataset in {"flat_map": drawn, "repeat": batch.repeat(), "asserted": told}.items()
}
print(f"worker {index}: exchanges in a step: {found}")
assert found == {"flat_map": 1, "repeat": 0, "asserted": 0}
PYTHON
export TF_CPP_MIN_LOG_LEVEL=3
ports=$(venv/bin/python - <<'PYTHON'
import socket

with socket.create_server(("localhost", 0)) as one, socket.create_server(("localhost", 0)) as two:
    print(*(f"localhost:{server.getsockname()[1]}" for server in (one, two)))
PYTHON
)
# shellcheck disable=SC2086  # two addresses
venv/bin/python worker.py 1 $ports > second.txt 2>&1 &
# shellcheck disable=SC2086
venv/bin/python worker.py 0 $ports
wait $! || { cat second.txt; exit 1; }
