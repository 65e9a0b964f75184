#!/usr/bin/env bash
# Guess: an iterator restored from a checkpoint over another list of files fails, or goes on in the
#   new list.
# Seen: it finishes the file that it was in, by the name in the checkpoint, and then goes on at the
#   same position of the new list. With a file that sorts before that position, the file in
#   progress is read twice and the new one never; no error. Elements in a shuffle buffer come from
#   the checkpoint, too.
# Hurt: who adds a month of data to a folder between two runs of one training.
# Versions: TensorFlow 2.20.0; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tensorflow==2.20.0 numpy==2.4.6
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
from pathlib import Path

import tensorflow as tf

for month in ("01", "02", "03"):
    Path(f"{month}.txt").write_text("".join(f"{month}-{line}\n" for line in range(3)))


def lines(files):
    return iter(tf.data.TextLineDataset(files))


before = lines(["01.txt", "03.txt"])
read = [next(before).numpy().decode() for _ in range(4)]
saved = tf.train.Checkpoint(iterator=before).save("run/checkpoint")
after = lines(["01.txt", "02.txt", "03.txt"])
tf.train.Checkpoint(iterator=after).restore(saved)
then = [line.numpy().decode() for line in after]
print("before, of 01 and 03:", *read)
print("after, with 02 added:", *then)
assert read == ["01-0", "01-1", "01-2", "03-0"]
assert then == ["03-1", "03-2", "03-0", "03-1", "03-2"], "changed"
PYTHON
