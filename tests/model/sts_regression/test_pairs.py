import pytest

from model.errors import InputError
from model.sts_regression.data import pairs


def sts2016(folder, text):
    (folder / "sts2016").mkdir()
    data = text if isinstance(text, bytes) else text.encode()
    (folder / "sts2016" / "headlines.test.tsv").write_bytes(data)
    return folder


def test_judged_pairs_are_read_with_genre_and_place(tmp_path):
    folder = sts2016(tmp_path, '\tnobody\tjudged\n3\tsaid "a\tb\x85c\n4\td\te\n')
    found = pairs.sts2016(folder)
    path = folder / "sts2016" / "headlines.test.tsv"
    assert found.pairs == [
        pairs.Pair('said "a', "b\x85c", 3.0, "headlines", f"{path}:2"),
        pairs.Pair("d", "e", 4.0, "headlines", f"{path}:3"),
    ]
    assert found.provenance()["files"] == ["headlines.test.tsv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5.5\ta\tb\n", ":1: score '5.5'; accepted: numbers from 0 to 5"),
        ("1\ta\tb\n-1\ta\tb\n", ":2: score '-1'"),
        ("nan\ta\tb\n", ":1: score 'nan'"),
        ("high\ta\tb\n", ":1: score 'high'"),
        ("1\t \tb\n", ":1: the first sentence is empty"),
        ("1\ta\t\n", ":1: the second sentence is empty"),
        ("1\ta\n", ":1: 2 tab-separated columns, 3 are needed"),
        (b"1\ta\tb\xff\n", ":1: not UTF-8 text"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        pairs.sts2016(sts2016(tmp_path, text))
    assert message in str(error.value)


def test_texts_and_scores_of_track5_must_be_as_many(corpora, tmp_path):
    folder = tmp_path / "sts2017_track5"
    folder.mkdir()
    (folder / "STS.input.txt").write_text("a\tb\nc\td\n")
    (folder / "STS.gs.txt").write_text("1\n")
    with pytest.raises(InputError, match="1 scores for 2 pairs"):
        pairs.sts2017_track5(tmp_path)
    assert len(pairs.sts2017_track5(corpora).pairs) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2.5\ta\tb\n2.5\tc\td\n", "every score is 2.5; a correlation needs two values"),
        ("\ta\tb\n", "no pair has a score; a correlation needs two values"),
    ],
)
def test_pairs_that_nothing_correlates_with_are_refused(tmp_path, text, message):
    folder = sts2016(tmp_path, text)
    with pytest.raises(InputError) as error:
        pairs.sts2016(folder)
    assert str(error.value) == f"{folder}/sts2016: {message}"


def test_missing_data_are_named(tmp_path):
    with pytest.raises(InputError, match=r"stsb: one file sts-dev.csv needed, found 0"):
        pairs.stsb(tmp_path, "dev")


def test_the_real_data_have_the_papers_numbers(real_data):
    assert len(pairs.sts2016(real_data).pairs) == 1186
    assert len(pairs.sts2017_track5(real_data).pairs) == 250
    assert [len(pairs.stsb(real_data, s).pairs) for s in ("train", "dev", "test")] == [
        5749,
        1500,
        1379,
    ]
