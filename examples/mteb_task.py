"""Runs a task of mteb on a module: the STS Benchmark, from a file on this machine.

    python examples/mteb_task.py module/ sts-test.csv

Needs mteb (tried: 2.26) besides. `spearman` and `pearson` are those of `python -m evaluation sts`.
"""

import argparse
import csv
from collections.abc import Sequence
from typing import Any

import mteb
import numpy as np
import torch._dynamo  # noqa: F401  (loads Triton; after TensorFlow its copy of LLVM collides)
from datasets import Dataset, DatasetDict
from mteb.models import ModelMeta
from mteb.models.abs_encoder import AbsEncoder
from mteb.tasks import STSBenchmarkSTS

import tensorflow_hub as hub  # isort: skip
import tensorflow_text  # noqa: F401  isort: skip  (registers the ops that the module uses)


class HubEncoder(AbsEncoder):
    """A module as a model of mteb; pairs are scored by their angle, as in the paper."""

    def __init__(self, path: str):
        self._embed = hub.load(path)
        self.mteb_model_meta = ModelMeta.create_empty({"name": "local/module"})

    def encode(self, inputs: Any, **about: Any) -> np.ndarray:
        """Batches of texts -> float32 [texts, dim]."""
        return np.concatenate([self._embed(list(batch["text"])).numpy() for batch in inputs])

    def similarity_pairwise(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """-arccos(cosine) of each pair of rows."""
        return -np.arccos(np.clip(np.sum(first * second, axis=1), -1, 1))


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the scores of the task."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    parser.add_argument("sts", help="a file of the STS Benchmark, such as sts-test.csv")
    given = parser.parse_args(argv)

    with open(given.sts, encoding="utf-8") as file:  # noqa: PTH123
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = {"sentence1": [r[5] for r in rows], "sentence2": [r[6] for r in rows]}
    task = STSBenchmarkSTS()
    pairs = Dataset.from_dict(columns | {"score": [float(row[4]) for row in rows]})
    task.dataset, task.data_loaded = DatasetDict({"test": pairs}), True
    done = mteb.evaluate(HubEncoder(given.module), task, cache=None, show_progress_bar=False)
    for name in ("spearman", "pearson", "cosine_pearson"):
        print(f"{name}  {done.task_results[0].scores['test'][0][name]:.4f}")


if __name__ == "__main__":
    main()
