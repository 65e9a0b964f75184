"""Results as JSON files, which are stored, and what is said of those that cannot be used."""

import dataclasses
import json

import numpy as np
import pytest

from common import sts as sts_files
from common.errors import InputError
from common.text_files import Source
from evaluation.results import store
from evaluation.results.store import Evaluation
from evaluation.tasks import sts as sts_task
from tests.evaluation.report.results_of import ranking, result, sts
from tests.evaluation.test_commands import ROWS

NO_FIGURE = {"pearson": float("nan"), "spearman": 0.5}


def test_a_result_survives_the_file_whole_or_not_at_all(tmp_path):
    found = sts(metrics=NO_FIGURE, settings={"seed": 1, "kept": True, "columns": "a b"})
    path = store.write(found, tmp_path / "new" / "folder")
    assert json.loads(path.read_text())["metrics"] == {"pearson": None, "spearman": 0.5}
    again = store.read(path)
    assert again == dataclasses.replace(found, metrics=NO_FIGURE | {"pearson": None})
    with pytest.raises(TypeError):
        store.write(sts(items=[{"gold": np.float32(1)}]), path.parent)
    assert store.read(path) == again
    assert [file.name for file in path.parent.iterdir()] == ["sts-test.json"]


def test_results_come_in_the_papers_order(tmp_path):
    names = ["response_ranking", "snli-test", "sts-dev", "sts-test", "cqa-x"]
    metrics = {"cqa": "map", "snli": "accuracy"}
    for name in sorted(names):
        task = name.split("-")[0]
        found = result(task, name, **{metrics.get(task, "pearson"): 0.5})
        store.write(ranking(1, 2) if task == "response_ranking" else found, tmp_path)
    assert [found.name for found in store.read_results(tmp_path)] == names


CHANGES = [
    (sts(), ["metrics", "pearson"], None),
    (sts(), ["task"], "poetry"),
    (sts(), ["intervals", "pearson"], [0.5]),
    (sts(), ["items", 2, "gold"], None),
    (sts(), ["module", "fingerprint"], None),
    (ranking(1, 2), ["items", 0, "block"], None),
    (ranking(1, 2), ["metrics"], {"p_at_0": 0.5}),
]


@pytest.mark.parametrize(("found", "keys", "value"), CHANGES)
def test_a_result_that_is_none_is_named_with_the_key(found, keys, value, fails, tmp_path):
    results = tmp_path / "results"
    path = store.write(found, results)
    fields = json.loads(path.read_text())
    *parents, last = keys
    place = fields
    for key in parents:
        place = place[key]
    place[last] = value
    if value is None:
        del place[last]
    path.write_text(json.dumps(fields))
    line = fails("compare", results, results)
    assert str(path) in line
    assert keys[0] in line


def test_a_report_lies_among_the_results_and_replaces_none(tmp_path, run, fails):
    results = tmp_path / "results"
    kept = store.write(sts("sts-dev"), results).read_bytes()
    report = ["report", "--results", results, "--output"]
    assert "sts-dev.json" in fails(*report, results / "sts-dev.json")
    for _ in range(2):
        run(*report, results / "report.html")
    assert (results / "sts-dev.json").read_bytes() == kept
    for wrong in ("", "[1]", "{"):
        (results / "copy.json").write_text(wrong)
        assert "copy.json" in fails(*report, results / "page.html")
    (results / "copy.json").write_bytes(kept)
    assert "sts-dev" in fails(*report, results / "page.html")
    assert not (results / "page.html").exists()


@pytest.fixture
def score(write_text, word_encoder, tmp_path):
    """Score pairs of one name into one folder; return how often that was computed."""
    calls = []

    def run(rows=ROWS, *, fingerprint="c0ffee", seed=4, again=False, others=(), **asked):
        source = Source("sts-dev", (write_text("sts-dev.csv", rows),))

        def compute():
            calls.append(1)
            return sts_task.evaluate(word_encoder, sts_files.read(source))

        module = {"path": "m", "fingerprint": fingerprint}
        one = Evaluation(source=source, compute=compute, module=module, **asked)
        of = {"output": tmp_path / "results", "command": "c", "seed": seed, "again": again}
        store.results([one, *others], **of)
        return len(calls)

    return run


def test_what_is_there_is_not_computed_again(score, capsys):
    assert (score(), score()) == (1, 1)
    assert "already there; --again" in capsys.readouterr().out
    assert score(again=True) == 2


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"fingerprint": "decade"}, "module c0ffee"),
        ({"seed": 5}, "seed 4"),
        ({"settings": {"columns": "a, b, c"}}, "columns None"),
        ({"rows": ROWS + ROWS}, "data"),
    ],
)
def test_what_is_there_is_not_passed_off_as_something_else(score, changed, named):
    score()
    with pytest.raises(InputError, match=rf"sts-dev\.json: already there, of {named}"):
        score(**changed)


def test_a_failure_keeps_what_is_finished(score, tmp_path):
    def fails():
        raise InputError("a NaN")

    bad = Evaluation(source=Source("sts-test", ()), compute=fails, module=None)
    with pytest.raises(InputError, match="a NaN"):
        score(others=[bad])
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["sts-dev.json"]


def test_provenance_says_where_data_come_from_and_what_was_learned_from(write_text):
    path = write_text("a/test-0", "")
    write_text("a/SAMPLE.txt", "A sample world: 10 comments. None of it is real.\n")
    found = store.provenance(Source("pairs", (path,)), [Source("train", (path,))])
    assert found["origin"] == "synthetic sample"
    assert found["learned_from"]["files"] == ["test-0"]
