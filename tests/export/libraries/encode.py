"""Encodes texts with a form of a module, by the library that loads it.

    python encode.py FORM FOLDER texts.json vectors.npy

Run with an interpreter that has the library, and nothing of this project.
"""

import json
import sys
from pathlib import Path

import numpy as np


def sentence_transformers(folder, texts):
    """PyTorch."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(folder, device="cpu").encode(texts)


def model2vec(folder, texts):
    """NumPy."""
    from model2vec import StaticModel

    return StaticModel.from_pretrained(folder).encode(texts)


def onnx(folder, texts):
    """ONNX Runtime."""
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(texts)
    feeds = {
        "input_ids": np.array([encoding.ids for encoding in encodings]),
        "attention_mask": np.array([encoding.attention_mask for encoding in encodings]),
    }
    (rows,) = InferenceSession(f"{folder}/model.onnx").run(["sentence_embedding"], feeds)
    return rows


FORMS = {"sentence-transformers": sentence_transformers, "model2vec": model2vec, "onnx": onnx}

if __name__ == "__main__":
    form, folder, texts, vectors = sys.argv[1:]
    np.save(vectors, FORMS[form](folder, json.loads(Path(texts).read_text())))
