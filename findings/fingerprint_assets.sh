#!/usr/bin/env bash
# Guess: a SavedModel's fingerprint changes with its vocabulary.
# Seen: no part of it sees the files in assets/. Two modules whose vocabularies number the words
#   differently, each saved by a process of its own, give "cat" different rows and have the same
#   fingerprint, all five numbers.
# Hurt: who tells by the fingerprint whether an index, a cache or a score belongs to a module.
# Versions: TensorFlow 2.20.0; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tensorflow==2.20.0 numpy==2.4.6
cd "$folder"
cat > save.py <<'PYTHON'
import sys
from pathlib import Path

import tensorflow as tf
from tensorflow.lookup import StaticHashTable, TextFileIndex, TextFileInitializer

name, *words = sys.argv[1:]
Path("words.txt").write_text("\n".join(words) + "\n")
line = TextFileIndex.WHOLE_LINE, tf.int64, TextFileIndex.LINE_NUMBER


class Module(tf.Module):
    def __init__(self):
        self.ids = StaticHashTable(TextFileInitializer("words.txt", tf.string, *line), -1)
        self.table = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, words):
        return tf.gather(self.table, self.ids.lookup(words))


tf.saved_model.save(Module(), name)
PYTHON
export TF_CPP_MIN_LOG_LEVEL=3
venv/bin/python save.py first cat dog
venv/bin/python save.py other dog cat
venv/bin/python - <<'PYTHON'
import tensorflow as tf

read, vector = {}, {}
for name in ("first", "other"):
    stored = tf.saved_model.experimental.read_fingerprint(name)
    read[name] = [
        stored.saved_model_checksum,
        stored.graph_def_program_hash,
        stored.signature_def_hash,
        stored.saved_object_graph_hash,
        stored.checkpoint_hash,
    ]
    vector[name] = float(tf.saved_model.load(name)(tf.constant(["cat"]))[0])
    print(name, "cat ->", vector[name], "fingerprint", *read[name])
assert vector == {"first": 1, "other": 2}
assert read["first"] == read["other"], "changed"
PYTHON
