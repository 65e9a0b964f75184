"""The report of one module, the page of all rows, and the page of mistakes."""

import csv
import dataclasses
import html
import json
import re
import shutil

import pytest

from common.errors import InputError
from evaluation.options import RowsOptions
from evaluation.report import figures, pages
from evaluation.report.tables import TABLES
from evaluation.results import store
from tests.evaluation.report.results_of import official, ranking, result, sts

NASTY = "<script>alert('x')</script> & \"quotes\""


@pytest.fixture
def page(tmp_path):
    """Write results of a module, and of baselines; return the report's HTML."""

    def write(*results, **baselines):
        folder = tmp_path / "results"
        for name, found in {"": results, **baselines}.items():
            for one in found:
                named = dataclasses.replace(one, module={"path": name, "fingerprint": "b"})
                put = (named, folder / "baselines" / name) if name else (one, folder)
                store.write(*put)
        return pages.write_report(folder, tmp_path / "page.html").read_text()

    return write


def text_of(page):
    body = html.unescape(re.sub(r"<[^>]+>", " ", page[page.index("<body>") :]))
    return " ".join(body.split())


def test_the_report_has_scores_beside_baselines_and_provenance_and_no_scripts(page):
    written = page(ranking(1, 1, 1, 2), official(sts()), TF_IDF=[ranking(2, 2, 2, 2)])
    text = text_of(written)
    for expected in (
        "Scores of module",
        # n, the score, the best baseline, the difference.
        "response_ranking, P@1 4 0.750 [0.250, 0.750] 0.000 [0.250, 0.750] TF_IDF 0.750",
        "Reddit (paper) 0.731 [0.705, 0.755]",
    ):
        assert expected in text
    for expected in ("c0ffee", "ab" * 32, "runs/module", "python -m evaluation sts"):
        assert expected in text[text.index("Provenance") :]
    pattern = r"https?:|<link|@import|url\((?!#)|<script|src=(?!\"data:image/svg)"
    assert not re.findall(pattern, written)
    assert written.count('<img src="data:image/svg+xml;base64,') == 2
    # The question of a newcomer first, and one unit.
    titles = re.findall("<h2>(.*?)</h2>", written)
    shown = [TABLES[name].title.replace("'", "&#39;") for name in ("table_1", "table_3")]
    assert titles[1:3] == shown
    assert "%" not in text[text.index("P@1 4 0.750") : text.index("Provenance")]


def test_text_is_escaped(page):
    hostile = sts(text=NASTY, command=NASTY, module={"path": NASTY, "fingerprint": NASTY})
    written = page(hostile)
    assert "<script>" not in written
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;quotes&#34;" in written


def test_what_must_be_known_of_the_data_is_said(page):
    written = page(sts(), sts("sts-dev", module={"path": "m2", "fingerprint": "decade"}))
    assert "2 different modules" in written
    assert "ynthetic" not in written
    assert "(paper)" not in written
    generated = dataclasses.replace(sts(), data={"origin": "synthetic sample"})
    assert "Synthetic sample." in page(generated)


def test_ranks_have_a_curve_for_each_system_and_chance():
    ours, other = ranking(1, 2, 2, 2), ranking(1, 1, 1, 2)
    ours.items[0]["baselines"] = {"word_overlap": 2}
    for item in ours.items[1:]:
        item["baselines"] = {"word_overlap": 1}
    drawn = figures.rank_curve({"this module": ours, "TF-IDF": other})
    assert {"this module", "TF-IDF", "word overlap", "chance"} <= {
        *re.findall("<!-- (.*?) -->", drawn)
    }
    assert figures.rank_curve({"this module": ours, "TF-IDF": other}) == drawn


@pytest.mark.parametrize(
    "found", [ranking(1, 2), result("cqa", "cqa-x", map=None), sts(items=[], data={}, module=None)]
)
def test_some_tasks_alone_still_render(found, page):
    assert found.name in page(found)


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
        put(f"growth_{share}-0", sts("sts-dev", r=r), sts("sts-dev-tuned", r=0.9))
        put(f"nli_{share}-0", sts("sts-dev", r=r), official(sts(r=r / 2)))
    put("small-0", sts("sts-dev", r=0.5), ranking(2, 2, 2, 2))
    static = {"path": "Rival", "fingerprint": "b", "pretrained": True, "static": True}
    elsewhere = dataclasses.replace(ranking(1, 2, 2, 2), name="response_ranking-irc")
    put("reddit-0", elsewhere)
    put("baselines/Rival", ranking(1, 2, 1, 2, module=static))
    words = {"path": "TF-IDF", "fingerprint": "b"}
    put("baselines/TF-IDF", sts("sts-dev", r=0.65, module=words), ranking(2, 2, 2, 2, module=words))
    return folder


