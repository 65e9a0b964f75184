import numpy as np
import pytest

from evaluation.data import sts_files
from evaluation.data.files import Source
from evaluation.errors import InputError
from evaluation.tasks import similarity, sts

ROW = "main-{genre}\tfile\t2012\t0001\t{score}\t{one}\t{two}"


def row(score="2.5", genre="captions", one="a b", two="c d"):
    return ROW.format(genre=genre, score=score, one=one, two=two)


def read(path):
    (source,) = sts_files.find(path)
    return sts_files.read(source)


def test_raw_quotes_and_licence_columns(write_text):
    lines = [
        row(score="1.0", one='"An unclosed quote', two='it said "so".'),
        row(score="4.000", genre="news") + "\tPDDL\tsome url",
        row(score="5", one="line\u2028separator", two="caf\u00e9"),
    ]
    data = read(write_text("sts-test.csv", "\n".join(lines) + "\n"))
    assert data.name == "sts-test"
    assert [pair.gold for pair in data.pairs] == [1.0, 4.0, 5.0]
    assert data.pairs[0].sentence1 == '"An unclosed quote'
    assert data.pairs[0].sentence2 == 'it said "so".'
    assert data.pairs[1].sentence2 == "c d"
    assert data.pairs[2].sentence1 == "line\u2028separator"
    assert data.pairs[1].genre == "main-news"


def test_gz_is_the_same_data(write_text):
    text = row("1") + "\n" + row("2") + "\n"
    plain, packed = write_text("sts-dev.csv", text), write_text("packed/sts-dev.csv.gz", text)
    assert read(plain) == read(packed)


def test_a_byte_order_mark_and_empty_last_lines_are_no_data(write_text):
    rows = row("1") + "\n" + row("2") + "\n"
    plain, windows = (
        write_text("sts-dev.csv", rows),
        write_text("bom/sts-dev.csv", "\ufeff" + rows + "\n\n"),
    )
    assert read(windows) == read(plain)


def test_folder_takes_dev_and_test_but_not_train(write_text, tmp_path):
    for name in ("sts-dev.csv", "sts-test.csv.gz", "sts-train.csv", "other.csv"):
        write_text(name, row("1") + "\n")
    assert [source.name for source in sts_files.find(tmp_path)] == ["sts-dev", "sts-test"]
    assert [source.name for source in sts_files.find(tmp_path / "sts-train.csv")] == ["sts-train"]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ("a\tb\tc", ["3 columns", "7 tab-separated"]),
        (row() + "\tone too many", ["8 columns"]),
        (row(score=""), ["score is ''", "0 to 5"]),
        (row(score="5.1"), ["score is '5.1'", "0 to 5"]),
        (row(score="-0.1"), ["score is '-0.1'"]),
        (row(score="nan"), ["score is 'nan'"]),
        (row(one=" "), ["sentence1 is ' '"]),
        (row(two=""), ["sentence2 is ''"]),
        (row().replace("main-captions", ""), ["genre is ''"]),
    ],
)
def test_malformed_rows_name_file_line_and_value(write_text, bad, named):
    path = write_text("sts-dev.csv", "\n".join([row("1"), row("2"), bad, row("3")]))
    with pytest.raises(InputError) as error:
        read(path)
    for words in [f"{path}:3:", *named]:
        assert words in str(error.value)


def test_bad_files_name_the_file(write_text, tmp_path):
    for name, content, named in [
        ("a.csv", "", "0 pairs"),
        ("b.csv", row("1") + "\n", "1 pairs"),
        ("c.csv", row("1") + "\n" + row("1"), "every score is 1.0"),
        ("d.csv", row("1").encode() + b"\n\xff\xfe", ":2: not UTF-8"),
    ]:
        path = write_text(name, content)
        with pytest.raises(InputError, match=named) as error:
            read(path)
        assert str(path) in str(error.value)
    whole = write_text("e.csv.gz", (row("1") + "\n") * 500)
    whole.write_bytes(whole.read_bytes()[:-12])
    with pytest.raises(InputError, match="damaged gzip"):
        read(whole)
    with pytest.raises(InputError, match=r"holds none of sts-dev\.csv"):
        sts_files.find(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        sts_files.find(tmp_path / "missing.csv")


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
    # The cosine itself would correlate differently with these labels.
    assert result.metrics["pearson"] == pytest.approx(np.corrcoef(expected, [5, 3, 1.5, 0])[0, 1])
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
        "genre": "main-news",
        "sentence1": "east",
        "sentence2": "north",
        "baselines": {"word_overlap": 0.0},
    }


