"""Scores a module with an evaluator of sentence-transformers.

    python examples/sentence_transformers_evaluator.py module/ pairs.csv

`pairs.csv` has the columns sentence1, sentence2 and score. Needs sentence-transformers besides.
"""

import argparse
import csv
from collections.abc import Sequence

import torch  # and its Triton before TensorFlow: their copies of LLVM collide
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator

import tensorflow_hub as hub  # isort: skip
import tensorflow_text  # noqa: F401  isort: skip  (registers the ops that the module uses)


class HubModule(torch.nn.Module):
    """The module as the only part of a SentenceTransformer: frozen, on TensorFlow's device."""

    def __init__(self, path: str):
        super().__init__()
        self._embed = hub.load(path)

    def preprocess(self, inputs: list[str], **options: object) -> dict[str, torch.Tensor]:
        """Texts -> float32 [texts, dim]; the module takes strings, so nothing is left to do."""
        return {"sentence_embedding": torch.from_numpy(self._embed(list(inputs)).numpy())}

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Hands the embeddings on."""
        return features


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the correlations of the cosines with the scores."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    parser.add_argument("pairs", help="CSV file with the columns sentence1, sentence2 and score")
    given = parser.parse_args(argv)

    with open(given.pairs, encoding="utf-8", newline="") as file:  # noqa: PTH123
        pairs = list(csv.DictReader(file))
    model = SentenceTransformer(modules=[HubModule(given.module)], device="cpu")
    evaluate = EmbeddingSimilarityEvaluator(
        [pair["sentence1"] for pair in pairs],
        [pair["sentence2"] for pair in pairs],
        [float(pair["score"]) for pair in pairs],
    )
    for name, value in evaluate(model).items():
        print(f"{name}  {value:.4f}")


if __name__ == "__main__":
    main()
