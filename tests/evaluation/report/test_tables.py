import dataclasses
import json
import re

import pytest

from evaluation.__main__ import main
from evaluation.report import html_page, paper_tables, pictures
from evaluation.report.cells import BASELINE, OTHER, OURS, Cell, Row, Table, markdown, mean
from evaluation.report.systems import System, left_out, read_module, read_runs, scored
from evaluation.results import store
from evaluation.results.result import Result


def sts(name="sts-test", *, r=0.5, n=4, groups=None, **fields):
    return Result(
        task="sts",
        name=name,
        system="module",
        metrics={"pearson": r, "spearman": r},
        intervals={"pearson": [r - 0.1, r + 0.1]},
        n=n,
        groups=groups
        or {
            "main-captions": {
                "n": 2,
                "metrics": {"pearson": r + 0.2},
                "intervals": {"pearson": [r, r + 0.3]},
            }
        },
        items=[
            {"gold": g, "score": -s, "genre": "main-captions", "sentence1": "a|b", "sentence2": "c"}
            for g, s in ((0.0, 1.5), (1.0, 1.2), (4.0, 0.4), (5.0, 0.2))
        ],
        data={"file": "sts-test.csv", "sha256": "ab"},
        module={"path": "m", "fingerprint": "1"},
        **fields,
    )


def systems_of(**named):
    return [
        System(label, OURS if label == "ours" else BASELINE, ({found.name: found},))
        for label, found in named.items()
    ]


@pytest.mark.parametrize(
    ("cell", "text", "interval"),
    [
        (Cell(0.12345, [0.1, 0.2]), "0.123", "[0.100, 0.200]"),
        (Cell(0.12345, [0.1, 0.2], percent=True, decimals=1), "12.3", "[10.0, 20.0]"),
        (Cell(0.5), "0.500", ""),
        (Cell(), "-", ""),
        (Cell(1.0, [1.0, 1.0]), "1.000", ""),
        (Cell(-1e-9), "0.000", ""),
        (Cell(12345, decimals=0), "12,345", ""),
        (mean([0.70, 0.74]), "0.720 ± 0.028", ""),
        (mean([0.7, 0.8], intervals=[[0.5, 0.8], [0.7, 1.0]]), "0.750 ± 0.071", "[0.600, 0.900]"),
        (mean([0.7, 0.8], intervals=[[0.5, 0.8], None]), "0.750 ± 0.071", ""),
    ],
)
def test_a_figure_and_its_interval(cell, text, interval):
    assert (cell.text, cell.interval_text) == (text, interval)


def test_a_wide_table_becomes_several_with_the_rows_that_have_figures_there():
    headers = [f"h{number}" for number in range(7)]
    whole = Row("whole", [Cell(number / 10, [0.0, 1.0]) for number in range(7)], OURS)
    papers = Row("known", [Cell(0.5), *[Cell()] * 6], "paper")
    text = markdown(Table("Wide", headers, [whole, papers], ["One note.", "Another."]))
    title, first, second, notes = text.split("\n\n")
    assert title == "**Wide**"
    assert [line.count("|") for line in first.splitlines()] == [5] * 4
    assert "| known (paper) " in first
    assert [line.count("|") for line in second.splitlines()] == [6] * 3
    assert "0.600 [0.000, 1.000]" in second
    assert notes == "One note. Another."


def test_markdown_is_one_table_of_every_figure():
    made = paper_tables.tables(systems_of(ours=sts(n=1379), rival=sts(r=0.25, n=1379)))
    lines = html_page.markdown(made).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["table", "data", "system", "kind", "figure", "score", "95% interval"]
    assert {len(row) for row in cells} == {7}
    title = "Table 3: Pearson's r on the STS Benchmark"
    assert [title, "", "ours", "ours", "test", "0.500", "[0.400, 0.600]"] in cells
    assert [title, "", "rival", "baseline", "test", "0.250", "[0.150, 0.350]"] in cells
    # By hand: tanh(artanh(0.731) ± 1.96 / sqrt(1379 - 3)).
    assert [title, "", "Reddit", "paper", "test", "0.731", "[0.705, 0.755]"] in cells
    by_genre = "Table 4: Pearson's r by genre"
    assert [by_genre, "", "ours", "ours", "test captions", "0.700", "[0.500, 0.800]"] in cells


