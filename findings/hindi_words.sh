#!/usr/bin/env bash
# Guess: a pattern of word characters, in Unicode mode, finds the words of any script with spaces.
# Seen: Python's \w leaves out combining marks, with which Hindi writes vowels. To the pattern of
#   scikit-learn's vectorizers and of bm25s, which asks for two such characters in a row, this
#   common Hindi sentence has no word at all: scikit-learn raises, bm25s indexes nothing and
#   says nothing. The pattern \S+ finds all six.
# Hurt: who measures a BM25 or TF-IDF baseline on Indic scripts: it loses without having played.
# Versions: scikit-learn 1.9.1, bm25s 0.3.16; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  scikit-learn==1.9.1 bm25s==0.3.16 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import bm25s
from sklearn.feature_extraction.text import TfidfVectorizer

# "I am twenty years old", "my name is Hindi"
AGE = "\u092e\u0948\u0902 \u092c\u0940\u0938 \u0938\u093e\u0932 \u0915\u093e \u0939\u0942\u0901"
NAME = "\u0939\u093f\u0928\u094d\u0926\u0940"
TEXTS = [f"{AGE} {NAME}"]
tokens = bm25s.tokenize(TEXTS, stopwords=None, show_progress=False)
print("bm25s:", tokens)
assert tokens.vocab in ({}, {"": 0}), "changed"
try:
    TfidfVectorizer().fit(TEXTS)
except ValueError as error:
    print("scikit-learn:", error)
else:
    raise SystemExit("changed: scikit-learn finds words")
words = TfidfVectorizer(token_pattern=r"\S+").fit(TEXTS).vocabulary_
print("by \\S+:", len(words))
assert len(words) == 6, "changed"
PYTHON
