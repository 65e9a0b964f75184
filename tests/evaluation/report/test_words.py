import dataclasses

import pytest

from evaluation.metrics import per_item
from evaluation.report import systems, words
from evaluation.report.systems import (
    BASELINE,
    OTHER,
    OURS,
    System,
)
from evaluation.results.result import Result

GOLD = [5.0 * i / 199 for i in range(200)]
GOOD = [gold + (0.8 if i % 2 else -0.8) for i, gold in enumerate(GOLD)]
ALSO_GOOD = [gold + (0.8 if i % 3 else -0.9) for i, gold in enumerate(GOLD)]
BAD = [gold + (9.0 if i % 2 else -9.0) for i, gold in enumerate(GOLD)]


def sts(scores, *, overlap=BAD, name="sts-test", n=200, **fields):
    """A result with intervals, as the command stores it."""
    items = [
        {
            "gold": gold,
            "score": score,
            "genre": "main-news",
            "sentence1": str(i),
            "sentence2": "",
            "baselines": {"word_overlap": overlap[i]},
        }
        for i, (gold, score) in enumerate(zip(GOLD, scores, strict=True))
    ]
    found = Result(
        task="sts",
        name=name,
        system="module",
        metrics={},
        baselines={"word_overlap": {}},
        n=n,
        items=items,
        data={"sha256": "ab"},
        **fields,
    )
    weigh, units = per_item.figures(found)
    figures = per_item.bootstrap.once(weigh, units)
    return per_item.with_intervals(dataclasses.replace(found, metrics=figures), seed=0)


def system(*results, label="this module", kind=OURS):
    return System(label, kind, {found.name: found for found in results})


def test_only_what_the_paired_interval_shows_is_claimed():
    found = [
        system(sts(GOOD)),
        system(sts(ALSO_GOOD), label="Close", kind=BASELINE),
        system(sts(GOLD), label="Perfect", kind=BASELINE),
    ]
    (text, missing) = words.paragraphs(found)
    assert "better than word overlap; not to be told apart from Close; worse than Perfect." in text
    assert text.startswith("sts-test (200 pairs): Pearson's r is 0.87")
    assert "95% interval 0.8" in text
    assert "The paper's figures are on other data and do not compare." in text
    assert missing == "Not scored here: table 1, table 2, figure 8 and table 6."


def test_other_modules_and_tuned_ones_have_sentences_of_their_own():
    tuned = dataclasses.replace(sts(GOLD, name="sts-test-tuned"), system="module_tuned")
    found = [
        system(sts(GOOD), tuned),
        system(sts(ALSO_GOOD), label="older", kind=OTHER),
        system(sts(BAD), label="broken", kind=OTHER),
    ]
    text = words.paragraphs(found)[0]
    assert "The same module tuned on STS train is better." in text
    assert "older cannot be told apart from it. broken is worse." in text


def test_what_was_scored_on_other_items_is_not_compared():
    other = dataclasses.replace(sts(BAD), data={"sha256": "cd"})
    text = words.paragraphs([system(sts(GOOD)), system(other, label="Other", kind=BASELINE)])[0]
    assert "Other" not in text


@pytest.mark.parametrize(
    ("interval", "where"),
    [([0.5, 0.6], "above"), ([0.7, 0.8], "within"), ([0.74, 0.8], "below")],
)
def test_the_papers_figure_lies_in_or_outside_of_the_interval(interval, where):
    found = dataclasses.replace(sts(GOOD, n=1379), intervals={"pearson": interval})
    text = words.paragraphs([system(found)])[0]
    assert f"The paper's Reddit model has 0.731, {where} this interval." in text


def test_contamination_is_told():
    found = sts(GOOD)
    overlaps = dataclasses.replace(
        found,
        task="contamination",
        name="contamination-sts-test",
        counts={"pairs_in_training": 3, "texts_in_training": 7},
        groups={
            "without texts in training": {
                "n": 193,
                "metrics": {"pearson": 0.5},
                "intervals": {"pearson": [0.4, 0.6]},
            }
        },
    )
    text = words.paragraphs([system(found, overlaps)])[0]
    assert "Of its items 3 are in the training records and 7 have a text there" in text
    assert "without these the figure is 0.500 [0.400, 0.600]." in text


def sweep(first, last):
    def point(share, low):
        figures = {"pearson": low + 0.05, "interval": [low, low + 0.1]}
        figures |= {"captions": None, "captions_interval": None}
        return {"share": share, "dev": figures, "test": figures}

    return Result(
        task="snli_sweep",
        name="snli_sweep",
        system="module",
        metrics={},
        n=2,
        items=[point(0.0, first), point(1.0, last)],
    )


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (0.6, 0.71, "0.650 [0.600, 0.700] to 0.760 [0.710, 0.810], a rise beyond both intervals"),
        (0.6, 0.69, "the intervals overlap, so neither a rise nor a fall is shown"),
        (0.6, 0.49, "a fall beyond both intervals"),
    ],
)
def test_the_sweep_says_what_its_ends_show(first, last, said):
    assert said in words.paragraphs([system(sweep(first, last))])[0]


def test_systems_come_from_folders(tmp_path):
    from evaluation.results import result

    ours = sts(GOOD, module={"path": "m", "fingerprint": "1"})
    result.write(ours, tmp_path / "results")
    result.write(sts(BAD), tmp_path / "older")
    named = dataclasses.replace(ours, module={"path": "TF-IDF", "fingerprint": "2"})
    result.write(named, tmp_path / "results" / "baselines" / "a")
    engine = dataclasses.replace(ours, task="cqa", name="cqa-x", system="search_engine")
    engine = dataclasses.replace(engine, metrics={"map": 0.5}, items=[])
    result.write(engine, tmp_path / "results")
    result.write(engine, tmp_path / "results" / "baselines" / "a")
    found = systems.read(tmp_path / "results", [tmp_path / "older"])
    assert [(one.label, one.kind) for one in found] == [
        ("this module", OURS),
        ("older", OTHER),
        ("TF-IDF", BASELINE),
    ]
    labels = [one.label for one in systems.scored(found, "sts-test")]
    assert labels == ["this module", "older", "TF-IDF", "word overlap"]
    assert [one.label for one in systems.scored(found, "cqa-x")] == [
        "search engine",
        "word overlap",
    ]
