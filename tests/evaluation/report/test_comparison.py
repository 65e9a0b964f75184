"""Rows, two baselines and a pretrained model on four ranked pairs."""

import dataclasses

import numpy as np
import pytest

from evaluation.report import comparison, pages
from evaluation.report.scores import BASELINE, OTHER, long_table
from evaluation.report.tables import MAIN
from evaluation.results import store
from tests.evaluation.report.results_of import ranking, result, rows_of, run, sts

STATIC = {"path": "static", "fingerprint": "b", "pretrained": True, "static": True}


def dev(r):
    return result("sts", "sts-dev", pearson=r)


def main_table(scores, rows):
    figures = comparison.main_figures(scores, MAIN)
    return comparison.main_table(scores, figures, rows, title="Main")


def differences(scores):
    return comparison.differences(scores, comparison.main_figures(scores, MAIN))


@pytest.fixture
def runs():
    return [
        run(dev(0.70), ranking(1, 2, 1, 2), system="plain", seed=0),
        run(dev(0.72), ranking(1, 1, 1, 1), system="plain", seed=1),
        run(dev(0.60), ranking(1, 1, 1, 1), system="worse"),
        run(dev(0.80), ranking(1, 2, 1, 2), system="distilled"),
        run(dev(0.65), ranking(1, 2, 1, 2), system="TF-IDF", kind=BASELINE),
        run(dev(0.99), ranking(2, 2, 2, 2), system="words", kind=BASELINE),
        run(dev(0.90), ranking(1, 1, 1, 1, pretrained=True), system="lm", kind=BASELINE),
        run(ranking(2, 2, 1, 2, module=STATIC), system="static", kind=BASELINE),
    ]


def test_rows_are_chosen_on_dev_of_each_kind(runs):
    scores = long_table(runs)
    best = comparison.best_rows(scores, {"distilled": "a teacher"})
    assert list(best.items()) == [("", "plain"), ("a teacher", "distilled")]
    assert comparison.best_rows(scores, {}) == {"": "distilled"}


def test_differences_from_the_best_simple_baseline_are_over_the_same_items(runs):
    scores = long_table(runs)
    ((name, main),) = comparison.main_figures(scores, MAIN).items()
    assert name == "P@1 of 100"
    best = [comparison.best_of(scores, main, others) for others in comparison.OTHERS]
    assert [score.system for score in best] == ["TF-IDF", "static", "lm"]
    of_simple = [c for c in differences(scores).cells if c.block == comparison.SIMPLE]
    cells = {cell.row: cell for cell in of_simple}
    # By hand: TF-IDF has 1/2 in each block; the seeds of `plain` are 0 and 1/2 above it.
    assert cells["plain"].header == "P@1 of 100: TF-IDF"
    assert cells["plain"].value == pytest.approx(0.25)
    assert cells["plain"].interval == pytest.approx([0.25, 0.25])
    assert cells["plain"].deviation == pytest.approx(0.5 / 2**0.5)
    assert cells["worse"].value == pytest.approx(0.5)
    (other,) = long_table([run(ranking(1, 1, 1, 1, 1, 1))])
    assert comparison.difference(other, best[0], "", "") == []


def test_of_baselines_below_chance_chance_is_what_a_score_is_compared_with():
    chance = {"chance": {"p_at_1": 0.5}}
    ours = ranking(1, 1, 1, 2, baselines=chance)
    below = ranking(2, 2, 1, 2, baselines=chance)
    scores = long_table([run(ours), run(below, system="TF-IDF", kind=BASELINE)])
    table = main_table(scores, ["this module"])
    found = {cell.header: cell for cell in table.cells}
    best = found["best simple baseline"]
    assert (best.of, best.value) == ("chance", 0.5)
    # By hand: 3 of 4 less a half, with the interval of the score less a half.
    assert found["difference"].value == pytest.approx(0.25)
    assert found["difference"].interval == pytest.approx([-0.25, 0.25])


def test_what_is_ranked_in_context_is_compared_with_baselines_that_read_the_input_alone(runs):
    in_context = dataclasses.replace(ranking(1, 2, 1, 1), name="response_ranking-in-context")
    runs[2].results[in_context.name] = in_context
    scores = long_table(runs)
    assert list(comparison.main_figures(scores, MAIN)) == ["P@1 of 100", "P@1 of 100 in context"]
    cells = {(cell.row, cell.header): cell for cell in differences(scores).cells}
    # By hand: 3 of 4, where TF-IDF has 2.
    assert cells["worse", "P@1 of 100 in context: TF-IDF"].value == pytest.approx(0.25)
    assert ("plain", "P@1 of 100 in context: TF-IDF") not in cells


def test_main_figures_stand_beside_the_baselines_and_the_papers_where_the_data_are_its(runs):
    scores = long_table(runs)
    table = main_table(scores, ["plain", "worse"])
    assert rows_of(table)["", "P@1 of 100"] == {
        **{"n": "4", "plain": "0.750 ± 0.354", "worse": "1.000"},
        **{"best simple baseline": "0.500", "lm": "1.000", "static": "0.250"},
        **{"difference": "0.250 ± 0.354", "paper, Reddit": "0.561"},
    }
    assert [cell.of for cell in table.cells if cell.of] == ["TF-IDF"]
    assert rows_of(table.turned())["", "lm"] == {"P@1 of 100": "1.000"}
    of_20 = long_table([run(ranking(1, 2, settings={"candidates": 20}))])
    table = main_table(of_20, ["this module"])
    assert rows_of(table) == {("", "P@1 of 20"): {"n": "2", "this module": "0.500"}}


