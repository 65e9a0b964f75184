#!/usr/bin/env bash
# Guess: a folder of model2vec, which has a `modules.json` for sentence-transformers, gives a text
#   the same vector in both.
# Seen: model2vec leaves unknown words out; sentence-transformers counts each with the row of the
#   unknown token. There, texts without a word in common are similar because both have unknown
#   words, and a text of unknown words alone has a vector, not zeros.
# Hurt: who scores a model with one library and serves it with the other: names in a vocabulary of
#   words, emoji and other scripts in one of word pieces.
# Versions: model2vec 0.10.0, sentence-transformers 6.2.0, tokenizers 0.23.3, torch 2.15.0;
#   28 November 2026. Most of its time and 6 GB go to torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile model2vec==0.10.0 \
  sentence-transformers==6.2.0 transformers==5.24.0 torch==2.15.0 tokenizers==0.23.3 numpy==2.4.6
cd "$folder"
HF_HUB_OFFLINE=1 venv/bin/python - <<'PYTHON'
import numpy as np
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, pre_tokenizers

entries = ["[UNK]", "green", "tea", "the", "violin", "plays"]
tokenizer = Tokenizer(
    models.WordLevel({entry: number for number, entry in enumerate(entries)}, unk_token="[UNK]")
)
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
table = np.eye(len(entries), dtype=np.float32)
StaticModel(vectors=table, tokenizer=tokenizer, normalize=True).save_pretrained("model")
ONE, OTHER, ALL_UNKNOWN = "green tea oolong sencha", "the violin plays Brahms", "oolong sencha"
found = {}
for name, model in (
    ("model2vec", StaticModel.from_pretrained("model")),
    ("sentence-transformers", SentenceTransformer("model", device="cpu")),
):
    one, other, unknown, known = model.encode([ONE, OTHER, ALL_UNKNOWN, "green tea"])
    length = np.linalg.norm(unknown)
    found[name] = [round(float(number), 2) for number in (one @ other, one @ known, length)]
    print(f"{name}: cosine {found[name][0]} of texts without a known word in common,", end=" ")
    print(f"{found[name][1]} with and without the unknown words; length without known words {length}")
assert found["model2vec"] == [0, 1, 0], "changed"
assert found["sentence-transformers"] == [0.41, 0.58, 1], "changed"
PYTHON
