"""Paired tests of two systems; the sentence of a verdict, and how sure it says to be."""

import dataclasses
import re

import numpy as np
import pytest

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.analysis.verdict import sentence
from evaluation.results import measure, store
from tests.evaluation.report.results_of import ranking, sts
from tests.evaluation.report.results_of import run as run_of


def sts_result(score, gold):
    items = [
        {"gold": float(g), "score": float(s), "genre": "", "sentence1": f"s{i}", "sentence2": "t"}
        | {"baselines": {"word_overlap": float(-g)}}
        for i, (s, g) in enumerate(zip(score, gold, strict=True))
    ]
    metrics = dict.fromkeys(("pearson", "spearman", "of_their_own"), 0.5)
    return sts("sts-dev", n=len(items), items=items, metrics=metrics, data={"sha256": "ab"})


@pytest.fixture(scope="module")
def two():
    """Results of a good and a slightly better module on the same 200 pairs."""
    random = np.random.default_rng(0)
    gold = random.uniform(0, 5, size=200)
    noise = random.normal(size=200)
    return sts_result(gold + noise, gold), sts_result(gold + 0.85 * noise, gold)


def test_a_shared_difficulty_cancels_out(two):
    """Intervals of the two alone overlap; on the same pairs the difference is plain."""
    good, better = two
    high = measure.with_intervals(good, seed=0).intervals["pearson"][1]
    low = measure.with_intervals(better, seed=0).intervals["pearson"][0]
    assert low < high
    pearson, spearman = paired_test.compare(good, better, seed=0)
    assert (pearson.figure, spearman.figure) == ("pearson", "spearman")
    assert pearson.difference == pytest.approx(pearson.b - pearson.a)
    assert pearson.interval[0] > 0
    assert pearson.p < 0.01
    # A baseline can stand on either side.
    asked = {"system_b": "word_overlap", "metrics": ["pearson"]}
    assert paired_test.compare(good, good, **asked)[0].b == pytest.approx(-1.0)
    with pytest.raises(InputError, match="nonsense"):
        paired_test.compare(good, good, system_a="nonsense")


@pytest.mark.parametrize(("units", "least"), [(2, 0.5), (5, 1 / 16), (20, 2 / 2001)])
def test_few_units_that_agree_prove_little(units, least):
    # All units differ in one direction, so every resample does.
    assert paired_test._p(np.ones(2000), units=units) == pytest.approx(least)


@pytest.mark.parametrize(
    "changed", [{"data": {"sha256": "cd"}}, {"items": []}, {"task": "cqa"}, {"task": "mistakes"}]
)
def test_only_the_same_items_compare(two, changed):
    good = two[0]
    other = dataclasses.replace(good, **changed)
    for pair in ((good, other), (other, good)):
        with pytest.raises(InputError, match="sts-dev"):
            paired_test.compare(*pair, seed=0)
    with pytest.raises(InputError, match="items"):
        paired_test.compare(good, dataclasses.replace(good, items=good.items[::-1]), seed=0)


def test_the_command(two, tmp_path, run, fails):
    good, better = two
    flat = [item | {"score": 1.0} for item in better.items]
    for name, side in (("dev", "ab"), ("a-only", "a"), ("b-only", "b")):
        for letter in side:
            data = {"sha256": "ab", "learned_from": {"sha256": letter}}
            store.write(dataclasses.replace(good, name=name, data=data), tmp_path / letter)
    data = {"sha256": "ab", "learned_from": {"sha256": "a"}}
    store.write(dataclasses.replace(better, name="dev", items=flat, data=data), tmp_path / "a")
    bare = [item | {"baselines": {}} for item in good.items]
    for letter in "ab":
        store.write(dataclasses.replace(good, name="bare", items=bare), tmp_path / letter)
    argv = ["compare", tmp_path / "a", tmp_path / "b"]
    printed = run(*argv, "--system_b", "word_overlap")
    # In one of the folders alone, without the system, not given by the items, learned otherwise.
    for name in ("a-only", "b-only", "bare", "of_their_own", "dev"):
        assert re.search(rf"^\D+: {name}$", printed, re.MULTILINE)
    assert re.search(r"dev +Pearson +\d+ +- ", printed)  # every score of A is the same
    printed = run("compare", tmp_path / "a" / "dev.json", tmp_path / "a" / "dev.json")
    assert "only in" not in printed
    assert "learned or chosen" not in printed
    for name in ("other", "another"):
        store.write(dataclasses.replace(good, name=name), tmp_path / "d")
    assert "another" in fails("compare", tmp_path / "a", tmp_path / "d")
    assert "nowhere" in fails("compare", tmp_path / "a", tmp_path / "nowhere")


def ranked(share, *, n=2000, seed=0):
    """Pairs in blocks of two, of which about a share has the true response first."""
    is_first = np.random.default_rng(seed).random(n) < share
    found = ranking(*np.where(is_first, 1, 2).tolist(), settings={"candidates": 2})
    items = [item | {"baselines": {"word_overlap": 2}} for item in found.items]
    return dataclasses.replace(found, items=items, baselines={"word_overlap": {"p_at_1": 0.0}})


def said(ours, *others):
    runs = [run_of(other, system=f"system {number}") for number, other in enumerate(others)]
    return sentence([run_of(ours), *runs])


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
    both = [run_of(WIN[0], sts()), run_of(WIN[1], sts(r=0.4), system="BM25")]
    assert "; for sts-test, the difference" in sentence(both)
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
