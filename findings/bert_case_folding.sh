#!/usr/bin/env bash
# Guess: tensorflow-text's BertTokenizer with lower_case lowers as BERT's own code, by which the
#   vocabularies were made, and as Hugging Face's.
# Seen: it folds case. German sharp s becomes ss, and the sigma at the end of a Greek word the sigma
#   inside one; so Greek words in -s and German words with sharp s miss their entries in the
#   vocabulary. FastBertTokenizer does the same.
# Hurt: who serves a multilingual uncased checkpoint with the tokenizer in the graph.
# Versions: tensorflow-text 2.20.1, tokenizers 0.23.3; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  tensorflow==2.20.0 tensorflow-text==2.20.1 tokenizers==0.23.3 numpy==2.4.6
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
from pathlib import Path

import tensorflow as tf
import tensorflow_text as text
from tokenizers import BertWordPieceTokenizer

# "streets" in German, "road" in Greek, as their dictionaries spell them.
WORDS = ["Stra\u00dfen", "\u03bf\u03b4\u03bf\u03c2"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "stra\u00dfen", "\u03bf\u03b4\u03bf\u03c2"]
Path("vocabulary.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
hugging_face = BertWordPieceTokenizer("vocabulary.txt", lowercase=True)
made = {
    "BertTokenizer": text.BertTokenizer(
        "vocabulary.txt", lower_case=True, token_out_type=tf.string
    ),
    "FastBertTokenizer": text.FastBertTokenizer(
        VOCABULARY, lower_case_nfd_strip_accents=True, token_out_type=tf.string
    ),
}
pieces = [hugging_face.encode(word, add_special_tokens=False).tokens for word in WORDS]
print("Hugging Face:", ascii(pieces))
assert pieces == [[word] for word in VOCABULARY[4:]], "changed"
for name, tokenizer in made.items():
    rows = tokenizer.tokenize(WORDS).merge_dims(1, -1).to_list()
    print(name, rows)
    assert rows == [[b"[UNK]"], [b"[UNK]"]], "changed"
PYTHON