def test_the_command_writes_page_table_and_json(tmp_path, capsys):
    store.write(sts(), tmp_path / "results")
    store.write(sts(r=0.4), tmp_path / "older")
    named = dataclasses.replace(sts(r=0.3), module={"path": "TF-IDF", "fingerprint": "2"})
    store.write(named, tmp_path / "results" / "baselines" / "TF-IDF")
    argv = ["report", "--results", str(tmp_path / "results"), "--beside", str(tmp_path / "older")]
    main([*argv, "--output", str(tmp_path / "site" / "page.html")])
    names = sorted(path.name for path in (tmp_path / "site").iterdir())
    assert names == ["page.html", "page.json", "page.md"]
    page = (tmp_path / "site" / "page.html").read_text()
    for expected in ("<title>Scores of m<", "older", "TF-IDF", "[0.400, 0.600]"):
        assert expected in page
    found = json.loads((tmp_path / "site" / "page.json").read_text())
    (table_3,) = [table for table in found["tables"] if table["title"].startswith("Table 3")]
    assert [row["label"] for row in table_3["rows"][:3]] == ["m", "older", "TF-IDF"]
    assert table_3["rows"][0]["cells"][1]["value"] == 0.5
    assert table_3["rows"][0]["cells"][1]["interval"] == [0.4, 0.6]
    assert "items" not in found["results"][0]
    assert len(found["results"]) == 3
    assert main([*argv, "--output", str(tmp_path / "page.md")]) == 1
    assert "the name of an HTML file is accepted" in capsys.readouterr().err


def test_bars_show_ours_the_best_baseline_and_the_papers_models_on_its_own_data():
    found = systems_of(ours=sts(n=1379), worst=sts(r=0.1, n=1379), best=sts(r=0.3, n=1379))
    drawn = pictures.genre_bars(found, "sts-test")
    for label in ("ours", "best", "Reddit (paper)", "Reddit+SNLI (paper)", "captions", "news"):
        assert label in drawn
    assert "worst" not in drawn
    assert "Reddit" not in pictures.genre_bars(systems_of(ours=sts()), "sts-test")


def test_tuned_rows_stand_below_the_untuned():
    tuned = dataclasses.replace(sts("sts-test-tuned", r=0.6), system="module_tuned")
    system = System("this module", OURS, ({one.name: one for one in (sts(), tuned)},))
    table_3, table_4 = paper_tables.tables([system])
    for table in (table_3, table_4):
        assert [row.label for row in table.rows[:2]] == ["this module", "this module, tuned"]
    assert table_3.rows[1].cells[1].value == 0.6


def test_rows_of_one_file_stand_under_its_name():
    cqa = Result(task="cqa", name="cqa-x", system="module", metrics={"map": 0.5, "f1": 0.25}, n=3)
    (table,) = paper_tables.tables(systems_of(ours=cqa))
    row = table.rows[0]
    assert (row.group, row.label) == ("x", "ours")
    assert [cell.text for cell in row.cells] == ["50.00", "-", "-", "-", "-", "25.00", "-"]
    official = dataclasses.replace(cqa, name="cqa-SemEval2017-Task3-CQA-QL-test", n=88)
    (table,) = paper_tables.tables(systems_of(ours=official))
    assert table.rows[-1].group == "SemEval-2017 test, in the paper"


def test_other_similarity_data_has_a_table_of_its_own():
    (table,) = paper_tables.tables(systems_of(ours=sts("sts-2016")))
    assert table.title.startswith("Other similarity data")
    assert table.headers == ["2016"]
    assert table.rows[0].cells == [Cell(0.5, [0.4, 0.6])]


