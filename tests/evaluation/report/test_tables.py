"""Which rows, columns and figures the tables have."""

import dataclasses

import pytest

from evaluation.report import html_page, tables
from evaluation.report.paper import PAPER as YANG_2018
from evaluation.report.table import BASELINE, OTHER, PAPER, Cell, Row, Table, as_csv, markdown, mean
from model.sts_regression.experiments import TABLE_2
from tests.evaluation.report.results_of import (
    TEST_2017,
    official,
    ranking,
    result,
    rows_of,
    sts,
    system,
)


def of_paper(*results):
    return {table.file: table for table in tables.of_paper([system(*results)])}


@pytest.mark.parametrize(
    ("cell", "text", "interval"),
    [
        (Cell(0.12345, [0.1, 0.2]), "0.123", "[0.100, 0.200]"),
        (Cell(0.12345, [0.1, 0.2], percent=True, decimals=1), "12.3", "[10.0, 20.0]"),
        (Cell(), "-", ""),
        (Cell(1.0, [1.0, 1.0]), "1.000", ""),
        (Cell(-1e-9), "0.000", ""),
        (Cell(12345, decimals=0), "12,345", ""),
        # By hand: the deviation, with n - 1, is 0.04 / sqrt(2).
        (mean([0.70, 0.74]), "0.720 ± 0.028", ""),
        (mean([0.7, 0.8], intervals=[[0.5, 0.8], [0.7, 1.0]]), "0.750 ± 0.071", "[0.600, 0.900]"),
        (mean([0.7, 0.8], intervals=[[0.5, 0.8], None]), "0.750 ± 0.071", ""),
    ],
)
def test_a_figure_and_its_interval(cell, text, interval):
    assert (cell.text, cell.interval_text) == (text, interval)


def test_a_table_as_markdown_and_as_csv():
    rows = [
        Row("a|b", [Cell(0.5, [0.25, 0.75], percent=True, decimals=1), Cell()], "ours", "x"),
        Row("known", [Cell(0.25, decimals=2, deviation=0.1), Cell(1.0)], PAPER, "y"),
    ]
    table = Table("t", "A table", ["one", "two"], rows)
    first, second = markdown(table).split("\n\n")
    assert first.splitlines()[-1] == r"| a\|b |     50.0 [25.0, 75.0] |".replace("    50", "50")
    assert "| known (paper) |" in second
    assert as_csv(table).splitlines() == [
        "data,row,kind,figure,value,deviation,low,high",
        "x,a|b,ours,one,50.0,,25.0,75.0",
        "y,known,paper,one,0.25,0.10,,",
        "y,known,paper,two,1.000,,,",
    ]
    wide = dataclasses.replace(rows[0], cells=rows[0].cells[:1] * 5)
    assert "[" not in markdown(Table("t", "Wide", list("abcde"), [wide]))


def test_tables_are_in_the_order_a_newcomer_asks():
    snli, cqa = result("snli", "snli-test", accuracy=0.5), result("cqa", "cqa-x", map=0.5)
    found = of_paper(snli, cqa, ranking(1, 2), sts(), sts("sts-2016"))
    assert list(found) == ["table_3", "table_4", "similarity", "table_1", "table_6", "table_2"]
    assert rows_of(found["similarity"])["", "this module"] == ["0.500"]
    assert rows_of(found["table_6"]) == {("x", "this module"): ["50.00"]}


def test_the_papers_rows_are_there_on_its_data_alone():
    papers = [
        official(sts()),
        ranking(1, 2),
        result("cqa", TEST_2017, n=88, map=0.4),
        result("snli", "snli-test", n=9824, accuracy=0.5),
    ]
    synthetic = [
        dataclasses.replace(one, data=one.data | {"origin": "synthetic sample"}) for one in papers
    ]
    own = [
        dataclasses.replace(official(sts()), groups={"main-news": {"n": 1379, "metrics": {}}}),
        ranking(1, 2, settings={"candidates": 20}),
        *(dataclasses.replace(one, n=9) for one in papers[2:]),
    ]
    for results, counts in ((papers, [12, 4, 2, 5, 4]), (synthetic, [0] * 5), (own, [0] * 5)):
        found = of_paper(*results)
        kinds = [[row.kind for row in table.rows].count(PAPER) for table in found.values()]
        assert kinds == counts


