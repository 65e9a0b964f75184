"""Which rows, columns and figures the tables have."""

import dataclasses

from evaluation.report import tables
from evaluation.report.scores import BASELINE, OTHER, PAPER, Score, long_table
from evaluation.report.tables import TABLES, Table
from model.sts_regression.options import TABLE_2
from tests.evaluation.report.results_of import (
    TEST_2017,
    official,
    ranking,
    result,
    rows_of,
    run,
    sts,
)

ONE = {"decimals": 1}


def specified(*results, more=()):
    made = tables.specified(long_table([run(*results), *more]))
    return {table.file: table for table in made}


def test_a_figure_and_its_interval():
    for cell, how, number, interval in (
        (Score("", "", 0.12345, [0.1, 0.2]), {}, "0.123", "[0.100, 0.200]"),
        (Score("", "", 0.12345, [0.1, 0.2]), ONE, "0.1", "[0.1, 0.2]"),
        (Score("", "", 1.0, [1.0, 1.0]), {}, "1.000", ""),
        (Score("", "", -1e-9), {}, "0.000", ""),
        (Score("", "", 12345), ONE, "12,345", ""),
        (Score("", "", 0.72, deviation=0.0283), {}, "0.720 ± 0.028", ""),
    ):
        assert Table("t", "A table", [cell], **how).words(cell) == [number, interval, ""]


def test_a_table_as_markdown_and_as_csv():
    cells = [
        Score("a|b", "ours", 0.5, [0.25, 0.75], header="one", block="x"),
        Score("known", PAPER, 0.25, None, 0.1, header="one", block="y"),
        Score("known", PAPER, 1.0, header="two", block="y", of="b"),
    ]
    table = Table("t", "A table", cells, **ONE)
    first, second = table.markdown().split("\n\n")
    assert first.splitlines()[-1] == r"| a\|b | 0.5 [0.2, 0.8] |"
    assert second.splitlines()[-1] == "| known (paper) | 0.2 ± 0.1 | 1.0, b |"
    assert table.csv().splitlines() == [
        "data,row,kind,figure,value,deviation,low,high",
        "x,a|b,ours,one,0.5,,0.2,0.8",
        "y,known,paper,one,0.2,0.1,,",
        "y,known,paper,two,1.0,,,",
    ]
    wide = Table("t", "Wide", [cells[0]._replace(header=name) for name in "abcde"])
    assert "[" not in wide.markdown()
    assert "[" in wide.markdown(wide=True)


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
    for results, counts in ((papers, [2, 12, 0, 5, 4, 4]), (synthetic, [0] * 6), (own, [0] * 6)):
        found = specified(*results)
        of_paper = [{c.row for c in one.cells if c.kind == PAPER} for one in found.values()]
        assert [len(rows) for rows in of_paper] == counts


def test_our_figures_and_the_papers_stand_in_the_columns_of_their_data():
    tuned = dataclasses.replace(official(sts(r=0.625)), name="sts-test-tuned")
    found = specified(
        official(sts()),
        tuned,
        sts("sts-dev", r=0.4),
        ranking(1, 2),
        result("cqa", TEST_2017, system="search_engine", n=88, map=0.4185),
        result("snli", "snli-dev", accuracy=0.5),
        result("snli", "snli-test", n=9824, accuracy=0.6),
        result("snli", "snli-own_dev", accuracy=0.7),
    )
    assert rows_of(found["entailment"]) == {("own_dev", "this module"): {"accuracy": "0.700"}}
    table_3 = rows_of(found["table_3"])
    assert table_3["", "this module"] == {"dev": "0.400", "test": "0.500"}
    assert table_3["", "this module, tuned"] == {"test": "0.625"}
    assert table_3["", "Reddit"] == {"test": "0.731"}
    (reddit,) = [cell for cell in found["table_3"].cells if cell.row == "Reddit"]
    # By hand: tanh(artanh(0.731) ± 1.96 / sqrt(1379 - 3)).
    assert found["table_3"].words(reddit)[1] == "[0.705, 0.755]"
    ((_, headers, _),) = found["table_4"].blocks()
    assert headers == ["dev all", *(f"test {g}" for g in ("all", "captions", "forums", "news"))]
    table_4 = rows_of(found["table_4"])
    assert list(table_4["", "this module"].values()) == ["0.400", "0.500", *["0.250"] * 3]
    assert list(table_4["", "Reddit+SNLI"].values()) == ["0.782", "0.891", "0.764", "0.585"]
    assert ("", "word overlap") not in table_4
    assert list(rows_of(found["table_1"])["", "DAN"].values()) == ["0.561", "0.702", "0.836"]
    six = rows_of(found["table_6"])
    assert six["SemEval2017-Task3-CQA-QL-test", "search engine"] == {"MAP": "0.4185"}
    assert six["SemEval2017-Task3-CQA-QL-test", "Reddit"] == {"MAP": "0.4707"}
    assert rows_of(found["table_2"])["", "this module"] == {"dev": "0.500", "test": "0.600"}
    assert rows_of(found["table_2"])["", "InferSent"] == {"test": "0.845"}


