import dataclasses
import json
import re

import numpy as np
import pytest

from common.errors import InputError
from evaluation.report import html_page, paper, paper_tables, pictures, svg
from evaluation.report.cells import OURS, PAPER
from evaluation.report.systems import System
from evaluation.results import store, text
from evaluation.results.result import Result

NASTY = "<script>alert('x')</script> & \"quotes\""


def sts_result(name="sts-test", *, n=40, text="a dog"):
    """Scores that follow the labels, except two pairs that are far off."""
    gold = [round(5 * i / (n - 1), 2) for i in range(n)]
    score = [-1.5 + 0.25 * g for g in gold]
    score[0], score[-1] = -0.1, -1.5
    items = [
        {"gold": g, "score": s, "genre": "main-news", "sentence1": f"{text} {i}", "sentence2": "b"}
        for i, (g, s) in enumerate(zip(gold, score, strict=True))
    ]
    return Result(
        task="sts",
        name=name,
        system="module",
        metrics={"pearson": 0.6543, "spearman": 0.6012},
        n=n,
        groups={
            "main-news": {"n": 30, "metrics": {"pearson": 0.4321, "spearman": 0.4}},
            "main-captions": {"n": 10, "metrics": {"pearson": None, "spearman": None}},
        },
        baselines={"word_overlap": {"pearson": 0.2468, "spearman": 0.2}},
        items=items,
        data={"file": f"{name}.csv", "files": [f"{name}.csv"], "sha256": "ab" * 32},
        module={"path": "runs/module", "fingerprint": "c0ffee"},
        versions={"python": "3.11.9", "tensorflow": "2.20.0"},
        command="python -m evaluation sts --data x",
        seconds=1.25,
    )


def ranking_result(*, candidates=100):
    return dataclasses.replace(
        sts_result(),
        task="response_ranking",
        name="response_ranking",
        metrics={"p_at_1": 0.2345, "p_at_3": 0.3456, "p_at_10": 0.5678},
        n=12345,
        groups={},
        baselines={"chance": {"p_at_1": 0.01, "p_at_3": 0.03, "p_at_10": 0.1}},
        settings={"candidates": candidates, "seed": 7, "kept": True},
        data={"file": "test-00000", "sha256": "cd" * 32, "origin": "Reddit"},
        counts={"duplicates_left_out": 3},
        items=[],
    )


def cqa_result(name="cqa-SemEval2017-Task3-CQA-QL-test", *, system="search_engine", n=88):
    return dataclasses.replace(
        sts_result(),
        task="cqa",
        name=name,
        system=system,
        metrics={"map": 0.4185, "avg_rec": 0.7759, "mrr": 0.4642},
        n=n,
        groups={},
        baselines={},
        counts={"candidates": 880, "queries_with_a_relevant_candidate": 59},
        items=[],
        module=None if system == "search_engine" else {"path": "m", "fingerprint": "c0ffee"},
    )


def snli_result(*, n=40):
    return dataclasses.replace(
        sts_result(n=n), task="snli", name="snli-test", metrics={"accuracy": 0.5}, baselines={}
    )


def ours(*results, label="this module", kind=OURS):
    return System(label, kind, ({found.name: found for found in results},))


def render(*results):
    systems = [ours(*results)]
    return html_page.render(systems, html_page.all_tables(systems))


@pytest.fixture(scope="module")
def page():
    return render(ranking_result(), sts_result("sts-dev", n=1500), sts_result(n=1379), cqa_result())


def rows(page):
    """Return the text of each table row, tags and runs of white space dropped."""
    found = re.findall(r"<tr.*?</tr>", page, flags=re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in found]


def test_tables_are_in_the_order_a_newcomer_asks():
    made = html_page.all_tables([ours(snli_result(), cqa_result(), ranking_result(), sts_result())])
    assert [table.title.split(":")[0] for table in made] == [
        "Table 3",
        "Table 4",
        "Table 1",
        "Table 6",
        "Table 2",
    ]