def test_inference_has_the_papers_rows_in_the_column_of_the_test_set():
    def snli(name, accuracy):
        return Result(
            task="snli", name=name, system="module", metrics={"accuracy": accuracy}, n=9824
        )

    both = [snli("snli-dev", 0.5), snli("snli-test", 0.6)]
    (table,) = paper_tables.tables([System("ours", OURS, ({one.name: one for one in both},))])
    texts = {row.label: [cell.text for cell in row.cells] for row in table.rows}
    assert texts["ours"] == ["50.0", "60.0"]
    assert texts["InferSent"] == ["-", "84.5"]
    assert re.match(r"snli-dev: 9,824 pairs, snli-test: 9,824", table.notes[0])


def test_systems_come_from_folders(tmp_path):
    ours = sts()
    store.write(ours, tmp_path / "results")
    store.write(dataclasses.replace(ours, baselines={"word_overlap": {}}), tmp_path / "older")
    named = dataclasses.replace(ours, module={"path": "TF-IDF", "fingerprint": "2"})
    store.write(named, tmp_path / "results" / "baselines" / "a")
    engine = dataclasses.replace(ours, task="cqa", name="cqa-x", system="search_engine")
    engine = dataclasses.replace(engine, metrics={"map": 0.5}, intervals={}, items=[])
    engine = dataclasses.replace(engine, baselines={"word_overlap": {}})
    store.write(engine, tmp_path / "results")
    store.write(engine, tmp_path / "results" / "baselines" / "a")
    found = read_module(tmp_path / "results", [tmp_path / "older"])
    assert [(one.label, one.kind) for one in found] == [
        ("m", OURS),
        ("older", OTHER),
        ("TF-IDF", BASELINE),
    ]
    labels = [one.label for one in scored(found, "sts-test")]
    assert labels == ["m", "older", "TF-IDF", "word overlap"]
    labels = [one.label for one in scored(found, "cqa-x")]
    assert labels == ["search engine", "word overlap"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"data": {"sha256": "cd"}}, "SHA-256 of the data cd, but ab in m."),
        ({"n": 5}, "n 5, but 4 in m."),
        ({"settings": {"candidates": 10}}, "candidates 10, but 100 in m."),
    ],
)
def test_results_of_other_items_are_left_out_and_named(tmp_path, changed, said, capsys):
    ours = sts("response_ranking", settings={"candidates": 100, "seed": 0})
    ours = dataclasses.replace(ours, task="response_ranking", metrics={"p_at_1": 0.5})
    ours = dataclasses.replace(ours, intervals={}, groups={}, items=[])
    other = dataclasses.replace(ours, metrics={"p_at_1": 0.9}, **changed)
    named = {"path": "TF-IDF", "fingerprint": "2"}
    store.write(ours, tmp_path / "results")
    store.write(other, tmp_path / "older")
    store.write(dataclasses.replace(other, module=named), tmp_path / "results/baselines/a")
    asked = ["report", "--results", tmp_path / "results", "--beside", tmp_path / "older"]
    page = tmp_path / "page.html"
    main([*map(str, asked), "--output", str(page)])
    out = capsys.readouterr().out
    for label in ("older", "TF-IDF"):
        assert f"{label}, response_ranking is left out: {said}\n" in out
        assert f"{label}, response_ranking is left out: {said}" in page.read_text()
    assert "best simple baseline" not in out
    (table,) = json.loads(page.with_suffix(".json").read_text())["tables"]
    assert [row["label"] for row in table["rows"]] == ["m"]


def test_rows_of_other_items_are_left_out_and_named(tmp_path):
    store.write(sts(), tmp_path / "a-0")
    store.write(dataclasses.replace(sts(), n=5), tmp_path / "b-0")
    found = read_runs(tmp_path)
    assert [one.label for one in scored(found, "sts-test")] == ["a"]
    assert left_out(found) == ["b, sts-test is left out: n 5, but 4 in a."]