def test_other_systems_have_rows_of_their_own_and_shares_tables_of_their_own():
    found = specified(
        sts(),
        more=[
            run(sts(r=0.4), system="older", kind=OTHER),
            run(sts(r=0.3), system="TF-IDF", kind=BASELINE),
            run(official(sts(r=0.7)), system="nli 100", kind="nli"),
            run(official(sts(r=0.6)), system="nli 30", kind="nli"),
        ],
    )
    rows = [(cell.row, cell.kind, cell.value) for cell in found["table_3"].cells]
    assert rows[:2] == [("this module", "ours", 0.5), ("older", "other", 0.4)]
    assert rows[2:] == [("TF-IDF", "baseline", 0.3), ("word overlap", "baseline", 0.2468)]
    assert rows_of(found["figure_8"]) == {
        ("", "30%"): {"test, all": "0.600", "test, captions": "0.250"},
        ("", "100%"): {"test, all": "0.700", "test, captions": "0.250"},
    }


def test_overlaps_and_mistakes_have_tables_with_the_scores_of_groups():
    groups = {"without texts in training": {"n": 3, "metrics": {"pearson": 0.25}}}
    overlaps = dataclasses.replace(
        sts(groups=groups),
        task="contamination",
        name="contamination-sts-test",
        counts={"pairs_in_training": 3, "texts_in_training": 7},
        baselines={},
    )
    ((place, cells),) = rows_of(tables.contamination([overlaps])).items()
    assert place == ("", "sts-test, Pearson")
    assert list(cells.values()) == ["4", "3", "7", "0.500", "0.250"]
    wrong = dataclasses.replace(overlaps, task="mistakes", name="mistakes-sts-test")
    assert rows_of(tables.mistakes(wrong)) == {
        ("", "all"): {"n": "4", "Pearson": "0.500", "Spearman": "0.500"},
        ("", "without texts in training"): {"n": "3", "Pearson": "0.250"},
    }


def test_regressors_have_a_group_a_corpus_and_the_papers_rows_beside_its_folds():
    def regressor(row, label, r, *, way="random"):
        found = result("sts_regression", f"sts_regression-sts2016-{way}-{row}", n=1186)
        return dataclasses.replace(
            found,
            system="module" if row == "cosine" else row,
            metrics={"pearson": r, "pearson_in_sample": 0.9, "mse": 1.5},
            settings={"folds": 3, "folds_by": way, "row": row, "label": label},
        )

    table = specified(
        regressor("cosine", "Cosine of the module", 0.75),
        regressor("sif_perceptron", "SIF and Perceptron", 0.2),
        regressor("sif_perceptron", "SIF and Perceptron", 0.1, way="sentences"),
    )["regressors"]
    rows = rows_of(table)
    both = {"Pearson": "0.200", "in sample": "0.900"}
    assert rows["sts2016-sentences", "SIF and Perceptron"] == both | {"Pearson": "0.100"}
    of_random = [(cell.row, cell.kind) for cell in table.cells if cell.block == "sts2016-random"]
    assert of_random[0] == ("Cosine of the module", "ours")
    assert ("SIF and Perceptron", "baseline") in of_random
    assert {(label, PAPER) for label in TABLES["regressors"].paper} < {*of_random}
    papers = TABLES["regressors"].paper
    assert {row.label: row.paper for row in TABLE_2.values()} == {
        label: tuple(figures) for label, figures in papers.items()
    }


def test_the_papers_examples_are_found_by_their_texts():
    pair = {
        "sentence1": "Microwave would be your best bet!",
        "sentence2": "Your best bet is research",
    }
    items = [[pair | {"gold": 0.0, "genre": "", "score": score}] for score in (-1.0, -1.2)]
    table = tables.table_5([run(sts(items=one), seed=seed) for seed, one in enumerate(items)])
    (cells,) = rows_of(table).values()
    # By hand: the deviation of -1.0 and -1.2 is 0.2 / sqrt(2).
    assert list(cells.values()) == ["0.000", "-1.230", "-1.100 ± 0.141"]
