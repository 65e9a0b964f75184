"""Posts.xml, written by hand as https://meta.stackexchange.com/questions/2677 describes it."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent / "stackexchange"
QUESTION = "Why are my List<Leaf> & tomatoes yellow?\nThey were green in May.\nif leaf < 3:"


def answers(pairs):
    assert {pair["input"] for pair in pairs} == {QUESTION}
    return [pair["response"] for pair in pairs]


def test_answers_reply_to_their_question(make):
    statistics, pairs = make("import", "stackexchange", "--input", HERE)
    assert answers(pairs) == ["It is the sun.", "Too much water."]
    assert statistics["dropped"] == {"other_post": 1, "empty": 0}
    assert statistics["malformed"] == 2  # without an Id; not XML


@pytest.mark.parametrize(
    ("asked", "dropped"),
    [
        (("--accepted_only",), {"accepted_only": 1}),
        (("--min_score", "5"), {"min_score": 1}),
        (("--min_score", "-1", "--accepted_only"), {"accepted_only": 1, "min_score": 0}),
    ],
)
def test_answers_are_filtered(make, asked, dropped):
    statistics, pairs = make("import", "stackexchange", "--input", HERE, *asked)
    assert answers(pairs) == ["Too much water."]
    assert statistics["dropped"] == {"other_post": 1, **dropped, "empty": 0}


def test_a_file_that_is_truncated_or_of_another_form_is_named(refused, tmp_path):
    path = tmp_path / "Posts.xml"
    for content in ((HERE / "Posts.xml").read_text().replace("</posts>", ""), "7z\N{DEGREE SIGN}"):
        path.write_text(content)
        assert str(path) in refused("import", "stackexchange", "--input", path)
