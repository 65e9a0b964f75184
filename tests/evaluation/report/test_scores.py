"""Which systems are read from folders, what is left out, and the long table of their scores."""

import dataclasses

import pytest

from common.errors import InputError
from evaluation.report.scores import BASELINE, long_table, read_module, read_runs
from evaluation.results import store
from evaluation.results.result import module_name
from tests.evaluation.report.results_of import ranking, result, run, sts


def put(folder, *results):
    for found in results:
        store.write(found, folder)
    return folder


def named(found, path):
    return dataclasses.replace(found, module={"path": path, "fingerprint": "2"})


def systems(scores, name):
    return list(dict.fromkeys(score.row for score in scores if score.name == name))


def test_a_module_others_and_baselines(tmp_path):
    engine = result("cqa", "cqa-x", system="search_engine", map=0.5)
    put(tmp_path / "m", sts(), engine)
    others = [put(tmp_path / name, sts()) for name in ("a/results", "b/results", "older")]
    put(tmp_path / "m" / "baselines" / "words_SIF", named(sts(), "words"), engine)
    runs, left_out = read_module(tmp_path / "m", others)
    labels = ["this module", *map(str, others[:2]), "older", "words"]
    assert [one.system for one in runs] == labels
    assert left_out == []
    scores = long_table(runs)
    assert systems(scores, "sts-test") == [*labels, "word overlap"]
    assert systems(scores, "cqa-x") == ["search engine"]


def test_a_module_has_its_folders_name():
    assert module_name(named(sts(), "runs/conversations-small/")) == "conversations-small"
    assert module_name(named(sts(), "https://example.org/encoder/4")) == "encoder/4"


def test_runs_are_seeds_of_a_row(tmp_path):
    for name in ("reddit_nli-0", "reddit_nli-1", "growth_10-0", "growth_x-0"):
        put(tmp_path / name, sts())
    runs, _ = read_runs(tmp_path, ["reddit_nli-1", "growth_10-0"])
    found = [(one.system, one.kind, one.seed) for one in runs]
    assert found == [("reddit nli", "ours", 1), ("growth 10", "growth", 0)]
    assert [one.kind for one in read_runs(tmp_path)[0]] == ["growth", "ours", "ours", "ours"]
    for wrong in ("reddit-7", "reddit"):
        with pytest.raises(InputError, match=wrong):
            read_runs(tmp_path, [wrong])
    with pytest.raises(InputError, match="nowhere"):
        read_runs(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"data": {"sha256": "ef"}}, ("ef", "cdcdcdcdcdcd")),
        ({"n": 5}, ("5", "4")),
        ({"settings": {"candidates": 10}}, ("10", "100")),
        ({"settings": {"candidates": 100, "seed": 3}}, ("3", "0")),
        ({"data": {"learned_from": {"sha256": "2" * 64}}}, ("222222222222", "111111111111")),
    ],
)
def test_results_of_other_items_or_learned_on_other_data_are_left_out_and_named(
    tmp_path, changed, named
):
    first = ranking(1, 2, 1, 2, settings={"candidates": 100, "seed": 0})
    learned = {"learned_from": {"sha256": "1" * 64}}
    put(tmp_path / "a-0", dataclasses.replace(first, data=first.data | learned))
    put(tmp_path / "b-0", dataclasses.replace(first, **changed), sts())
    put(tmp_path / "c-0", first)
    runs, left_out = read_runs(tmp_path)
    assert systems(long_table(runs), "response_ranking") == ["a", "c"]
    (sentence,) = left_out
    assert sentence.startswith("b, response_ranking ")
    assert all(value in sentence for value in named)


def test_the_long_table_has_means_over_seeds_variants_groups_and_baselines():
    news = {"main-news": {"n": 4, "metrics": {"pearson": 0.25, "spearman": None}}}
    tuned = dataclasses.replace(sts(r=0.9), name="sts-test-tuned", baselines={})
    scores = long_table(
        [
            run(sts(r=0.70, groups=news), tuned, system="a", seed=0),
            run(sts(r=0.74, groups=news), tuned, system="a", seed=1),
            run(sts(r=0.3), ranking(1, 2, pretrained=True), system="b", kind=BASELINE),
        ]
    )
    found = {(score.row, score.group, score.metric): score for score in scores}
    whole = found["a", "all", "pearson"]
    # By hand: the deviation, with n - 1, is 0.04 / sqrt(2).
    assert (whole.value, whole.deviation) == (pytest.approx(0.72), pytest.approx(0.02 * 2**0.5))
    assert whole.interval == pytest.approx([0.62, 0.82])
    assert found["a", "main-news", "pearson"].value == 0.25
    assert ("a", "main-news", "spearman") not in found
    assert found["a, tuned", "all", "pearson"].data == "sts-test"
    assert found["b", "all", "p_at_1"].was("pretrained")
    assert not whole.was("pretrained")
    overlap = found["word overlap", "all", "pearson"]
    assert (overlap.kind, overlap.value, overlap.deviation) == (BASELINE, 0.2468, None)