def test_the_papers_numbers_stand_there(page):
    assert "Reddit (paper) 0.762 [0.740, 0.782] 0.731 [0.705, 0.755]" in rows(page)
    found = [re.sub(r" \[[^]]*\]", "", row) for row in rows(page)]  # without intervals
    for expected in [
        "Transformer (paper) 65.7 78.7 89.8",
        "DAN (paper) 56.1 70.2 83.6",
        "Reddit (paper) 0.762 0.731",
        "InferSent (paper) 0.801 0.758",
        "Reddit+SNLI (paper) 0.814 0.885 0.756 0.646 0.782 0.891 0.764 0.585",
        "Reddit (paper) 47.07 - - - - - -",
        "SimBow-primary (paper) 47.22 - - - - - -",
    ]:
        assert expected in found


def test_our_numbers_stand_beside_them(page):
    found = rows(page)
    for expected in [
        "this module 23.4 34.6 56.8",  # 23.45 as a binary fraction lies just below
        "chance 1.0 3.0 10.0",
        "this module 0.654 0.654",
        "word overlap 0.247 0.247",
        "this module 0.654 - - 0.432 0.654 - - 0.432",
        "search engine 41.85 77.59 46.42 - - - -",
    ]:
        assert expected in found


def test_provenance_stands_there(page):
    for expected in ["c0ffee", "ab" * 32, "runs/module", "3.11.9", "2.20.0", "12,345", "1.2"]:
        assert expected in page
    assert "python -m evaluation sts --data x" in page
    assert "duplicates left out</dt><dd>3" in page
    assert "<dt>kept</dt><dd>True</dd>" in page
    assert "their own order was scored" in page


def test_the_page_fits_a_phone(page):
    # A table scrolls in its own box, or its cells are below each other.
    tables = re.findall(r"<(div[^>]*)>\s*<table", page)
    assert len(tables) == page.count("<table") > 4
    assert all('class="scroll"' in box or 'class="examples"' in box for box in tables)
    assert ".scroll { overflow-x: auto;" in page
    assert "repeat(auto-fit, minmax(min(12rem, 100%), 1fr))" in page
    assert page.count("<figure>\n<img") == page.count("<img")
    assert "figure img { width: 100%; max-width: 36rem; height: auto;" in page
    assert 'content="width=device-width, initial-scale=1"' in page


def test_page_is_self_contained(page):
    pattern = r"https?:|<link|@import|url\((?!#)|<script|src=(?!\"data:image/svg)"
    assert not re.findall(pattern, page)
    assert page.count('<img src="data:image/svg+xml;base64,') == 2
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_text_is_escaped():
    hostile = dataclasses.replace(
        sts_result(text=NASTY),
        name=f"sts-{NASTY}",
        command=NASTY,
        module={"path": NASTY, "fingerprint": NASTY},
    )
    page = render(hostile)
    assert "<script>" not in page
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;quotes&#34;" in page


def test_figure_7_is_readable_on_light_and_dark():
    drawn = pictures.scatter(sts_result(n=57))
    assert drawn.startswith("<?xml")
    assert drawn.count(svg.INK) > 10
    assert "#000000" not in drawn
    (points,) = re.findall(r'<g id="PathCollection_1">.*?</g>\s*</g>', drawn, flags=re.DOTALL)
    assert points.count("<use") == 57
    assert pictures.scatter(sts_result(n=57)) == drawn


def test_figure_7_shows_angles_as_similarities():
    found = sts_result(n=3)
    angles = [-np.pi, -np.pi / 2, 0.0]
    items = [item | {"score": a} for item, a in zip(found.items, angles, strict=True)]
    drawn = pictures.scatter(dataclasses.replace(found, items=items))
    assert "similarity of the embeddings, 0 to 5" in drawn
    # A ruler of 0 to 5, not of -3 to 0.
    assert "<!-- 5 -->" in drawn
    assert "<!-- −3" not in drawn
    own = [item | {"score": 90.0 + n} for n, item in enumerate(found.items)]
    assert "<!-- score -->" in pictures.scatter(dataclasses.replace(found, items=own))


