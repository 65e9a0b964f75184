"""Results as JSON files."""

import dataclasses
import json

import numpy as np
import pytest

from evaluation.results import store
from tests.evaluation.report.results_of import ranking, result, sts

NO_FIGURE = {"pearson": float("nan"), "spearman": 0.5}


def test_a_result_survives_the_file_whole_or_not_at_all(tmp_path):
    found = sts(metrics=NO_FIGURE, settings={"seed": 1, "kept": True, "columns": "a b"})
    path = store.write(found, tmp_path / "new" / "folder")
    assert json.loads(path.read_text())["metrics"] == {"pearson": None, "spearman": 0.5}
    again = store.read(path)
    assert again == dataclasses.replace(found, metrics=NO_FIGURE | {"pearson": None})
    with pytest.raises(TypeError):
        store.write(sts(items=[{"gold": np.float32(1)}]), path.parent)
    assert [file.name for file in path.parent.iterdir()] == ["sts-test.json"]
    assert store.read(path) == again


def test_results_come_in_the_papers_order(tmp_path):
    names = ["response_ranking", "snli-test", "sts-dev", "sts-test", "cqa-x"]
    metrics = {"cqa": "map", "snli": "accuracy"}
    for name in sorted(names):
        task = name.split("-")[0]
        found = result(task, name, **{metrics.get(task, "pearson"): 0.5})
        store.write(ranking(1, 2) if task == "response_ranking" else found, tmp_path)
    assert [found.name for found in store.read_results(tmp_path)] == names
