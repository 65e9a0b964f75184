"""What `report`, `rows` and `compare` say of results that they cannot use: one line."""

import json

import pytest

from evaluation.results import store
from tests.evaluation.report.results_of import sts


@pytest.fixture
def results(tmp_path):
    store.write(sts("sts-dev"), tmp_path / "results")
    return tmp_path / "results"


CHANGES = [
    (["metrics", "pearson"], None),
    (["metrics", "pearson"], "0.5"),
    (["task"], "poetry"),
    (["intervals", "pearson"], [0.5]),
    (["items", 2, "gold"], None),
    (["module", "fingerprint"], None),
]


@pytest.mark.parametrize(("keys", "value"), CHANGES)
def test_a_result_that_is_none_is_named_with_the_key(keys, value, results, fails, tmp_path):
    path = results / "sts-dev.json"
    fields = json.loads(path.read_text())
    *parents, last = keys
    place = fields
    for key in parents:
        place = place[key]
    place[last] = value
    if value is None:
        del place[last]
    path.write_text(json.dumps(fields))
    for argv in (
        ["report", "--results", results, "--output", tmp_path / "page.html"],
        ["compare", results, results],
    ):
        line = fails(*argv)
        assert str(path) in line
        assert keys[0] in line
    assert not (tmp_path / "page.html").exists()


def test_a_report_lies_among_the_results_and_replaces_none(results, run, fails):
    kept = (results / "sts-dev.json").read_bytes()
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


@pytest.mark.parametrize(
    "manifest", ["x", '{"outputs": {"train-0": 3}}', '{"outputs": {"train-0": {"records": 0}}}']
)
def test_a_page_of_rows_needs_a_manifest_with_pairs(manifest, fails, write_text, tmp_path):
    store.write(sts("sts-dev"), tmp_path / "results" / "a-0")
    path = write_text("pairs/COMPLETED", manifest)
    rows = ["rows", "--results", tmp_path / "results", "--pairs", tmp_path / "pairs"]
    assert str(path) in fails(*rows, "--output", tmp_path / "page.md")
