"""What `report`, `rows` and `compare` say of results that they cannot use: one line."""

import json

import pytest

from evaluation.results import store
from tests.evaluation.report.results_of import ranking, sts


@pytest.fixture
def results(tmp_path):
    store.write(sts("sts-dev"), tmp_path / "results")
    return tmp_path / "results"


CHANGES = [
    (sts(), ["metrics", "pearson"], None),
    (sts(), ["metrics", "pearson"], "0.5"),
    (sts(), ["task"], "poetry"),
    (sts(), ["intervals", "pearson"], [0.5]),
    (sts(), ["items", 2, "gold"], None),
    (sts(), ["module", "fingerprint"], None),
    (sts(), ["n"], -1),
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
