"""The sentence of a verdict, and how sure it says to be."""

import dataclasses

import numpy as np
import pytest

from evaluation.report.scores import BASELINE, OTHER, long_table
from evaluation.report.verdict import sentence
from evaluation.results import store
from tests.evaluation.report.results_of import ranking, sts
from tests.evaluation.report.results_of import run as run_of


def ranked(share, *, n=2000, seed=0):
    """Pairs in blocks of two, of which about a share has the true response first."""
    is_first = np.random.default_rng(seed).random(n) < share
    found = ranking(*np.where(is_first, 1, 2).tolist(), settings={"candidates": 2})
    items = [item | {"baselines": {"word_overlap": 2}} for item in found.items]
    return dataclasses.replace(found, items=items, baselines={"word_overlap": {"p_at_1": 0.0}})


def said(ours, *others):
    runs = [run_of(other, system=f"system {n}", kind=OTHER) for n, other in enumerate(others)]
    return sentence(long_table([run_of(ours), *runs]), "this module")


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
    both = [run_of(WIN[0], sts()), run_of(WIN[1], sts(r=0.4), system="BM25", kind=BASELINE)]
    assert "; for sts-test, the difference" in sentence(long_table(both), "this module")
    alone = dataclasses.replace(WIN[0], items=ranking(1, 2).items, baselines={})
    assert said(alone) == ""
    # What no order can beat is no system.
    items = [item | {"baselines": {"ceiling": 1}} for item in WIN[0].items]
    assert said(dataclasses.replace(alone, items=items, baselines={"ceiling": {"p_at_1": 1}})) == ""


def test_the_report_shows_the_sentence_and_prints_it(tmp_path, run):
    results, page = tmp_path / "results", tmp_path / "page.html"
    store.write(LOSS[0], results)
    store.write(LOSS[2], results / "baselines" / "other")
    line = run("report", "--results", results, "--output", page).splitlines()[-2]
    assert "this module loses to it" in line
    assert line in page.read_text()
