import dataclasses
import json
import math

import numpy as np
import pytest

from common.text_files import TextPairs
from evaluation.analysis import mistakes
from evaluation.data import ranking_files
from evaluation.metrics import similarity
from evaluation.tasks import response_ranking
from tests.evaluation.report.results_of import result


def similar(*items):
    """Of (gold, score, genre, sentence1, sentence2)."""
    keys = ("gold", "score", "genre", "sentence1", "sentence2")
    overlaps = similarity.word_overlaps([item[-2:] for item in items])
    rows = [
        dict(zip(keys, item, strict=True)) | {"baselines": {"word_overlap": one}}
        for item, one in zip(items, overlaps, strict=True)
    ]
    return dataclasses.replace(result("sts", "sts-dev"), items=rows)


def test_errors_are_by_kind_and_signed():
    # The line through the four pairs is gold = 5 score - 0.5; by hand: (0, .2), (5, 1), and two
    # that cancel out: too alike by 1, too unlike by 1.
    found = mistakes.of_sts(
        similar(
            (0.5, 0.2, "main-captions", "a dog runs fast today", "the sea is wide"),
            (4.5, 1.0, "main-news", "stocks fall", "shares drop"),
            (1.5, 0.6, "main-captions", "a man is not here", "a man is here"),
            (3.5, 0.6, "main-captions", "two men sit", "three men sit"),
        )
    )
    of_kind = {kind: group["metrics"]["mean_error"] for kind, group in found.groups.items()}
    assert of_kind["one sentence negated"] == pytest.approx(1.0)
    assert of_kind["other numbers"] == pytest.approx(-1.0)
    assert of_kind["half of the words shared, gold at most 2"] == pytest.approx(1.0)
    assert of_kind["a quarter of the words shared, gold at least 4"] == pytest.approx(0.0)
    assert found.groups["news"]["n"] == 1
    assert np.isnan(found.groups["news"]["metrics"]["pearson"])
    assert found.metrics["mean_absolute_error"] == pytest.approx(0.5)
    assert [item["sentence1"] for item in found.items[:2]] == ["a man is not here", "two men sit"]


def test_a_negation_is_seen():
    kind = mistakes.STS_KINDS["one sentence negated"]
    for text in ("I don't", "I don’t", "Not now", "we CANNOT", "without it"):
        assert kind({"sentence1": text, "sentence2": "a nothingness in knots"})


def test_what_is_preferred_to_the_true_response(fake_encoder):
    """Another text, though the true one stands there twice."""
    texts = [("how many?", "we have 7"), ("who is it", "it is a bot"), ("how many?", "we have 7")]
    pairs = [ranking_files.Pair(*both, f"i{n}", f"r{n}") for n, both in enumerate(texts)]
    vectors = {"how many?": [1, 0], "who is it": [1, 1]}
    encoder = fake_encoder(vectors, {"we have 7": [0, 1], "it is a bot": [1, 0.5]})
    data = TextPairs("response_ranking", pairs)
    found = mistakes.of_ranking(encoder, data, candidates=3)
    wrong = {"rank": 2, "input": "how many?", "response": "we have 7"}
    assert found.items[:2] == [wrong | {"preferred": "it is a bot"}] * 2
    by_kind = {kind: group["metrics"]["p_at_1"] for kind, group in found.groups.items()}
    assert found.metrics["p_at_1"] == 1 / 3
    assert by_kind["the response has a number"] == by_kind["a question as input"] == 0.0
    assert by_kind["either says 'bot'"] == by_kind["1 or 2 words shared"] == 1.0
    assert "the response has a link" not in by_kind
    # The very ranks that response_ranking finds.
    scored = response_ranking.evaluate(encoder, data, candidates=3)
    assert scored.metrics["p_at_1"] == found.metrics["p_at_1"]


def test_the_command_writes_results_and_texts(module, write_text, tmp_path, run, fails):
    lines = [f"main-news\tset\t2012\t{n}\t{n}\ta man {n}\ta {'horse ' * n}dog" for n in range(6)]
    data = write_text("sts-dev.csv", "\n".join(lines) + "\n")
    out = tmp_path / "out"
    run("mistakes", "--module", module, "--sts", data, "--output", out)
    stored = json.loads((out / "mistakes-sts-dev.json").read_text())
    assert stored["n"] == 6
    assert math.isfinite(stored["metrics"]["mean_absolute_error"])
    assert "a man 5" in (out / "mistakes.md").read_text()
    assert "--response_ranking" in fails("mistakes", "--module", module, "--output", out)


def test_texts_of_a_page_are_code_on_one_line_cut_off():
    groups = {"news": {"n": 3, "metrics": {"mean_error": 0.25}}}
    items = [{"error": 1.234, "sentence1": "a\nb <b>*a*</b>", "sentence2": "x " * 300}]
    wrong = result("mistakes", "mistakes-sts-*my*<i>", mean_error=0.1)
    text = mistakes.page(dataclasses.replace(wrong, groups=groups, items=items))
    assert all(line[:4] in ("    ", "") for line in text.splitlines()[1:])
    assert text.startswith("# mistakes-sts-\\*my\\*&lt;i&gt;\n")
    for expected in ("1.23\n", "a b <b>*a*</b>\n", "x x [...]\n", "news "):
        assert expected in text
