import numpy as np
import pytest

from common import sts as sts_files
from common.errors import InputError
from evaluation.encoders.words import TfIdf
from evaluation.report.tables import SIZES
from evaluation.tasks import sts
from tests.common.test_sts import read, row


def test_scores_are_negative_angles(write_text, fake_encoder):
    lines = [
        row("5", one="east", two="also east"),
        row("3", one="east", two="northeast", genre="news"),
        row("1.5", one="east", two="north", genre="news"),
        row("0", one="east", two="west", genre="news"),
    ]
    # Not of unit length: the cosine must divide by the norms; 3 * 0.1 / 0.3 rounds above 1.
    encoder = fake_encoder(
        {
            "east": [3.0, 0.0],
            "also east": [0.1, 0.0],
            "northeast": [2.0, 2.0],
            "north": [0.0, 7.0],
            "west": [-1.0, 0.0],
        }
    )
    result = sts.evaluate(encoder, read(write_text("sts-test.csv", "\n".join(lines))))
    expected = [0.0, -np.pi / 4, -np.pi / 2, -np.pi]
    assert [item["score"] for item in result.items] == pytest.approx(expected, abs=1e-6)
    # The cosine itself correlates differently with these labels.
    for name, scores in {"pearson": expected, "cosine_pearson": np.cos(expected)}.items():
        r = np.corrcoef(scores, [5, 3, 1.5, 0])[0, 1]
        assert result.metrics[name] == pytest.approx(r)
    assert result.metrics["cosine_pearson"] != pytest.approx(result.metrics["pearson"], abs=1e-3)
    assert set(result.baselines["word_overlap"]) == {"pearson", "spearman"}
    assert result.metrics["spearman"] == pytest.approx(1.0)
    assert result.n == 4
    assert result.groups["main-news"]["n"] == 3
    assert result.groups["main-news"]["metrics"]["pearson"] == pytest.approx(
        np.corrcoef(expected[1:], [3, 1.5, 0])[0, 1]
    )
    assert np.isnan(result.groups["main-captions"]["metrics"]["pearson"])
    assert result.items[2] == {
        "gold": 1.5,
        "score": pytest.approx(-np.pi / 2),
        "cosine": pytest.approx(0.0, abs=1e-6),
        "genre": "main-news",
        "sentence1": "east",
        "sentence2": "north",
        "baselines": {"word_overlap": 0.0},
    }


def test_equation_2_by_hand(fake_encoder):
    """5 (1 - arccos(cosine) / pi): angles of 0, 60, 90 and 180 degrees."""
    golds = [5.0, 10 / 3, 2.5, 0.0]
    angles = -np.pi * np.array([0, 1 / 3, 1 / 2, 1])
    sides = [[1.0, 0.0], [0.5, np.sqrt(3) / 2], [0.0, 1.0], [-1.0, 0.0]]
    encoder = fake_encoder({f"s{i}": side for i, side in enumerate(sides)})
    pairs = [sts_files.Pair("s0", f"s{i}", gold, "g") for i, gold in enumerate(golds)]
    data = sts_files.SimilarityData("sts-dev", pairs)
    found = sts.evaluate(encoder, data, matrix=np.eye(2, dtype=np.float32))
    assert (found.name, found.system) == ("sts-dev-tuned", "module_tuned")
    np.testing.assert_allclose([item["score"] for item in found.items], golds, atol=1e-3)
    untuned = [item["baselines"]["untuned"] for item in found.items]
    np.testing.assert_allclose(untuned, angles, atol=1e-3)


@pytest.mark.parametrize(("genre", "is_said"), [("", True), ("main-news", False)])
def test_the_range_of_scores_is_said_unless_they_are_a_benchmarks(genre, is_said, word_encoder):
    pairs = [("a", "b", -0.5), ("c", "c d", 2.0), ("e", "e f", 1.0)]
    data = sts_files.SimilarityData("own", [sts_files.Pair(*pair, genre) for pair in pairs])
    said = " ".join(sts.evaluate(word_encoder, data).notes)
    assert ("-0.5" in said and "2" in said) == is_said


