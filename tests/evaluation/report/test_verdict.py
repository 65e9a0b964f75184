"""The tiles, on four ranked pairs and two pairs of sentences."""

import dataclasses

import pytest

from evaluation.report import html_page, verdict
from evaluation.report.cells import BASELINE, OTHER, OURS, Cell
from evaluation.report.systems import System, read_module
from evaluation.results import store
from evaluation.results.result import Result
from evaluation.results.text import module_name


def result(task, name, **metrics):
    return Result(task=task, name=name, system="module", metrics=metrics, n=4)


def ranking(*ranks):
    items = [
        {"rank": rank, "block": row // 2, "input_id": str(row), "response_id": str(row)}
        for row, rank in enumerate(ranks)
    ]
    share = sum(rank == 1 for rank in ranks) / len(ranks)
    one = result("response_ranking", "response_ranking", p_at_1=share)
    return dataclasses.replace(
        one, intervals={"p_at_1": [0.25, 0.75]}, items=items, data={"sha256": "ab"}
    )


def system(*results, label="small", kind=OURS):
    return System(label, kind, ({one.name: one for one in results},))


def test_a_tile_has_the_best_simple_baseline_and_the_difference():
    rival = system(ranking(2, 2, 1, 2), label="TF-IDF", kind=BASELINE)
    worse = system(ranking(2, 2, 2, 2), label="words", kind=BASELINE)
    (tile,) = verdict.tiles([system(ranking(1, 1, 1, 2)), rival, worse])
    assert (tile.task, tile.data, tile.metric) == ("response ranking", "", "P@1")
    assert tile.items == "4 pairs"
    assert tile.score == Cell(0.75, [0.25, 0.75])
    assert (tile.baseline, tile.baseline_score) == ("TF-IDF", Cell(0.25, [0.25, 0.75]))
    # By hand: 1 better in the first block, 0 in the second, of two pairs each.
    assert tile.difference.value == pytest.approx(0.5)
    assert tile.difference.interval == pytest.approx([0.0, 1.0])
    assert tile.standing == "level on"
    said = "response ranking: P@1 0.750; best simple baseline: TF-IDF 0.250; level"
    assert verdict.line(tile) == said


def test_another_module_is_no_baseline():
    other = system(ranking(1, 1, 1, 1), label="older", kind=OTHER)
    (tile,) = verdict.tiles([system(ranking(1, 1, 1, 2)), other])
    assert (tile.baseline, tile.difference, tile.standing) == ("", Cell(), "")
    assert verdict.line(tile) == "response ranking: P@1 0.750"


def test_tiles_are_in_the_order_of_a_newcomer_on_the_test_set_first():
    found = verdict.tiles(
        [
            system(
                result("snli", "snli-dev", accuracy=0.5),
                result("cqa", "cqa-dev", map=0.5),
                result("cqa", "cqa-test", map=0.6),
                ranking(1, 1, 1, 1),
                result("sts", "sts-2016", pearson=0.8),
                result("sts", "sts-dev", pearson=0.7),
                result("sts", "sts-dev-tuned", pearson=0.9),
            )
        ]
    )
    assert [(tile.task, tile.data, tile.score.value) for tile in found] == [
        ("similarity", "dev", 0.7),
        ("response ranking", "", 1.0),
        ("question answering", "test", 0.6),
        ("NLI", "dev", 0.5),
    ]


def test_official_files_have_short_names():
    one = result("sts", "sts-test", pearson=0.7)
    cqa = result("cqa", "cqa-SemEval2016-Task3-CQA-QL-dev", map=0.5)
    found = verdict.tiles([system(dataclasses.replace(one, n=1379), cqa)])
    assert [tile.data for tile in found] == ["STS-B test", "2016 dev"]
    assert [tile.items for tile in found] == ["1,379 pairs", "4 queries"]


def test_the_sentence_names_the_tasks_by_their_standing():
    (tile,) = verdict.tiles([system(ranking(1, 1, 1, 1))])
    found = [
        dataclasses.replace(tile, task=task, standing=standing)
        for task, standing in [
            ("similarity", "behind on"),
            ("question answering", "ahead on"),
            ("NLI", "ahead on"),
        ]
    ]
    assert verdict.sentence("small", found) == (
        "small beside the best simple baseline: ahead on question answering, NLI; behind on "
        "similarity."
    )
    assert verdict.sentence("small", [tile]) == ""


def test_the_page_opens_with_the_name_and_the_tiles():
    systems = [
        system(ranking(1, 1, 1, 2)),
        system(ranking(2, 2, 2, 2), label="TF-IDF", kind=BASELINE),
    ]
    page = html_page.render(systems, html_page.all_tables(systems))
    start = page[: page.index("<h2>")]
    for expected in (
        "<h1>Scores of small</h1>",
        "<p>small beside the best simple baseline: ahead on response ranking.</p>",
        '<dd class="score">0.750 <span>P@1</span></dd>',
        "<dd>[0.250, 0.750]</dd>",
        "<dd>TF-IDF: 0.000 <span>[0.250, 0.750]</span></dd>",
        "<dd>difference: 0.750 <span>[0.500, 1.000]</span></dd>",
    ):
        assert expected in start
    alone = [system(ranking(1, 1, 1, 2))]
    assert "no simple baseline was scored" in html_page.render(alone, [])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/conversations-small", "conversations-small"),
        ("runs/conversations-small/", "conversations-small"),
        ("models/faq/1", "faq/1"),
        ("https://example.org/encoder/4", "encoder/4"),
    ],
)
def test_a_module_has_its_folders_name(path, name):
    module = {"path": path, "fingerprint": "1"}
    assert module_name(dataclasses.replace(ranking(1), module=module)) == name


def test_without_a_module_there_is_no_name(tmp_path):
    store.write(ranking(1, 2), tmp_path)
    assert read_module(tmp_path)[0].label == "this module"


def test_a_name_with_the_letters_of_a_split_is_not_the_split():
    one = system(
        result("sts", "sts-latest", pearson=0.5),
        result("sts", "sts-devices", pearson=0.6),
        result("sts", "sts-news-test", pearson=0.9),
    )
    assert [tile.data for tile in verdict.tiles([one])] == ["news-test"]


def test_without_p_at_1_the_lowest_n_stands_in_the_tile():
    one = result("response_ranking", "response_ranking", p_at_10=0.9, p_at_3=0.5)
    (tile,) = verdict.tiles([system(one)])
    assert (tile.metric, tile.score.value) == ("P@3", 0.5)
