"""The sentence of a verdict: which system it names, and how sure it says to be."""

import dataclasses

import numpy as np
import pytest

from evaluation.analysis.verdict import sentence, verdicts
from evaluation.results import store
from tests.evaluation.report.results_of import ranking, sts
from tests.evaluation.report.results_of import run as run_of

N = 2000


def ranked(share, *, n=N, seed=0):
    """Pairs in blocks of two, of which about a share has the true response first."""
    is_first = np.random.default_rng(seed).random(n) < share
    found = ranking(*np.where(is_first, 1, 2).tolist())
    items = [item | {"baselines": {"word_overlap": 2}} for item in found.items]
    none = {"word_overlap": {"p_at_1": 0.0}}
    return dataclasses.replace(found, items=items, baselines=none, settings={"candidates": 2})


def said(ours, *others):
    names = ("BM25", "TF-IDF", *(f"system {number}" for number in range(9)))
    runs = [run_of(one, system=name) for name, one in zip(names, others, strict=False)]
    return sentence(verdicts([run_of(ours), *runs]))


WIN = ranked(0.5), ranked(0.4, seed=1), ranked(0.3, seed=2)
LOSS = ranked(0.4), ranked(0.3, seed=1), ranked(0.5, seed=2)
UNDECIDED = ranked(0.40), ranked(0.41, seed=1), ranked(0.3, seed=2)
FEW = ranked(0.9, n=150), ranked(0.1, n=150, seed=1)


@pytest.mark.parametrize(
    ("results", "used", "named"),
    [
        (
            WIN,
            "use this module:",
            ("it beats BM25 (the best of 3 others)", "is real", "2,000 pairs"),
        ),
        (LOSS, "use TF-IDF (the best of 3 others):", ("this module loses to it", "is real")),
        (UNDECIDED, "use this module or BM25", ("trails", "may be chance")),
        (FEW, "not known", ("BM25", "150 pairs", "200")),
    ],
)
def test_the_sentence_names_what_to_use_and_how_sure_that_is(results, used, named):
    (text,) = said(*results).splitlines()
    assert text.startswith("For replies")
    assert text.count(". ") == 0
    for words in (used, *named):
        assert words in text


def test_a_loss_to_one_of_many_needs_a_larger_difference():
    ours, better = ranked(0.40), ranked(0.435, seed=3)
    assert "loses" in said(dataclasses.replace(ours, baselines={}, items=bare(ours)), better)
    many = [ranked(0.3, seed=seed) for seed in range(10, 19)]
    assert "may be chance" in said(ours, better, *many)


def bare(result):
    return [{k: v for k, v in item.items() if k != "baselines"} for item in result.items]


def test_other_data_have_a_clause_of_their_own_and_no_verdict_without_another_system():
    ours = WIN[0]
    both = [run_of(ours, sts()), run_of(WIN[1], sts(r=0.4), system="BM25")]
    assert said(*WIN[:2]) != sentence(verdicts(both))
    assert "; for sts-test, the difference" in sentence(verdicts(both))
    alone = dataclasses.replace(ours, baselines={}, items=bare(ours))
    assert sentence(verdicts([run_of(alone)])) == ""


def test_the_report_shows_the_sentence_and_prints_it(tmp_path, run):
    results = tmp_path / "results"
    store.write(LOSS[0], results)
    store.write(LOSS[2], results / "baselines" / "other")
    page = tmp_path / "page.html"
    line = run("report", "--results", results, "--output", page).splitlines()[-2]
    assert "this module loses to" in line
    assert line in page.read_text()
