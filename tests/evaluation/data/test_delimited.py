import re

import pytest

from evaluation.data import delimited, sts_files
from evaluation.errors import InputError

COLUMNS = sts_files.Columns("left", "right", "score")


def read(path, columns=COLUMNS):
    (source,) = sts_files.find(path)
    return sts_files.read(source, columns)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'score,id,left,right\n0.25,1,"a, b",c\n1,2,"d\n""e""",f\n'),
        ("a.tsv", 'id\tleft\tscore\tright\n1\ta, b\t0.25\tc\n\n2\t"d\n""e"""\t1\tf\n'),
        ("a.csv", '\ufeffleft;right;score\r\na, b;c;0.25\r\n"d\n""e""";f;1\r\n'),
        ("a.csv.gz", 'left|right|score\na, b|c|0.25\n"d\n""e"""|f|1\n'),
    ],
)
def test_columns_are_found_by_name(write_text, name, text):
    data = read(write_text(name, text))
    assert data.name == "sts-a"
    assert [(p.sentence1, p.sentence2, p.gold) for p in data.pairs] == [
        ("a, b", "c", 0.25),
        ('d\n"e"', "f", 1.0),
    ]


def test_quotes_may_be_text(write_text):
    path = write_text("a.tsv", 'left\tright\tscore\n"a\tb\t-100\nc\td"\t1e3\n')
    data = read(path, COLUMNS._replace(quotes=False))
    assert [(p.sentence1, p.sentence2, p.gold) for p in data.pairs] == [
        ('"a', "b", -100.0),
        ("c", 'd"', 1000.0),
    ]


def test_a_pair_without_a_score_is_left_out_and_counted(write_text):
    data = read(write_text("a.csv", "left,right,score\na,b,1\nc,d, \ne,f,2\n"))
    assert (len(data.pairs), data.unjudged) == (2, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "l,right,score\n",
            ":1: the header has no column 'left'; its columns are 'l', 'right', 'score'",
        ),
        ("left,left,right,score\n", ":1: the header has more than one column 'left'; "),
        ("left,right,score\ra,b,1\r", ":1: lines end with a carriage return; line feeds are"),
        ("", ":1: no header; the names of the columns are accepted there"),
        ("left,right,score\na,b,1\na,b\n", ":3: 2 fields; the header has 3"),
        ("left,right,score\na,b,3 of 5\n", ":2: score is '3 of 5'; a number is accepted"),
        ("left,right,score\na,b,nan\n", ":2: score is 'nan'; a number is accepted"),
        ("left,right,score\na,b,1\n ,b,1\n", ":3: left is ' '; text is needed"),
        ('left,right,score\na,b,1\n"a,b,1\nc,d,2\n', ":3: unexpected end of data; a field in"),
        ("left,right,score\na,b,1\n", ": holds 1 pairs; a correlation needs at least 2"),
        ("left,right,score\na,b,\nc,d,\n", ": holds 0 pairs, and 2 without a score; a corr"),
        ("left,right,score\na,b,1\nc,d,1\n", ": every score is 1.0; a correlation needs two"),
        ("left,right,score\na,b,1\n".encode("utf-16"), ":1: not UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_named(write_text, text, says):
    path = write_text("a.csv", text)
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}{says}')}") as raised:
        read(path)
    assert "\n" not in str(raised.value)


def test_advice_on_quotes_is_given_for_quotes_alone(write_text):
    path = write_text("a.csv", "left,right,score\na,b,1\na\rb,c,1\n")
    with pytest.raises(InputError, match=r"lines end with a line feed$"):
        list(delimited.read(path, ["left"]))
    long = write_text("b.csv", f"left,right,score\n{'a' * 200_000},b,1\n")
    ((_, (text,)),) = delimited.read(long, ["left"])
    assert len(text) == 200_000


def test_a_name_like_semevals_is_no_matter_for_a_table(write_text):
    (source,) = sts_files.find(write_text("pairs.input.csv", "left,right,score\na,b,1\n"))
    assert source.name == "sts-pairs.input"


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(InputError, match="not a regular file; a CSV or TSV file is accepted"):
        next(delimited.read(tmp_path, ["a"]))
