"""RESULTS.md, its figure and its CSV files."""

import csv
import dataclasses
import json
import os
import shutil

import pytest

from common.errors import InputError
from evaluation.report import growth, results_page
from evaluation.results import store
from tests.evaluation.report.results_of import official, ranking, result, sts, system


@pytest.fixture
def results(tmp_path):
    """Two seeds of one row, one of another, points of growth and of figure 8, a baseline."""
    folder = tmp_path / "rows"

    def put(run, *found):
        for one in found:
            store.write(one, folder / run)

    put("reddit-0", sts("sts-dev", r=0.70), official(sts(r=0.5)), ranking(1, 1, 1, 2))
    put("reddit-1", sts("sts-dev", r=0.74), official(sts(r=0.5)), ranking(1, 1, 1, 1))
    put("bilstm-0", sts("sts-dev", r=0.6))
    for share, r in ((10, 0.5), (30, 0.55), (100, 0.6)):
        put(f"growth_{share}-0", sts("sts-dev", r=r))
        put(f"nli_{share}-0", sts("sts-dev", r=r), official(sts(r=r / 2)))
    put("baselines/TF-IDF", sts("sts-dev", r=0.65), ranking(2, 2, 2, 2))
    return folder


@pytest.fixture
def pairs(tmp_path):
    sizes = [70, 30, *[50] * 4, *[250] * 2, *[100] * 2]
    outputs = {f"train-0000{n}-of-00010": {"records": size} for n, size in enumerate(sizes)}
    outputs["test-00000-of-00001.tfrecord"] = {"records": 99}
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    return tmp_path / "pairs"


def numbers(path):
    with path.open() as file:
        return {(one["row"], one["figure"]): one["value"] for one in csv.DictReader(file)}


def test_the_page_has_the_best_rows_and_csv_files_every_row(results, pairs, tmp_path):
    wrong = result("mistakes", "mistakes-sts-dev", mean_error=0.1)
    wrong = dataclasses.replace(wrong, items=[{"sentence1": "somebody's words"}])
    store.write(wrong, tmp_path / "wrong")
    seen = dataclasses.replace(
        result("contamination", "contamination-sts-test", pearson=0.71),
        counts={"pairs_in_training": 2, "texts_in_training": 3},
    )
    store.write(seen, tmp_path / "leaks")
    (tmp_path / "models" / "growth_10-0").mkdir(parents=True)
    (tmp_path / "models" / "growth_10-0" / "chosen.json").write_text('{"rate": 0.012}')
    page = tmp_path / "site" / "RESULTS.md"
    results_page.write(
        results,
        page,
        pairs=[pairs],
        models=tmp_path / "models",
        contamination=tmp_path / "leaks",
        mistakes=tmp_path / "wrong",
        about="`make it`",
    )
    text = page.read_text()
    assert len(text.splitlines()) <= 150
    assert "`reddit` is ahead on P@1 of 100." in " ".join(text.split())
    assert "1,000 training pairs. Seeds: bilstm 0; reddit 0, 1." in text
    assert "| reddit                    | 0.720 ± 0.028" in text
    assert "bilstm  " not in text
    assert "| Reddit (paper) " in text
    assert "(RESULTS-figure8.svg)" in text
    assert (page.parent / "RESULTS-figure8.svg").read_text().startswith("<?xml")
    assert {path.name for path in (page.parent / "results").iterdir()} == {
        *("table_1.csv", "table_3.csv", "table_4.csv", "differences.csv", "growth.csv"),
        *("figure_8.csv", "contamination.csv", "mistakes-sts-dev.csv"),
    }
    for path in page.parent.rglob("*"):
        assert path.is_dir() or "somebody" not in path.read_text()
    assert numbers(page.parent / "results" / "table_3.csv")["bilstm", "dev"] == "0.600"
    # By hand: the first file, the first three, all ten.
    found = numbers(page.parent / "results" / "growth.csv")
    assert [found[f"{n} pairs", "STS-B dev, r"] for n in ("70", "150", "1,000")] == [
        *("0.500", "0.550", "0.600"),
    ]
    assert found["70 pairs", "learning rate"] == "0.012"
    found = numbers(page.parent / "results" / "figure_8.csv")
    assert (found["30%", "dev, all"], found["30%", "test, captions"]) == ("0.550", "0.250")


def test_the_page_says_nothing_of_baselines_that_are_not_there(results, pairs, tmp_path):
    shutil.rmtree(results / "baselines")
    results_page.write(results, tmp_path / "RESULTS.md", pairs=[pairs])
    before_the_table, _, _ = (tmp_path / "RESULTS.md").read_text().partition("\n\n|")
    assert "`reddit`" in before_the_table
    assert "best simple baseline" not in before_the_table


def test_the_days_are_those_of_the_rows_that_are_shown(results, pairs, tmp_path):
    for path in (results / "reddit-0").glob("*.json"):
        os.utime(path, (0, 0))
    page = tmp_path / "page.md"
    for runs, shows_day in (([], True), (["reddit-1"], False)):
        results_page.write(results, page, pairs=[pairs], runs=runs)
        assert ("1 January 1970 to " in page.read_text()) == shows_day


def test_bad_folders_are_named(tmp_path, results, pairs):
    few = tmp_path / "few"
    few.mkdir()
    (few / "COMPLETED").write_text('{"outputs": {"train-0": {"records": 3}}}')
    none = tmp_path / "none"
    none.mkdir()
    (none / "COMPLETED").write_text('{"outputs": {}}')
    assert results_page.training_pairs([pairs, pairs])[:2] == [140, 60]
    for folders, named in (([results], "rows"), ([none], "none"), ([pairs, few], "few")):
        with pytest.raises(InputError, match=named):
            results_page.training_pairs(folders)
    with pytest.raises(InputError, match="nobody"):
        results_page.write(results, tmp_path / "page.md", pairs=[pairs], outside={"nobody": "x"})
    with pytest.raises(InputError, match=r"page\.json"):
        results_page.write(results, tmp_path / "page.json", pairs=[pairs])
    assert not (tmp_path / "page.md").exists()


def test_the_slope_is_what_ten_times_the_pairs_add_over_all_points_together():
    def slope(*points):
        pairs = [10 ** (n + 1) for n in range(len(points))]
        return growth.slope(pairs, [[one] for one in points], "p_at_1")

    # P@1 of 0, 1/2 and 1 at 10, 100 and 1,000 pairs; in both blocks alike, so nothing varies.
    alike = slope(ranking(2, 2, 2, 2), ranking(1, 2, 1, 2), ranking(1, 1, 1, 1))
    assert alike.value == pytest.approx(0.5)
    assert alike.interval == pytest.approx([0.5, 0.5])
    # One block has a slope of 1/2, the other one of 0: a resample has the mean of two of them.
    unlike = slope(ranking(2, 2, 2, 2), ranking(1, 2, 2, 2), ranking(1, 1, 2, 2))
    assert unlike.value == pytest.approx(0.25)
    assert unlike.interval == pytest.approx([0.0, 0.5])
    other = slope(ranking(2, 2, 2, 2), ranking(1, 2, 2, 2, 1, 1), ranking(1, 1, 2, 2))
    assert other.interval is None
    assert slope(ranking(2, 2, 2, 2), ranking(1, 2, 2, 2)).value is None
    with pytest.raises(InputError, match="growth_2"):
        growth.table({2: dataclasses.replace(system(), seeds=(0,))}, [5] * 10, None)
