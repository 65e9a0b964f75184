"""Scores a model on tasks of mteb, with local data.

    python score.py FOLDER data.json

`data.json` has the pairs of each task: {"STSBenchmark": [[score, sentence, sentence], ...]}. Prints
the task's scores as JSON.
"""

import json
import sys
from pathlib import Path

import mteb
from datasets import Dataset
from sentence_transformers import SentenceTransformer


def task_on(name, pairs):
    """A task of mteb on these pairs instead of those that it would download."""
    task = mteb.get_task(name)
    columns = ("score", "sentence1", "sentence2")
    data = Dataset.from_dict(dict(zip(columns, map(list, zip(*pairs, strict=True)), strict=True)))
    task.dataset, task.data_loaded = {"test": data}, True
    return task


if __name__ == "__main__":
    folder, data = sys.argv[1:]
    tasks = [task_on(*item) for item in json.loads(Path(data).read_text()).items()]
    model = SentenceTransformer(folder, device="cpu")
    found = mteb.evaluate(model, tasks, cache=None, co2_tracker=False, show_progress_bar=False)
    print(json.dumps({one.task_name: one.scores["test"][0] for one in found.task_results}))
