"""Scores a model on the STS Benchmark of mteb, with local data.

    python score.py FOLDER pairs.json

`pairs.json` has the pairs: [[score, sentence, sentence], ...]. Prints the scores as JSON.
"""

import json
import sys
from pathlib import Path

import mteb
from datasets import Dataset
from sentence_transformers import SentenceTransformer

if __name__ == "__main__":
    folder, data = sys.argv[1:]
    pairs = zip(*json.loads(Path(data).read_text()), strict=True)
    columns = ("score", "sentence1", "sentence2")
    rows = Dataset.from_dict(dict(zip(columns, map(list, pairs), strict=True)))
    task = mteb.get_task("STSBenchmark")
    task.dataset, task.data_loaded = {"test": rows}, True  # instead of those to download
    model = SentenceTransformer(folder, device="cpu")
    found = mteb.evaluate(model, [task], cache=None, co2_tracker=False, show_progress_bar=False)
    print(json.dumps(found.task_results[0].scores["test"][0]))
