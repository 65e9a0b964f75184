#!/usr/bin/env bash
# Guess: without the files of the newest checkpoint, the one before is the latest.
# Seen: tf.train.latest_checkpoint then gives None, as for an empty folder, whatever else is there;
#   CheckpointManager.latest_checkpoint names the one that is gone. A script that starts anew if
#   there is none thus throws away a run, and soon deletes the older checkpoints.
# Hurt: who deletes a damaged last checkpoint, or copies a folder while it is being written.
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

step = tf.Variable(0)
checkpoint = tf.train.Checkpoint(step=step)
manager = tf.train.CheckpointManager(checkpoint, "run", max_to_keep=3)
for number in (1, 2, 3):
    step.assign(number)
    manager.save()
for path in Path("run").glob("ckpt-3.*"):
    path.unlink()
left = sorted(path.name for path in Path("run").glob("*.index"))
again = tf.train.CheckpointManager(checkpoint, "run", max_to_keep=3)
print("left:", left)
print("latest_checkpoint:", tf.train.latest_checkpoint("run"))
print("of the manager:", again.latest_checkpoint)
assert left == ["ckpt-1.index", "ckpt-2.index"]
assert tf.train.latest_checkpoint("run") is None, "changed"
assert Path(again.latest_checkpoint).name == "ckpt-3", "changed"
PYTHON