def test_the_mean_of_sets_is_weighted_by_pairs(word_encoder):
    pairs = [("news", 5, "a b", "c d"), ("news", 1.5, "g", "h"), ("forum", 0, "i", "j")]
    pairs += [("forum", 2, "k k", "l"), ("forum", 4, "m", "n n")]
    pairs = [sts_files.Pair(*texts, gold, genre) for genre, gold, *texts in pairs]
    data = sts_files.SimilarityData("sts-2016", pairs, {"unjudged_pairs": 1}, sets=True)
    result = sts.evaluate(word_encoder, data)
    for kind in ("", "cosine_"):
        of = [result.groups[name]["metrics"][f"{kind}pearson"] for name in ("news", "forum")]
        mean = (2 * of[0] + 3 * of[1]) / 5
        assert result.metrics[f"{kind}mean_of_sets"] == pytest.approx(mean)
    assert result.counts["unjudged_pairs"] == 1


def test_texts_without_a_common_word_score_alike_by_words_alone(write_text, fake_encoder):
    """A baseline of words says so, and an encoder to which all is alike is refused."""
    data = read(
        write_text("pairs.csv", "\n".join([row("5", one="a", two="b"), row("1", one="c", two="d")]))
    )
    baseline = TfIdf().fit([text for pair in data.texts() for text in pair])
    assert np.isnan(sts.evaluate(baseline, data).metrics["pearson"])
    with pytest.raises(InputError, match="pairs"):
        sts.evaluate(fake_encoder({text: [1.0, 0.0] for text in "abcd"}), data)


def test_repeats_and_conflicts_are_counted(write_text, word_encoder):
    rows = [(5, "A dog.", "a cat"), (5, "a cat", "a DOG"), (2, "x y", "z"), (3, "x y!", "z")]
    rows += [(1, "p", "q"), (5, "😀", "👍"), (0, "!!", "...")]  # texts of marks are no repeats
    text = "\n".join(row(score, one=one, two=two) for score, one, two in rows)
    result = sts.evaluate(word_encoder, read(write_text("sts-dev.csv", text)))
    assert result.counts["duplicate_pairs"] == 2
    assert result.counts["conflicting_pairs"] == 2
    assert any("7 pairs here and 1,500 in the STS Benchmark" in note for note in result.notes)


def test_pairs_that_the_benchmark_repeats_are_left_out_beside(write_text, word_encoder):
    dev = [("a b c", "a b", 4), ("a", "b", 0), ("x y", "z", 1), ("x y", "z", 5)]
    once = [("a c", "a c d", 3), ("q", "r", 2), ("s t", "s", 1)]
    for name, pairs in {
        "train": [("a b", "a b c ", 4), ("t", "u", 1)],
        "dev": [*dev, *once],
        "test": [("b", "a", 1), ("v", "w", 3)],
    }.items():
        text = "\n".join(row(gold, one=one, two=two) for one, two, gold in pairs)
        path = write_text(f"sts-{name}.csv", text)
    dev_file = path.with_name("sts-dev.csv")
    for data in (path.parent, dev_file):
        repeated = sts_files.repeated(data)
        found = sts.evaluate(word_encoder, read(dev_file), repeated=repeated)
        kept = [item for item in found.items if "repeated" not in item]
        assert [(item["sentence1"], item["sentence2"], item["gold"]) for item in kept] == once
        by_hand = np.corrcoef([[item["score"], item["gold"]] for item in kept], rowvar=False)
        assert found.metrics["pearson_without_repeats"] == pytest.approx(by_hand[0, 1])
    path.with_name("sts-train.csv").unlink()
    assert not sts_files.repeated(path.parent)
    assert "pearson_without_repeats" not in sts.evaluate(word_encoder, read(dev_file)).metrics


def test_official_files(real_data, word_encoder):
    for name in ("sts-dev", "sts-test"):
        result = sts.evaluate(word_encoder, read(real_data / "stsb" / f"{name}.csv"))
        assert {genre: group["n"] for genre, group in result.groups.items()} == SIZES[name]
        assert result.notes == []
        assert result.metrics["pearson"] > 0.3
    repeated = sts_files.repeated(real_data / "stsb")
    assert [
        sum(
            sts_files.same_pair(texts) in repeated
            for texts in read(real_data / "stsb" / name).texts()
        )
        for name in ("sts-dev.csv", "sts-test.csv")
    ] == [15, 17]
