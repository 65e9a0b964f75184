import pytest

from model.sts_regression.data.words import split_all


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("A man's dog.", "A man 's dog ."),
        ("You don't, do you?", "You do n't , do you ?"),
        ("It’s 3.5% of 1,000", "It 's 3.5 % of 1,000"),
        ("drive-ins (in the U.S.)", "drive - ins ( in the U.S. )"),
        ("at 5 p.m. or 'sixteen'.", "at 5 p.m. or ' sixteen ' ."),
        ("'quoted words'", "' quoted words '"),
        ("«Où est-ce?»", "« Où est - ce ? »"),
        ("wait...", "wait ..."),
        ("  ", ""),
    ],
)
def test_words_are_split_as_glove_has_them(sentence, words):
    assert split_all([sentence]) == [words.split()]
