#!/usr/bin/env bash
# Guess: the longest word that WordPiece cuts up is counted in characters, 100 as in BERT's code.
# Seen: tensorflow-text counts bytes: FastWordpieceTokenizer makes one unknown token of a Thai word
#   of 34 letters (102 bytes), which Hugging Face cuts into 34 pieces. Scripts without spaces reach
#   that in half a sentence; Latin script never does.
# Hurt: who moves a tokenizer of Thai, Lao, Khmer or Burmese into the graph: sentences become
#   unknown.
# Versions: tensorflow-text 2.20.1, tokenizers 0.23.3; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  tensorflow==2.20.0 tensorflow-text==2.20.1 tokenizers==0.23.3 numpy==2.4.6
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 venv/bin/python - <<'PYTHON'
import tensorflow as tf
import tensorflow_text as text
from tokenizers import Tokenizer, models, pre_tokenizers

LETTERS = {"latin": "a", "thai": "\u0e01"}
pieces = ["[UNK]", *LETTERS.values(), *(f"##{letter}" for letter in LETTERS.values())]
graph = text.FastWordpieceTokenizer(pieces, token_out_type=tf.string, unknown_token="[UNK]")
numbers = {piece: number for number, piece in enumerate(pieces)}
hugging_face = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
hugging_face.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
lengths = {}
for script, letter in LETTERS.items():
    for name, count in (
        ("tensorflow-text", lambda word: len(graph.tokenize([word]).to_list()[0])),
        ("Hugging Face", lambda word: len(hugging_face.encode(word).tokens)),
    ):
        cut = [length for length in range(2, 120) if count(letter * length) > 1]
        lengths[script, name] = max(cut)
for (script, name), length in lengths.items():
    print(f"{name}: longest {script} word that is cut up: {length} letters")
assert list(lengths.values()) == [100, 100, 33, 100], "changed"
PYTHON
