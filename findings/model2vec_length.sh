#!/usr/bin/env bash
# Guess: model2vec reads the first 512 tokens of a text, or `max_length` of them.
# Seen: it first cuts the text at 512 times N characters, N the median length of the vocabulary's
#   entries. Entries that a text does not use change its vector: with N = 2, 85 of 400 tokens are
#   read.
# Hurt: who has a vocabulary of short entries (Chinese characters, n-grams) and long texts in long
#   words, or adds short entries. sentence-transformers does not cut the same folder's texts so.
# Versions: model2vec 0.10.0, tokenizers 0.23.3, NumPy 2.4.6; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  model2vec==0.10.0 tokenizers==0.23.3 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ["information", "environment"]
text = " ".join(word for word in WORDS for _ in range(200))
read, vectors = [], []
for digits in (11, 2, 4):
    unused = [f"{number:0{digits}}" for number in range(99)]
    entries = ["[UNK]", *WORDS, *unused]
    tokenizer = Tokenizer(
        models.WordLevel({entry: number for number, entry in enumerate(entries)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    table = np.zeros((len(entries), 2), np.float32)
    table[1], table[2] = (1, 0), (0, 1)
    model = StaticModel(vectors=table, tokenizer=tokenizer)
    read.append(len(model.encode_as_sequence(text, max_length=model.max_length)))
    vectors.append(model.encode(text).round(3).tolist())
    print(
        f"median of {model.median_token_length} characters, limit of {model.max_length} tokens: "
        f"{read[-1]} of 400 tokens read, embedding {vectors[-1]}"
    )
assert read == [400, 85, 170], "changed"
assert vectors == [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]], "changed"
PYTHON
