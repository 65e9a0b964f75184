"""Paired tests of two systems."""

import dataclasses
import re

import numpy as np
import pytest

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.results import measure, store
from tests.evaluation.report.results_of import sts


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
