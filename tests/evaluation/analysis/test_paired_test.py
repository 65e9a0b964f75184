import dataclasses
import json

import numpy as np
import pytest

from evaluation.__main__ import main
from evaluation.analysis import paired_test
from evaluation.errors import InputError
from evaluation.results import store
from evaluation.results.result import Result


def sts_result(score, gold, *, name="sts-dev", sha256="ab"):
    items = [
        {
            "gold": float(g),
            "score": float(s),
            "genre": "main-news",
            "sentence1": f"s{i}",
            "sentence2": "t",
            "baselines": {"word_overlap": float(-g)},
        }
        for i, (s, g) in enumerate(zip(score, gold, strict=True))
    ]
    return Result(
        task="sts",
        name=name,
        system="module",
        metrics={"pearson": 0.0, "spearman": 0.0},
        n=len(items),
        items=items,
        data={"sha256": sha256},
        module={"path": "m", "fingerprint": "c0"},
    )


@pytest.fixture(scope="module")
def three():
    """Results of a good, a slightly better and a bad module on the same 200 pairs."""
    random = np.random.default_rng(0)
    gold = random.uniform(0, 5, size=200)
    noise = random.normal(size=200)
    good = sts_result(gold + noise, gold)
    better = sts_result(gold + 0.85 * noise, gold)
    bad = sts_result(random.normal(size=200), gold)
    return good, better, bad


def test_a_shared_difficulty_cancels_out(three):
    """Intervals of the two alone overlap; on the same pairs the difference is plain."""
    from evaluation.results import measure

    good, better, _ = three
    high = measure.with_intervals(good, seed=0).intervals["pearson"][1]
    low = measure.with_intervals(better, seed=0).intervals["pearson"][0]
    assert low < high
    pearson, spearman = paired_test.compare(good, better, seed=0)
    assert (pearson.figure, spearman.figure) == ("pearson", "spearman")
    assert pearson.difference == pytest.approx(pearson.b - pearson.a)
    assert pearson.interval[0] > 0
    assert pearson.p < 0.01


def test_turned_round_it_is_the_same(three):
    good, _, bad = three
    (there, _), (back, _) = (
        paired_test.compare(good, bad, seed=0),
        paired_test.compare(bad, good, seed=0),
    )
    assert there.difference == -back.difference
    assert there.interval == pytest.approx([-back.interval[1], -back.interval[0]])
    assert there.p == back.p
    assert there.p == pytest.approx(2 / 2001)


@pytest.mark.parametrize(("units", "least"), [(2, 0.5), (5, 1 / 16), (20, 2 / 2001)])
def test_few_units_that_agree_prove_little(units, least):
    # All units differ in one direction, so every resample does.
    assert paired_test._p(np.ones(2000), units=units) == pytest.approx(least)


def test_no_difference(three):
    good = three[0]
    found = paired_test.compare(good, good, seed=0)
    assert {(row.difference, row.p) for row in found} == {(0.0, 1.0)}


def test_p_is_rarely_small_where_nothing_differs():
    random = np.random.default_rng(1)
    small = 0
    for seed in range(100):
        gold = random.uniform(0, 5, size=60)
        a, b = (sts_result(gold + random.normal(size=60), gold) for _ in range(2))
        small += paired_test.compare(a, b, seed=seed)[0].p < 0.05
    assert small <= 12  # 5 are expected


def test_a_baseline_can_stand_on_either_side(three):
    good = three[0]
    pearson, _ = paired_test.compare(good, good, seed=0, system_b="word_overlap")
    assert pearson.b == pytest.approx(-1.0)
    with pytest.raises(InputError, match="nonsense"):
        paired_test.compare(good, good, seed=0, system_a="nonsense")


def test_only_the_same_items_compare(three):
    good = three[0]
    with pytest.raises(InputError, match="computed on different data"):
        paired_test.compare(good, dataclasses.replace(good, data={"sha256": "cd"}), seed=0)
    with pytest.raises(InputError, match="their items differ"):
        paired_test.compare(good, dataclasses.replace(good, items=good.items[::-1]), seed=0)
    with pytest.raises(InputError, match=r"of the task sts, .* of cqa"):
        paired_test.compare(good, dataclasses.replace(good, task="cqa"), seed=0)


def test_the_command(three, tmp_path, capsys):
    for side, found in zip("abc", three, strict=True):
        store.write(found, tmp_path / side)
    output = tmp_path / "differences.json"
    argv = ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--output", str(output)]
    assert main(argv) == 0
    printed = capsys.readouterr().out
    assert "B - A [95%]" in printed
    assert "2 tests" in printed
    stored = json.loads(output.read_text())
    assert [row["figure"] for row in stored["differences"]] == ["pearson", "spearman"]
    assert stored["seed"] == 0
    store.write(dataclasses.replace(three[0], name="other"), tmp_path / "d")
    store.write(dataclasses.replace(three[0], name="another"), tmp_path / "d")
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "d")]) == 1
    assert "no result of the same name in both" in capsys.readouterr().err


def test_what_is_compared_and_what_is_not_is_said(three, tmp_path, capsys):
    good, better, _ = three
    flat = [item | {"score": 1.0} for item in better.items]
    for name, side in (("dev", "ab"), ("a-only", "a"), ("b-only", "b")):
        for letter in side:
            store.write(dataclasses.replace(good, name=name), tmp_path / letter)
    store.write(dataclasses.replace(better, name="dev", items=flat), tmp_path / "b")
    output = tmp_path / "differences.json"
    argv = ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--output", str(output)]
    assert main([*argv, "--system_a", "word_overlap"]) == 0
    printed = capsys.readouterr().out
    assert "only in A, so not compared: a-only\nonly in B, so not compared: b-only\n" in printed
    stored = json.loads(output.read_text(), parse_constant=pytest.fail)
    assert (stored["system_a"], stored["system_b"]) == ("word_overlap", "module")
    assert {row["b"] for row in stored["differences"]} == {None}
    one = [str(path / "dev.json") for path in (tmp_path / "a", tmp_path / "b")]
    assert main(["compare", *one]) == 0
    assert "only in" not in capsys.readouterr().out


def test_what_was_learned_on_other_data_is_said(three, tmp_path, capsys):
    for side, digest in (("a", "1"), ("b", "2")):
        data = {"sha256": "ab", "learned_from": {"sha256": digest}}
        store.write(dataclasses.replace(three[0], name="dev", data=data), tmp_path / side)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "learned or chosen on other data in A than in B: dev\n" in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "a")]) == 0
    assert "learned or chosen" not in capsys.readouterr().out


def test_results_without_the_system_are_left_out(three):
    good, better, _ = three
    bare = [
        dataclasses.replace(good, name="bare", items=[i | {"baselines": {}} for i in good.items])
    ]
    pairs = [(good, better), (bare[0], bare[0])]
    asked = {"system_a": None, "system_b": "word_overlap"}
    assert paired_test.with_systems(pairs, **asked) == ([(good, better)], ["bare"])
    # Of none at all `compare` says what is missing.
    assert paired_test.with_systems(pairs[1:], **asked) == (pairs[1:], [])
