"""Which systems are read from folders, and what of them is left out."""

import dataclasses

import pytest

from common.errors import InputError
from evaluation.report.systems import left_out, read_module, read_runs, scored
from evaluation.results import store
from evaluation.results.text import module_name
from tests.evaluation.report.results_of import ranking, result, sts


def put(folder, *results):
    for found in results:
        store.write(found, folder)
    return folder


def named(found, path):
    return dataclasses.replace(found, module={"path": path, "fingerprint": "2"})


def test_a_module_its_baselines_and_others(tmp_path):
    engine = result("cqa", "cqa-x", system="search_engine", map=0.5)
    put(tmp_path / "m", sts(), engine)
    others = [put(tmp_path / name, sts()) for name in ("a/results", "b/results", "older")]
    put(tmp_path / "m" / "baselines" / "x", named(sts(), "TF-IDF"), engine)
    for name in ("nnlm", "use"):
        path = f"https://example.org/models/some/{name}/versions/1"
        put(tmp_path / "m" / "baselines" / name, named(sts(), path))
    found = read_module(tmp_path / "m", [*others, others[0]])
    labels = ["module", *map(str, others[:2]), "older", "versions/1", "use", "TF-IDF"]
    assert [one.label for one in found] == labels
    assert [one.label for one in scored(found, "sts-test")] == [*labels, "word overlap"]
    assert [one.label for one in scored(found, "cqa-x")] == ["search engine"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/conversations-small/", "conversations-small"),
        ("models/faq/1", "faq/1"),
        ("https://example.org/encoder/4", "encoder/4"),
    ],
)
def test_a_module_has_its_folders_name(path, name):
    assert module_name(named(sts(), path)) == name


def test_runs_are_seeds_of_a_row(tmp_path):
    for run in ("reddit_nli-0", "reddit_nli-1", "growth_10-0"):
        put(tmp_path / run, sts())
    found = read_runs(tmp_path, ["reddit_nli-1", "growth_10-0"])
    assert [(row.label, row.seeds) for row in found] == [("reddit nli", (1,)), ("growth 10", (0,))]
    assert [row.seeds for row in read_runs(tmp_path)] == [(0,), (0, 1)]
    for wrong in ("reddit-7", "reddit"):
        with pytest.raises(InputError, match=wrong):
            read_runs(tmp_path, [wrong])
    with pytest.raises(InputError, match="nowhere"):
        read_runs(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"data": {"sha256": "ef"}}, "SHA-256 of the data ef, but cdcdcdcdcdcd in a"),
        ({"n": 5}, "n 5, but 4 in a"),
        ({"settings": {"candidates": 10}}, "candidates 10, but 100 in a"),
        ({"settings": {"candidates": 100, "seed": 3}}, "seed 3, but 0 in a"),
        ({"data": {"learned_from": {"sha256": "2" * 64}}}, "222222222222, but 111111111111 in a"),
    ],
)
def test_results_of_other_items_or_learned_on_other_data_are_left_out_and_named(
    tmp_path, changed, said
):
    first = ranking(1, 2, 1, 2, settings={"candidates": 100, "seed": 0})
    learned = {"learned_from": {"sha256": "1" * 64}}
    put(tmp_path / "a-0", dataclasses.replace(first, data=first.data | learned))
    put(tmp_path / "b-0", dataclasses.replace(first, **changed), sts())
    put(tmp_path / "c-0", first)
    found = read_runs(tmp_path)
    assert [one.label for one in found if one.named("response_ranking")] == ["a", "c"]
    (sentence,) = left_out(found)
    assert sentence.startswith("b, response_ranking is left out")
    assert said in sentence