@pytest.fixture
def pairs(tmp_path):
    outputs = {"train-0": {"records": 700}, "train-1": {"records": 300}, "test-0": {"records": 9}}
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    return tmp_path / "pairs"


def write_rows(results, output, pairs, **options):
    given = RowsOptions(results=results, output=output, pairs=tuple(pairs), **options)
    pages.rows(given)


def numbers(path):
    with path.open() as file:
        return {(one["row"], one["figure"]): one["value"] for one in csv.DictReader(file)}


def test_the_page_has_the_best_rows_and_csv_files_every_row(results, pairs, tmp_path):
    wrong = result("mistakes", "mistakes-sts-dev", mean_error=0.1)
    wrong = dataclasses.replace(wrong, items=[{"sentence1": "somebody's words"}])
    store.write(wrong, tmp_path / "mistakes")
    seen = dataclasses.replace(
        result("contamination", "contamination-sts-test", pearson=0.71),
        counts={"pairs_in_training": 2, "texts_in_training": 3},
    )
    store.write(seen, tmp_path / "leaks")
    page = tmp_path / "site" / "RESULTS.md"
    write_rows(results, page, [pairs, pairs], about="`make it`", published=("small",))
    text = page.read_text()
    assert len(text.splitlines()) <= 150
    for row in (
        r"\| reddit +\| .*0.875 ± 0.177 ",
        r"\| best simple baseline +\| .* 0.000 .*, TF-IDF \|",
        r"\| Rival +\| .* 0.500 ",
        r"\| difference +\| .* 0.875 ± 0.177 ",
    ):
        assert re.search(row, text)
    best = "against the **best simple baseline** above in 1, level in 0 and below in 0 of 1 scores"
    assert f"- `reddit` from scratch: {best}; " in text
    assert "| +0.000 level / -0.500 below / -0.500 below |" in text
    assert "Ubuntu IRC P@1 of 100" in text
    assert "`make it`. 2,000 training pairs. Seeds: bilstm 0; reddit 0, 1; small 0." in text
    assert "| reddit                    | 0.720 ± 0.028" in text
    assert "bilstm  " not in text
    assert "| Reddit (paper) " in text
    assert "(RESULTS-figure8.svg)" in text
    assert (page.parent / "RESULTS-figure8.svg").read_text().startswith("<?xml")
    assert {path.name for path in (page.parent / "results").iterdir()} == {
        *("table_1.csv", "table_3.csv", "table_4.csv", "differences.csv", "growth.csv"),
        *("replies.csv", "sts_sets.csv"),
        *("figure_8.csv", "contamination.csv", "mistakes-sts-dev.csv"),
    }
    for path in page.parent.rglob("*"):
        assert path.is_dir() or "somebody" not in path.read_text()
    found = {
        name: numbers(page.parent / "results" / f"{name}.csv")
        for name in ("table_3", "growth", "figure_8")
    }
    assert found["table_3"]["bilstm", "dev"] == "0.600"
    assert found["growth"]["30%", "STS-B dev, r"] == "0.550"
    assert found["figure_8"]["30%", "dev, all"] == "0.550"
    assert found["figure_8"]["30%", "test, captions"] == "0.250"


def test_the_page_does_without_baselines(results, pairs, tmp_path):
    shutil.rmtree(results / "baselines")
    write_rows(results, tmp_path / "RESULTS.md", [pairs])
    assert not (tmp_path / "results" / "differences.csv").exists()
    assert "`reddit`" in (tmp_path / "RESULTS.md").read_text()
    write_rows(results, tmp_path / "RESULTS.md", [pairs], runs=("growth_10-0",))
    assert "`reddit`" not in (tmp_path / "RESULTS.md").read_text()


@pytest.mark.parametrize("manifest", ["x", "{}", '{"outputs": {"train-0": {"records": 0}}}'])
def test_folders_without_training_pairs_are_named(manifest, tmp_path, results):
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "COMPLETED").write_text(manifest)
    for folder in ("none", "rows"):
        with pytest.raises(InputError, match=f"{folder}/COMPLETED"):
            write_rows(results, tmp_path / "page.md", [tmp_path / folder])
    assert not (tmp_path / "page.md").exists()


def test_bad_names_are_named(tmp_path, results, pairs):
    for name, given, named in (
        ("page.md", {"outside": ("nobody=x",)}, "nobody"),
        ("page.md", {"published": ("nobody",)}, "nobody"),
        ("page.json", {}, "page.json"),
    ):
        with pytest.raises(InputError, match=named):
            write_rows(results, tmp_path / name, [pairs], **given)
        assert not (tmp_path / name).exists()