def test_our_figures_and_the_papers_stand_in_the_columns_of_their_data():
    tuned = dataclasses.replace(official(sts(r=0.625)), name="sts-test-tuned")
    found = of_paper(
        official(sts()),
        tuned,
        sts("sts-dev", r=0.4),
        ranking(1, 2),
        result("cqa", TEST_2017, system="search_engine", n=88, map=0.4185),
        result("snli", "snli-dev", accuracy=0.5),
        result("snli", "snli-test", n=9824, accuracy=0.6),
    )
    table_3 = rows_of(found["table_3"])
    assert table_3["", "this module"] == ["0.400", "0.500"]
    assert table_3["", "this module, tuned"] == ["-", "0.625"]
    assert table_3["", "Reddit (paper)"] == ["-", "0.731"]
    # By hand: tanh(artanh(0.731) ± 1.96 / sqrt(1379 - 3)).
    assert [
        row.cells[1].interval_text for row in found["table_3"].rows if row.name == "Reddit (paper)"
    ] == ["[0.705, 0.755]"]
    assert found["table_4"].headers == [
        "dev all",
        *(f"test {g}" for g in ("all", "captions", "forums", "news")),
    ]
    assert rows_of(found["table_4"])["", "this module"] == ["0.400", "0.500", *["0.250"] * 3]
    papers = rows_of(found["table_4"])["", "Reddit+SNLI (paper)"]
    assert papers == ["-", "0.782", "0.891", "0.764", "0.585"]
    assert rows_of(found["table_1"])["", "DAN (paper)"] == ["56.1", "70.2", "83.6"]
    six = rows_of(found["table_6"])
    assert six["SemEval2017-Task3-CQA-QL-test", "search engine"] == ["41.85"]
    assert six["SemEval2017-Task3-CQA-QL-test", "Reddit (paper)"] == ["47.07"]
    assert rows_of(found["table_2"])["", "this module"] == ["50.0", "60.0"]
    assert rows_of(found["table_2"])["", "InferSent (paper)"] == ["-", "84.5"]


def test_the_papers_tables_agree_with_each_other():
    three, four = (YANG_2018.tables[name].paper for name in ("table_3", "table_4"))
    assert all(of[data][0] == three[model][data][0] for model, of in four.items() for data in of)
    main = {one.data: one for one in YANG_2018.main}
    assert main["sts-test"].reddit == three["Reddit"]["sts-test"][0]
    assert main["sts-test-tuned"].nli == three["Reddit+SNLI tuned"]["sts-test"][0]


def test_overlaps_and_mistakes_have_tables_with_the_scores_of_groups():
    groups = {"without texts in training": {"n": 3, "metrics": {"pearson": 0.25}}}
    overlaps = dataclasses.replace(
        sts(groups=groups),
        task="contamination",
        name="contamination-sts-test",
        counts={"pairs_in_training": 3, "texts_in_training": 7},
    )
    (table,) = html_page.all_tables([system(overlaps)])
    assert rows_of(table) == {
        ("", "sts-test, Pearson"): ["4", "3", "7", "0.500", "-", "0.250"],
    }
    wrong = dataclasses.replace(overlaps, task="mistakes", name="mistakes-sts-test")
    assert rows_of(tables.mistakes(wrong)) == {
        ("", "all"): ["4", "0.500", "0.500"],
        ("", "without texts in training"): ["3", "0.250", "-"],
    }


def regressor(row, label, r, *, way="random"):
    found = result("sts_regression", f"sts_regression-sts2016-{way}-{row}", n=1186)
    return dataclasses.replace(
        found,
        system="module" if row == "cosine" else row,
        metrics={"pearson": r, "pearson_in_sample": 0.9, "mse": 1.5},
        intervals={"pearson": [r - 0.1, r + 0.1]},
        settings={"folds": 3, "folds_by": way, "row": row, "label": label},
    )


def test_regressors_come_in_the_papers_order_and_the_papers_behind_them():
    systems = [
        system(
            regressor("cosine", "Cosine of the module", 0.75),
            regressor("sif_perceptron", "SIF and Perceptron", 0.2),
            regressor("lstm2_lstm2", "2 LSTM Stack and 2 LSTM Stack", 0.6),
            regressor("lstm2_lstm2", "2 LSTM Stack and 2 LSTM Stack", 0.45, way="sentences"),
        )
    ]
    (table,) = html_page.all_tables(systems)
    assert table.headers == ["pearson", "in sample"]
    assert [(row.group, row.label, row.cells[0].text) for row in table.rows[:5]] == [
        ("sts2016-random", "2 LSTM Stack and 2 LSTM Stack", "0.600"),
        ("sts2016-random", "SIF and Perceptron", "0.200"),
        ("sts2016-random", "Cosine of the module", "0.750"),
        ("sts2016-sentences", "2 LSTM Stack and 2 LSTM Stack", "0.450"),
        ("sts2016, in the paper", "2 LSTM Stack and 2 LSTM Stack", "0.861"),
    ]
    assert {row.label: row.paper for row in TABLE_2.values()} == YANG_2018.regressors


def test_the_papers_examples_are_found_by_their_texts():
    pair = {
        "sentence1": "Microwave would be your best bet!",
        "sentence2": "Your best bet is research",
    }
    runs = tuple(
        {"sts-test": sts(items=[pair | {"gold": 0.0, "genre": "main-forums", "score": score}])}
        for score in (-1.0, -1.2)
    )
    table = tables.table_5([dataclasses.replace(system(), runs=runs)])
    # By hand: the deviation of -1.0 and -1.2 is 0.2 / sqrt(2).
    assert [cell.text for cell in table.rows[0].cells] == ["0.0", "-1.23", "-1.100 ± 0.141"]


def test_other_systems_have_rows_of_their_own():
    found = tables.of_paper(
        [
            system(sts(), label="m"),
            system(sts(r=0.4), label="older", kind=OTHER),
            system(sts(r=0.3), label="TF-IDF", kind=BASELINE),
        ]
    )
    rows = [(row.label, row.kind, row.cells[0].text) for row in found[0].rows]
    assert rows == [
        ("m", "ours", "0.500"),
        ("older", "other", "0.400"),
        ("TF-IDF", "baseline", "0.300"),
        ("word overlap", "baseline", "0.247"),
    ]