def test_scores_are_called_angles_only_where_they_are():
    angles = render(sts_result(n=3))
    assert "The similarity is 5 for the same direction." in angles
    assert "Scores are negative angles in radians: 0 is the same direction. A pair" in angles
    found = sts_result(n=3)
    own = [item | {"score": 1.0 + n} for n, item in enumerate(found.items)]
    page = render(dataclasses.replace(found, items=own))
    assert "the same direction" not in page
    assert "Scores are the module&#39;s own. A pair" in page


def test_figure_shows_the_test_set_where_there_is_one(page):
    assert "Figure 7: scores against human judgement, sts-test" in page
    assert "1,379 in all" in page
    assert "judgement, sts-dev" in render(sts_result("sts-dev"))


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_examples_are_the_best_and_the_worst(slope):
    found = sts_result()
    items = [item | {"score": slope * item["score"]} for item in found.items]
    chosen = html_page.examples(dataclasses.replace(found, items=items), each=1)
    by_verdict = {example.verdict: example for example in chosen}
    assert by_verdict["bad, too high"].sentence1 == "a dog 0"
    assert by_verdict["bad, too low"].sentence1 == "a dog 39"
    assert by_verdict["good, alike"].gold >= 4
    assert by_verdict["good, unlike"].gold <= 1
    assert "a dog 0" not in (by_verdict["good, unlike"].sentence1,)


def test_no_examples_without_a_correlation():
    flat = dataclasses.replace(sts_result(), metrics={"pearson": None, "spearman": None})
    assert html_page.examples(flat) == []
    assert "Table 5" not in render(flat)


def papers_rows(*results):
    """Return the tables by their number, and the labels of the paper's rows in each."""
    return {
        table.title[:7]: [row.label for row in table.rows if row.kind == PAPER]
        for table in paper_tables.tables([ours(*results)])
    }


def synthetic(result):
    return dataclasses.replace(result, data=result.data | {"origin": "synthetic sample"})


def test_the_papers_rows_are_there_on_its_data_alone():
    papers = [sts_result(n=1379), ranking_result(), cqa_result(), snli_result(n=9824)]
    found = papers_rows(*papers)
    assert {title: len(labels) for title, labels in found.items()} == {
        "Table 3": 12,
        "Table 4": 4,
        "Table 1": 2,
        "Table 6": 5,
        "Table 2": 4,
    }
    own = [sts_result(n=200), ranking_result(candidates=20), cqa_result(n=9), snli_result(n=9)]
    for others in (own, list(map(synthetic, papers))):
        assert not any(papers_rows(*others).values())
        page = render(*others)
        assert "(paper)" not in page
        assert "Yang et al." not in page
        assert "the STS Benchmark</h2>" not in page
    unknown = dataclasses.replace(ranking_result(), data={})
    assert papers_rows(unknown) == {"Table 1": []}


def test_the_papers_figures_are_in_the_columns_of_its_data():
    systems = [ours(sts_result(n=200), sts_result("sts-dev", n=1500))]
    table_3, table_4 = paper_tables.tables(systems)
    assert [cell.text for cell in table_3.rows[-1].cells] == ["0.829", "-"]
    assert [cell.text for cell in table_4.rows[-1].cells[3:5]] == ["0.721", "-"]
    assert table_3.notes == [
        "sts-test has 200 pairs here and 1,379 in the STS Benchmark: these are other data, without "
        "the paper's figures.",
        paper_tables.PAPERS_INTERVALS,
    ]


