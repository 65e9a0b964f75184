"""Rows, two baselines and a pretrained model on four ranked pairs."""

import dataclasses

import pytest

from evaluation.report import comparison
from evaluation.report.paper import Main
from evaluation.report.systems import Scored
from evaluation.report.table import BASELINE, OTHER, OURS, Cell
from tests.evaluation.report.results_of import ranking, result, system


def dev(r):
    return result("sts", "sts-dev", pearson=r)


@pytest.fixture
def systems():
    seeds = [ranking(1, 2, 1, 2), ranking(1, 1, 1, 1)]
    runs = tuple(
        {"sts-dev": dev(r), "response_ranking": one}
        for r, one in zip((0.70, 0.72), seeds, strict=True)
    )
    return [
        dataclasses.replace(system(label="plain"), runs=runs, seeds=(0, 1)),
        system(dev(0.60), ranking(1, 1, 1, 1), label="worse"),
        system(dev(0.80), ranking(1, 2, 1, 2), label="distilled"),
        system(dev(0.65), ranking(1, 2, 1, 2), label="TF-IDF", kind=BASELINE),
        system(dev(0.99), ranking(2, 2, 2, 2), label="words", kind=BASELINE),
        system(dev(0.90), ranking(1, 1, 1, 1, pretrained=True), label="lm", kind=BASELINE),
    ]


def test_rows_are_chosen_on_dev_of_each_kind(systems):
    best = comparison.best_rows(systems, {"distilled": "a teacher"})
    assert {kind: row.label for kind, row in best.items()} == {
        "": "plain",
        "a teacher": "distilled",
    }
    assert comparison.best_rows(systems, {})[""].label == "distilled"


def test_differences_from_the_best_simple_baseline_are_over_the_same_items(systems):
    (main,) = comparison.main_figures(systems)
    assert main.label == "P@1 of 100"
    assert comparison.best_baseline(systems, main).label == "TF-IDF"
    assert comparison.best_baseline(systems, main, pretrained=True).label == "lm"
    table = comparison.differences(systems)
    assert table.headers == ["P@1 of 100: TF-IDF"]
    cells = {row.label: row.cells[0] for row in table.rows}
    # By hand: TF-IDF has 1/2 in each block; the seeds of `plain` are 0 and 1/2 above it.
    assert cells["plain"].value == pytest.approx(0.25)
    assert cells["plain"].interval == pytest.approx([0.25, 0.25])
    assert cells["plain"].deviation == pytest.approx(0.5 / 2**0.5)
    assert cells["worse"].value == pytest.approx(0.5)
    baseline = comparison.best_baseline(systems, main)
    other = Scored("x", OURS, [ranking(1, 1, 1, 1, 1, 1)])
    assert comparison.difference(other, baseline, main.metric) == Cell()


def test_what_is_ranked_in_context_is_compared_with_baselines_that_read_the_input_alone(systems):
    in_context = dataclasses.replace(ranking(1, 2, 1, 1), name="response_ranking-in-context")
    systems[1].runs[0][in_context.name] = in_context
    alone, main = comparison.main_figures(systems)
    assert (main.label, alone.label) == ("P@1 of 100, in context", "P@1 of 100")
    assert comparison.best_baseline(systems, main).label == "TF-IDF"
    cells = {row.label: row.cells for row in comparison.differences(systems).rows}
    assert cells["worse"][1].value == pytest.approx(0.25)  # 3 of 4
    assert cells["plain"][1] == Cell()


def test_other_data_have_neither_the_papers_figures_nor_their_names():
    of_20 = ranking(1, 2, settings={"candidates": 20})
    found = comparison.main_figures([system(of_20, result("sts", "sts-test", n=60, pearson=0.5))])
    assert [(one.label, one.reddit, one.nli) for one in found] == [
        ("sts-test, r", None, None),
        ("P@1 of 20", None, None),
    ]
    official = comparison.main_figures([system(result("sts", "sts-test", n=1379, pearson=0.5))])
    reddit, nli = comparison.papers(official[0])
    assert (reddit.whole_text, nli.text) == ("0.731 [0.705, 0.755]", "0.782")


def test_each_task_has_the_best_simple_baseline_and_the_difference():
    rival = system(ranking(2, 2, 1, 2), label="TF-IDF", kind=BASELINE)
    older = system(ranking(1, 1, 1, 1), label="older", kind=OTHER)
    found = comparison.of_each_task([system(ranking(1, 1, 1, 2)), rival, older])
    (one,) = found.values()
    assert one.score == Cell(0.75, [0.25, 0.75])
    # By hand: 1 better in the first block, 0 in the second, of two pairs each.
    assert one.difference.value == pytest.approx(0.5)
    assert one.difference.interval == pytest.approx([0.0, 1.0])
    said = "x, response_ranking: P@1 0.750; best simple baseline: TF-IDF 0.250; level"
    assert one.line("x") == said
    (alone,) = comparison.of_each_task([system(ranking(1, 1, 1, 2)), older]).values()
    assert (alone.baseline, alone.line("x")) == (None, "x, response_ranking: P@1 0.750")


def test_tasks_are_in_the_order_of_a_newcomer_on_the_test_set_first():
    found = comparison.of_each_task(
        [
            system(
                result("snli", "snli-dev", accuracy=0.5),
                result("cqa", "cqa-SemEval2016-Task3-CQA-QL-dev", map=0.5),
                result("cqa", "cqa-latest", map=0.6),
                result("response_ranking", "response_ranking", p_at_10=0.9, p_at_3=0.8),
                result("sts", "sts-2016", pearson=0.8),
                result("sts", "sts-dev", pearson=0.7),
                result("sts", "sts-dev-tuned", pearson=0.9),
            )
        ]
    )
    assert [(task, of.main.label, of.score.value) for task, of in found.items()] == [
        ("similarity", "Pearson", 0.7),
        ("response ranking", "P@3", 0.8),
        ("question answering", "MAP", 0.5),
        ("NLI", "accuracy", 0.5),
    ]


def test_a_baseline_without_the_figure_is_none():
    one = dataclasses.replace(ranking(1, 2), metrics={"p_at_1": None}, intervals={})
    alone = [system(one, kind=BASELINE)]
    assert comparison.best_baseline(alone, Main("", one.name, "p_at_1")) is None
