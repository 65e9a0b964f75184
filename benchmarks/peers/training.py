"""StaticEmbedding of sentence-transformers, trained with in-batch negatives.

Run by `benchmarks.speed.training` with an interpreter that has sentence-transformers and datasets;
of this project it imports the file beside it alone.

    PYTHON benchmarks/peers/training.py --pairs pairs.jsonl --steps 200

The library's trainer with its defaults (AdamW), the rate of its authors, and a WordPiece tokenizer
of the pairs' words. Prints one JSON line: pairs per second after step `WARM_UP`, and peak GB.
"""

import argparse
import json
import os
import tempfile
import time
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from datasets import Dataset
from encoding import peak_mb  # beside this file
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import TrainerCallback

UNKNOWN, WARM_UP = "[UNK]", 20


def main() -> None:
    """Makes the model, trains, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="F.jsonl", help="input and response")
    parser.add_argument("--steps", type=int, default=200, metavar="N")
    parser.add_argument("--batch", type=int, default=256, metavar="N")
    parser.add_argument("--dim", type=int, default=512, metavar="N", help="of StaticEmbedding")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    with open(arguments.pairs) as lines:  # noqa: PTH123
        pairs = [json.loads(line) for line in lines]
    columns = {name: [pair[name] for pair in pairs] for name in ("input", "response")}
    model = static_embedding(columns, arguments.dim)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        SentenceTransformerTrainer(
            model=model,
            args=SentenceTransformerTrainingArguments(
                output_dir=folder,
                per_device_train_batch_size=arguments.batch,
                max_steps=arguments.steps,
                learning_rate=0.2,
                use_cpu=True,
                logging_strategy="no",
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=Dataset.from_dict(columns),
            loss=MultipleNegativesRankingLoss(model),
            callbacks=[clock],
        ).train()
    speed = (arguments.steps - WARM_UP) * arguments.batch / clock.seconds
    print(json.dumps({"pairs_per_second": speed, "peak_gb": peak_mb() * 2**20 / 1e9}))


Columns = dict[str, list[str]]


def static_embedding(columns: Columns, dim: int) -> SentenceTransformer:
    """A table of word vectors, and their mean."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=30_000, special_tokens=[UNKNOWN], show_progress=False
    )
    tokenizer.train_from_iterator([*columns["input"], *columns["response"]], trainer)
    table = StaticEmbedding(tokenizer, embedding_dim=dim)
    return SentenceTransformer(modules=[table], device="cpu")


class Clock(TrainerCallback):
    """How long the steps after the warm-up took."""

    _began = seconds = 0.0

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Reads the clock."""
        if state.global_step == WARM_UP:
            self._began = time.perf_counter()
        self.seconds = time.perf_counter() - self._began


if __name__ == "__main__":
    main()