def test_scores_that_are_all_the_same_are_an_error(write_text, fake_encoder):
    lines = [row("5", one="east", two="west"), row("3", one="west", two="east")]
    encoder = fake_encoder({"east": [1.0, 0.0], "west": [0.0, 1.0]})
    alike = sts.evaluate(encoder, read(write_text("sts-test.csv", "\n".join(lines))))
    with pytest.raises(InputError, match="sts-test: the module gives each of the 2 pairs the same"):
        sts.require_defined([alike])
    lines.append(row("1", one="east", two="east"))
    sts.require_defined([alike, sts.evaluate(encoder, read(write_text("b.csv", "\n".join(lines))))])


def test_equation_2_by_hand(fake_encoder):
    """5 (1 - arccos(cosine) / pi): angles of 0, 60, 90 and 180 degrees."""
    golds = [5.0, 10 / 3, 2.5, 0.0]
    angles = -np.pi * np.array([0, 1 / 3, 1 / 2, 1])
    np.testing.assert_allclose(similarity.scale_0_to_5(angles), golds, atol=1e-12)
    sides = [[1.0, 0.0], [0.5, np.sqrt(3) / 2], [0.0, 1.0], [-1.0, 0.0]]
    encoder = fake_encoder({f"s{i}": side for i, side in enumerate(sides)})
    pairs = [sts_files.Pair("g", gold, "s0", f"s{i}") for i, gold in enumerate(golds)]
    found = sts.evaluate_tuned(
        encoder,
        sts_files.SimilarityData("sts-dev", pairs),
        matrix=np.eye(2, dtype=np.float32),
        name="sts-dev-tuned",
    )
    np.testing.assert_allclose([item["score"] for item in found.items], golds, atol=1e-3)
    untuned = [item["baselines"]["untuned"] for item in found.items]
    np.testing.assert_allclose(untuned, angles, atol=1e-3)


def test_cosine_is_clipped():
    rows = np.random.default_rng(0).normal(size=(2000, 7))
    assert np.isfinite(similarity.negative_angle(rows, rows)).all()
    assert np.isfinite(similarity.negative_angle(rows, -3 * rows)).all()


def test_word_overlap_by_hand():
    # {a, dog, runs} and {a, dog, sits}: 2 of 4; case and punctuation do not matter.
    left, right = similarity.words("A dog runs."), similarity.words("a DOG, sits")
    assert similarity.word_overlap(left, right) == 0.5
    assert similarity.word_overlap(similarity.words("?"), similarity.words("!")) == 0.0


def test_word_overlap_is_the_baseline(write_text, word_encoder):
    lines = [row("5", one="a b", two="a b"), row("2", one="a b", two="a c"), row("0")]
    result = sts.evaluate(word_encoder, read(write_text("sts-dev.csv", "\n".join(lines))))
    expected = np.corrcoef([1, 1 / 3, 0], [5, 2, 0])[0, 1]
    assert result.baselines["word_overlap"]["pearson"] == pytest.approx(expected)


def test_official_files(real_data, word_encoder):
    genres = {
        "sts-dev": {"main-captions": 625, "main-forums": 375, "main-news": 500},
        "sts-test": {"main-captions": 625, "main-forums": 254, "main-news": 500},
    }
    found = [sts_files.read(source) for source in sts_files.find(real_data / "stsb")]
    assert [data.name for data in found] == ["sts-dev", "sts-test"]
    for data in found:
        result = sts.evaluate(word_encoder, data)
        assert {name: group["n"] for name, group in result.groups.items()} == genres[data.name]
        assert result.metrics["pearson"] > 0.3
    (train,) = sts_files.find(real_data / "stsb" / "sts-train.csv")
    assert train == Source("sts-train", (real_data / "stsb" / "sts-train.csv",))
    assert len(sts_files.read(train).pairs) == 5749