def test_a_synthetic_sample_is_called_so():
    page = render(synthetic(sts_result()), synthetic(cqa_result()))
    assert "A program generated\nthese data, to try" in page
    assert "<dd>test, 40 pairs, synthetic sample</dd>" in page
    assert "Synthetic sample: sts-test." in page
    assert "sts-test.csv, synthetic sample" in page
    assert "A program generated\nsts-test, to try" in render(
        synthetic(sts_result()), sts_result("sts-dev")
    )
    assert "ynthetic" not in render(sts_result())


def test_mixed_modules_are_called_so(page):
    assert "different modules" not in page
    other = dataclasses.replace(
        sts_result("sts-dev"), module={"path": "m2", "fingerprint": "decade"}
    )
    assert "2 different modules" in render(sts_result(), other)


@pytest.mark.parametrize("make", [sts_result, ranking_result, cqa_result])
def test_some_tasks_alone_still_render(make):
    page = render(make())
    assert make().name in page
    assert page.count("<h2>") >= 2


def test_paper_tables_agree_with_each_other():
    for name, splits in paper.TABLE_4.items():
        for split, figures in splits.items():
            assert figures[0] == paper.TABLE_3[name][split]


def test_result_survives_the_file(tmp_path):
    found = dataclasses.replace(sts_result(), metrics={"pearson": float("nan"), "spearman": 0.5})
    path = store.write(found, tmp_path / "new" / "folder")
    assert path.name == "sts-test.json"
    assert [file.name for file in path.parent.iterdir()] == ["sts-test.json"]
    assert json.loads(path.read_text())["metrics"] == {"pearson": None, "spearman": 0.5}
    again = store.read(path)
    assert again == dataclasses.replace(found, metrics={"pearson": None, "spearman": 0.5})


def test_a_failed_write_leaves_the_old_result(tmp_path):
    store.write(sts_result(), tmp_path)
    broken = dataclasses.replace(sts_result(), items=[{"gold": np.float32(1)}])
    with pytest.raises(TypeError):
        store.write(broken, tmp_path)
    (path,) = tmp_path.iterdir()
    assert store.read(path) == sts_result()


def test_results_come_in_the_papers_order(tmp_path):
    for found in (cqa_result(), sts_result(), ranking_result(), sts_result("sts-dev")):
        store.write(found, tmp_path)
    names = [found.name for found in store.read_results(tmp_path)]
    assert names[:3] == ["response_ranking", "sts-dev", "sts-test"]
    assert names[3].startswith("cqa-")


def test_what_is_no_result_is_named(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        store.read_results(tmp_path / "missing")
    with pytest.raises(InputError, match="no results here"):
        store.read_results(tmp_path)
    for content in ("{", "[]", '{"task": "sts"}', '{"unknown": 1}'):
        (tmp_path / "a.json").write_text(content)
        with pytest.raises(InputError, match=r"a\.json: not a result"):
            store.read_results(tmp_path)


def test_terminal_tables():
    shown = text.table(sts_result())
    assert re.search(r"module +40 +0\.6543 +0\.6012", shown)
    assert re.search(r"module, main-news +30 +0\.4321", shown)
    assert re.search(r"module, main-captions +10 +- +-", shown)
    assert re.search(r"word overlap +40 +0\.2468", shown)
    # Too many figures to stand beside each other, each with its interval.
    names = ("map", "avg_rec", "mrr", "precision", "recall")
    many = dict.fromkeys(names, 0.25)
    wide = dataclasses.replace(cqa_result(), metrics=many, baselines={"ceiling": many | {"map": 1}})
    shown = text.table(wide)
    assert re.search(r"cqa-\S+ +search engine +ceiling\n", shown)
    assert re.search(r"MAP +0\.2500 +1\.0000\n", shown)
    overview = text.overview([ranking_result(), cqa_result()])
    assert re.search(r"response_ranking +P@10 +module +0\.5678 +chance 0\.1000", overview)
    assert re.search(r"cqa-\S+ +MAP +search engine +0\.4185\n", overview)
