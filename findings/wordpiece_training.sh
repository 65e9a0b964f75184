#!/usr/bin/env bash
# Guess: training a tokenizer twice on one text gives one file.
# Seen: WordPieceTrainer finds the same pieces, but numbers those that begin with ## in another
#   order in each process. BpeTrainer and WordLevelTrainer give the same ids every time. No seed
#   changes that.
# Hurt: who trains the tokenizer again, on another machine or after a cleaned cache, beside a
#   checkpoint: its embedding rows then belong to other pieces, and nothing fails.
# Versions: tokenizers 0.23.3; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tokenizers==0.23.3
cd "$folder"
cat > train.py <<'PYTHON'
import json
import random

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

draw = random.Random(0)
syllables = ["ba", "ko", "li", "mu", "te", "ra", "so", "ni", "fe", "du"]
words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(400)]
texts = [" ".join(draw.choices(words, k=12)) for _ in range(800)]
found = {}
for name in ("WordPiece", "Bpe", "WordLevel"):
    model = getattr(models, {"Bpe": "BPE"}.get(name, name))(unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"special_tokens": ["[UNK]"], "show_progress": False}
    trainer = getattr(trainers, f"{name}Trainer")(vocab_size=300, **special)
    tokenizer.train_from_iterator(texts, trainer)
    found[name] = tokenizer.get_vocab()
print(json.dumps(found, sort_keys=True))
PYTHON
for _ in 1 2 3 4; do venv/bin/python train.py; done > vocabularies.jsonl
venv/bin/python - <<'PYTHON'
import json

runs = [json.loads(line) for line in open("vocabularies.jsonl")]
for name in runs[0]:
    pieces = {tuple(run[name]) for run in runs}
    ids = {tuple(run[name].items()) for run in runs}
    print(f"{name}: in {len(runs)} runs {len(pieces)} sets of pieces, {len(ids)} numberings")
    assert len(pieces) == 1 and (len(ids) > 1) == (name == "WordPiece"), "changed"
by_piece = {piece: [run["WordPiece"][piece] for run in runs] for piece in runs[0]["WordPiece"]}
moved = {piece: ids for piece, ids in by_piece.items() if len(set(ids)) > 1}
print("renumbered:", len(moved), "for example", dict(list(moved.items())[:3]))
PYTHON