def test_a_row_stands_above_level_or_below_by_the_interval_of_the_difference():
    in_context = dataclasses.replace(ranking(1, 1, 1, 1, 1, 1), name="response_ranking-in-context")
    scores = long_table(
        [
            run(ranking(1, 1, 1, 1, 1, 1), in_context, system="best"),
            run(ranking(1, 1, 2, 2, 2, 2), system="some"),
            run(ranking(2, 2, 2, 2, 2, 2), system="none"),
            run(ranking(1, 1, 1, 1, 2, 2), system="TF-IDF", kind=BASELINE),
            run(ranking(1, 2, 1, 2, 1, 2, module=STATIC), system="static", kind=BASELINE),
        ]
    )
    figures = comparison.main_figures(scores, MAIN)
    found = comparison.standings(differences(scores), figures, ["best", "some", "none"])
    # The static one has 1 of 2 in each block, TF-IDF 2 of 2 in two of three.
    static, simple, any_rival = "best static rival", comparison.SIMPLE, "best rival"
    # In context it reads what the baselines do not: no standing.
    assert {name for of in found.values() for one in of.values() for name in one} == {"P@1 of 100"}
    places = {
        row: {others: one["P@1 of 100"].standing for others, one in of.items()}
        for row, of in found.items()
    }
    assert places == {
        "best": {simple: "level", static: "above", any_rival: "above"},
        "some": {simple: "level", static: "level", any_rival: "level"},
        "none": {simple: "level", static: "below", any_rival: "below"},
    }
    assert found["best"][static]["P@1 of 100"].value == pytest.approx(0.5)


def test_every_data_set_of_a_module_has_its_main_figure():
    ours = run(
        result("snli", "snli-dev", accuracy=0.5),
        result("cqa", "cqa-latest", map=0.6, mrr=0.7),
        result("response_ranking", "response_ranking", p_at_3=0.8, p_at_10=0.9),
        result("retrieval", "retrieval-own", mrr_at_10=0.8, ndcg_at_10=0.9),
        result("sts", "sts-dev-tuned", pearson=0.9),
        result("contamination", "contamination-sts-dev", pearson=0.9),
    )
    older = run(result("sts", "sts-2016", pearson=0.8), system="older", kind=OTHER)
    figures = comparison.figures_of(long_table([ours, older]), "this module")
    ranked = ["cqa-latest, MAP", "response_ranking, P@3", "retrieval-own, nDCG@10"]
    assert list(figures) == ["snli-dev, accuracy", *ranked]


def ranked(share, *, n=2000, seed=0):
    """Pairs in blocks of two, of which about a share has the true response first."""
    is_first = np.random.default_rng(seed).random(n) < share
    found = ranking(*np.where(is_first, 1, 2).tolist(), settings={"candidates": 2})
    items = [item | {"baselines": {"word_overlap": 2}} for item in found.items]
    return dataclasses.replace(found, items=items, baselines={"word_overlap": {"p_at_1": 0.0}})


def said(ours, *others):
    runs = [run(other, system=f"system {n}", kind=OTHER) for n, other in enumerate(others)]
    return comparison.verdict(long_table([run(ours), *runs]), "this module")


WIN = ranked(0.5), ranked(0.4, seed=1), ranked(0.3, seed=2)
LOSS = ranked(0.4), ranked(0.3, seed=1), ranked(0.5, seed=2)
UNDECIDED = ranked(0.40), ranked(0.41, seed=1), ranked(0.3, seed=2)
FEW = ranked(0.9, n=150), ranked(0.1, n=150, seed=1)
# Of ten others, one may be as much better by chance.
MANY = ranked(0.40), ranked(0.44, seed=3), *(ranked(0.3, seed=seed) for seed in range(10, 18))


@pytest.mark.parametrize(
    ("results", "named"),
    [
        (WIN, ("use this module: it beats system 0 (the best of 3 others) by", "is real")),
        (LOSS, ("use system 1 (the best of 3 others): this module loses to it by", "is real")),
        (MANY[:2], ("use system 0 (the best of 2 others): this module loses", "is real")),
        (MANY, ("use this module or system 0", "may be chance")),
        (
            UNDECIDED,
            ("use this module or system 0", "trails", "may be chance (p", "for 3 comparisons"),
        ),
        (FEW, ("between this module and system 0 (", "is not known", "150 pairs", "200")),
    ],
)
def test_the_sentence_names_what_to_use_and_how_sure_that_is(results, named):
    text = said(*results)
    assert text.startswith("For replies, ")
    a, b = (one.metrics["p_at_1"] for one in results[:2])
    assert f"P@1 of 2 {a:.3f} and {b:.3f}" in text or results is LOSS
    for words in named:
        assert words in text


def test_other_data_have_a_clause_of_their_own_and_no_verdict_without_another_system():
    both = [run(WIN[0], sts()), run(WIN[1], sts(r=0.4), system="BM25", kind=BASELINE)]
    assert "; for sts-test, the difference" in comparison.verdict(long_table(both), "this module")
    alone = dataclasses.replace(WIN[0], items=ranking(1, 2).items, baselines={})
    assert said(alone) == ""
    # What no order can beat is no system.
    items = [item | {"baselines": {"ceiling": 1}} for item in WIN[0].items]
    assert said(dataclasses.replace(alone, items=items, baselines={"ceiling": {"p_at_1": 1}})) == ""


def test_the_report_shows_the_verdict_and_prints_it(tmp_path, capsys):
    results, page = tmp_path / "results", tmp_path / "page.html"
    store.write(LOSS[0], results)
    store.write(LOSS[2], results / "baselines" / "other")
    pages.write_report(results, page, say=print)
    line = capsys.readouterr().out.splitlines()[-1]
    assert "this module loses to it" in line
    assert line in page.read_text()
