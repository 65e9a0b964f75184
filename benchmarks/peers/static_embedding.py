"""sentence-transformers' StaticEmbedding, trained on pairs with in-batch negatives.

Run by `benchmarks.training` with an interpreter that has sentence-transformers; it imports
nothing of this project.

    PYTHON benchmarks/peers/static_embedding.py --pairs pairs.jsonl --steps 200

It trains the library's own trainer with its own defaults (AdamW), a WordPiece tokenizer of the
pairs' words being made first, and prints one JSON line: pairs per second from the end of
step `--warm_up` on.
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
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import TrainerCallback

UNKNOWN = "[UNK]"


def main() -> None:
    """Makes the tokenizer, trains, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="F.jsonl", help="input and response")
    parser.add_argument("--steps", type=int, default=200, metavar="N")
    parser.add_argument("--warm_up", type=int, default=20, metavar="N", help="steps not timed")
    parser.add_argument("--batch", type=int, default=256, metavar="N")
    parser.add_argument("--words", type=int, default=30_000, metavar="N")
    parser.add_argument("--dim", type=int, default=512, metavar="N")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="that load data")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with open(arguments.pairs) as lines:  # noqa: PTH123
        pairs = [json.loads(line) for line in lines]
    columns = {name: [pair[name] for pair in pairs] for name in ("input", "response")}
    tokenizer = make_tokenizer([*columns["input"], *columns["response"]], arguments.words)
    model = SentenceTransformer(
        modules=[StaticEmbedding(tokenizer, embedding_dim=arguments.dim)], device="cpu"
    )
    clock = Clock(arguments.warm_up)
    with tempfile.TemporaryDirectory() as folder:
        SentenceTransformerTrainer(
            model=model,
            args=SentenceTransformerTrainingArguments(
                output_dir=folder,
                per_device_train_batch_size=arguments.batch,
                max_steps=arguments.steps,
                dataloader_num_workers=arguments.workers,
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
    steps = arguments.steps - arguments.warm_up
    print(
        json.dumps(
            {
                "pairs_per_second": steps * arguments.batch / clock.seconds,
                "processor_microseconds": 1e6 * clock.processor / (steps * arguments.batch),
                "parameters": sum(parameter.numel() for parameter in model.parameters()),
            }
        )
    )


def make_tokenizer(texts: list[str], words: int) -> Tokenizer:
    """An uncased WordPiece tokenizer of the texts' words."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=words, special_tokens=[UNKNOWN], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


class Clock(TrainerCallback):
    """How long the steps after the warm-up took."""

    def __init__(self, warm_up: int):
        self._warm_up = warm_up
        self._began = (0.0, 0.0)
        self.seconds = self.processor = 0.0

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Looks at the clock."""
        if state.global_step == self._warm_up:
            self._began = (time.perf_counter(), time.process_time())
        self.seconds = time.perf_counter() - self._began[0]
        self.processor = time.process_time() - self._began[1]


if __name__ == "__main__":
    main()