def test_modules_in_folders_of_one_name_keep_rows_of_their_own(tmp_path, fails):
    folders = [tmp_path / name for name in ("a/results", "b/results", "c/m", "d/older")]
    for folder in (tmp_path / "main", *folders):
        store.write(sts(), folder)
    found = read_module(tmp_path / "main", folders)
    labels = ["m", "a/results", "b/results", "c/m", "older"]
    assert [one.label for one in found] == labels
    line = fails(
        *("report", "--results", tmp_path / "main", "--beside", folders[0], folders[0]),
        *("--output", tmp_path / "page.html"),
    )
    assert "a/results: twice; accepted: each folder once" in line


def test_overlaps_have_a_table_with_scores_without_them():
    overlaps = dataclasses.replace(
        sts(),
        task="contamination",
        name="contamination-sts-test",
        counts={"training_records": 9, "pairs_in_training": 3, "texts_in_training": 7},
        groups={
            "without texts in training": {
                "n": 193,
                "metrics": {"pearson": 0.5},
                "intervals": {"pearson": [0.4, 0.6]},
            }
        },
    )
    systems = systems_of(ours=overlaps)
    (table,) = html_page.all_tables(systems)
    (row,) = table.rows
    assert row.label == "sts-test, Pearson"
    assert [cell.text for cell in row.cells] == ["4", "3", "7", "0.500", "-", "0.500"]
    assert row.cells[-1].interval_text == "[0.400, 0.600]"
    assert "[0.400, 0.600]" in html_page.render(systems, [table])


@pytest.mark.parametrize("name", ["snli-test", "sts-test-tuned"])
def test_what_was_learned_on_other_data_is_left_out_and_named(tmp_path, name):
    for row, digest in (("a", "1" * 64), ("b", "2" * 64), ("c", "1" * 64)):
        data = {"file": "x", "sha256": "ab", "learned_from": {"sha256": digest}}
        one = dataclasses.replace(sts(name), task=name.split("-")[0], data=data, items=[])
        store.write(
            dataclasses.replace(one, metrics={"accuracy": 0.5, "pearson": 0.5}),
            tmp_path / f"{row}-0",
        )
        store.write(sts(), tmp_path / f"{row}-0")
    found = read_runs(tmp_path)
    assert [one.label for one in found if one.named(name)] == ["a", "c"]
    assert left_out(found) == [
        f"b, {name} is left out: learned or chosen on data of SHA-256 222222222222, but "
        "111111111111 in a."
    ]


def test_baselines_of_one_short_name_keep_rows_of_their_own(tmp_path):
    store.write(sts(), tmp_path)
    for name in ("nnlm", "use"):
        module = {"path": f"https://example.org/models/some/{name}/versions/1", "fingerprint": "2"}
        store.write(dataclasses.replace(sts(), module=module), tmp_path / "baselines" / name)
    assert [one.label for one in read_module(tmp_path)] == ["m", "versions/1", "use"]


def test_data_with_the_benchmarks_name_and_size_alone_are_not_the_benchmark():
    other = sts(n=1379, groups={"main-news": {"n": 1379, "metrics": {"pearson": 0.5}}})
    official = {
        genre: {"n": n, "metrics": {"pearson": 0.5}}
        for genre, n in (("main-captions", 625), ("main-forums", 254), ("main-news", 500))
    }
    assert paper_tables.is_papers(sts(n=1379, groups=official))
    assert not paper_tables.is_papers(other)
    table_3, _ = paper_tables.tables(systems_of(ours=other))
    assert table_3.title == "Table 3: Pearson's r of similarity"
    assert table_3.notes == [
        "sts-test has as many pairs here as in the STS Benchmark, but not of the same genres: "
        "these are other data, without the paper's figures."
    ]
