import json

import pyarrow as pa
import pyarrow.parquet
import pytest

from common import sts
from common.errors import InputError
from common.sts import Columns
from common.tables import Dialect

COLUMNS = Columns("left", "right", "score")
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\n"
ROW = "main-{genre}\tfile\t2012\t0001\t{score}\t{one}\t{two}"


def row(score="2.5", genre="captions", one="a b", two="c d"):
    return ROW.format(genre=genre, score=score, one=one, two=two)


def read(path, columns=None):
    (source,) = sts.sources(path)
    return sts.read(source, columns)


@pytest.fixture
def year(write_text, tmp_path):
    """Two data sets of a year: one with source notes and an unjudged pair, one packed."""
    write_text("2016/STS2016.input.news.txt", "a b\tc d\tnote\tnote\ne\tf\tn\tn\ng\th\tn\tn\n")
    write_text("2016/STS2016.gs.news.txt", "5\n\n1.5\n")
    write_text("2016/STS2016.input.plagiarism.txt.gz", "i\tj\nk k\tl\nm\tn n\n")
    write_text("2016/STS2016.gs.plagiarism.txt", "0\n2\n4\n")
    write_text("2016/readme.txt", "nothing")
    return tmp_path / "2016"


def test_the_benchmark_has_raw_quotes_and_licence_columns(write_text):
    lines = [
        row(score="1.0", one='"An unclosed quote', two='it said "so".'),
        row(score="4.000", genre="news") + "\tPDDL\tsome url",
        row(score="5", one="line\u2028separator", two="caf\u00e9"),
    ]
    data = read(write_text("sts-test.csv", "\n".join(lines) + "\n"))
    assert data.name == "sts-test"
    assert [tuple(pair) for pair in data.pairs] == [
        ('"An unclosed quote', 'it said "so".', 1.0, "main-captions"),
        ("a b", "c d", 4.0, "main-news"),
        ("line\u2028separator", "caf\u00e9", 5.0, "main-captions"),
    ]
    windows = "\ufeff" + "\r\n".join(lines) + "\r\n\r\n"
    assert read(write_text("packed/sts-test.csv.gz", windows)) == data


def test_a_folder_gives_dev_and_test_and_train_stands_beside(write_text, tmp_path):
    for name in ("sts-dev.csv", "sts-test.csv.gz", "other.csv"):
        write_text(name, row() + "\n")
    assert [source.name for source in sts.sources(tmp_path)] == ["sts-dev", "sts-test"]
    with pytest.raises(InputError, match=r"sts-train\.csv"):
        sts.train_source(tmp_path)
    train = write_text("sts-train.csv.gz", row())
    assert sts.train_source(tmp_path / "sts-dev.csv").files == (train,)
    assert sts.train_source(tmp_path).name == "sts-train"
    write_text("sts-train.csv", row())
    with pytest.raises(InputError, match=r"sts-train\.csv\.gz"):
        sts.train_source(tmp_path)


def test_a_semeval_year_is_one_source(year):
    (source,) = sts.sources(year)
    assert source.name == "sts-2016"
    assert [path.name for path in source.files] == [
        *("STS2016.input.news.txt", "STS2016.gs.news.txt"),
        *("STS2016.input.plagiarism.txt.gz", "STS2016.gs.plagiarism.txt"),
    ]
    data = sts.read(source)
    assert [tuple(pair) for pair in data.pairs] == [
        ("a b", "c d", 5.0, "news"),
        ("g", "h", 1.5, "news"),
        ("i", "j", 0.0, "plagiarism"),
        ("k k", "l", 2.0, "plagiarism"),
        ("m", "n n", 4.0, "plagiarism"),
    ]
    assert (data.counts["unjudged_pairs"], data.sets) == (1, True)
    one = read(year / "STS2016.input.news.txt")
    assert (one.name, len(one.pairs), one.sets) == ("sts-STS2016.input.news", 2, False)
    assert source.provenance()["file"] == "STS2016.input.news.txt ... STS2016.gs.plagiarism.txt"


@pytest.mark.parametrize("scores", ["5\n1\n", "5\n9\n1\n"])
def test_scores_must_fit_the_sentences(year, write_text, scores):
    write_text("2016/STS2016.gs.news.txt", scores)
    with pytest.raises(InputError, match=r"gs\.news\.txt"):
        read(year)


def test_tables_of_scores_and_sick(write_text, tmp_path):
    write_text("sets/answers.test.tsv", "4\ta b\tc d\n\tnobody judged\tthis\n")
    write_text("sets/headlines.test.tsv", '1.25\t"e\tf\n')
    data = read(tmp_path / "sets")
    assert [(p.genre, p.gold, p.sentence1) for p in data.pairs] == [
        ("answers", 4.0, "a b"),
        ("headlines", 1.25, '"e'),
    ]
    assert data.counts["unjudged_pairs"] == 1
    part = read(write_text("SICK_part.txt", f"{SICK}1\ta b\tc d\t4.5\n2\te f\tg h\t1\n"))
    assert [(p.genre, p.gold) for p in part.pairs] == [("", 4.5), ("", 1.0)]
    head = SICK.replace("\n", "\tSemEval_set\n")
    whole = read(write_text("SICK.txt", f"{head}1\ta\tc\t4.5\tTRAIN\n2\te\tg\t3.3\tTEST\n"))
    assert [(p.genre, p.sentence2) for p in whole.pairs] == [("TRAIN", "c"), ("TEST", "g")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'score,id,left,right\n0.25,1,"a, b",c\n1,2,"d\n""e""",f\n'),
        ("a.tsv", 'id\tleft \tscore\tright\n1\ta, b\t0.25\tc\n\n2\t"d\n""e"""\t1\tf\n'),
        ("a.csv.gz", '\ufeff"left",right,score\r\n"a, b",c,0.25\r\n"d\n""e""",f,1\r\n'),
    ],
)
def test_columns_are_found_by_name(write_text, name, text):
    data = read(write_text(name, text), COLUMNS._replace(dialect=Dialect(quotes="rfc4180")))
    assert data.name == "sts-a"
    assert [tuple(pair) for pair in data.pairs] == [
        ("a, b", "c", 0.25, ""),
        ('d\n"e"', "f", 1.0, ""),
    ]


def test_json_lines_and_parquet_are_read_by_name(write_text, tmp_path):
    rows = [
        ("a b", "c", 10.5),
        ("d", "e", 3),
        ("\u200b\u3164", "f", 2),
        ("g", None, 1),
        ("h", "i", float("nan")),
    ]
    rows = [dict(zip(("left", "right", "score"), row, strict=True)) for row in rows]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    table = write_text("a.jsonl.gz", "\n".join(map(json.dumps, rows)))
    for path in (tmp_path / "a.parquet", table):
        data = read(path, COLUMNS)
        assert data.name == "sts-a"
        assert [tuple(pair) for pair in data.pairs] == [("a b", "c", 10.5, ""), ("d", "e", 3, "")]
        assert [*data.counts.values()] == [1, 2]


@pytest.mark.parametrize("score", ["score", "similarity_score", "label", "relatedness_score"])
def test_the_columns_of_known_names_need_not_be_named(write_text, tmp_path, score):
    rows = [{"sentence1": "a", "sentence2": "b", score: 0.25, "idx": 7}]
    rows += [{"sentence1": "c, d", "sentence2": "e", score: 1.0, "idx": 8}]
    write_text("own/train.jsonl", "")
    (tmp_path / "own" / "x").mkdir()
    table = pa.Table.from_pylist(rows)
    for number in (0, 1):
        name = f"validation-0000{number}-of-00002.parquet"
        pyarrow.parquet.write_table(table.slice(number, 1), tmp_path / "own" / name)
    write_text("own/more.jsonl", "\n".join(map(json.dumps, rows)))
    write_text("own/some.csv", f'idx,sentence1,sentence2,{score}\n7,a,b,0.25\n8,"c, d",e,1.0\n')
    found = sts.sources(tmp_path / "own")
    assert {source.name for source in found} == {"sts-more", "sts-some", "sts-validation"}
    tabs = write_text("own/tabs.tsv", f"sentence1\t{score}\tsentence2\na\t0.25\tb\nc, d\t1\te\n")
    for source in (*found, *sts.sources(tabs)):
        expected = [("a", "b", 0.25, ""), ("c, d", "e", 1.0, "")]
        assert [tuple(pair) for pair in sts.read(source).pairs] == expected
    both = write_text("own/both.jsonl", json.dumps(rows[0] | {"score": 1, "label": 1}))
    with pytest.raises(InputError, match=r"both\.jsonl:1: .*'label'"):
        read(both)
    by_id = read(both.with_name("some.csv"), Columns("sentence1", "sentence2", "idx"))
    assert [pair.gold for pair in by_id.pairs] == [7, 8]


def test_quotes_are_text_where_that_is_asked_for_or_they_are_escaped(write_text):
    path = write_text("a.csv", 'left,right,score\n"a,b,-100\nc,d",1e3\ne,f, \n')
    data = read(path, COLUMNS._replace(dialect=Dialect(quotes="none")))
    assert [pair[:3] for pair in data.pairs] == [('"a', "b", -100.0), ("c", 'd"', 1000.0)]
    assert data.counts["unjudged_pairs"] == 1
    path = write_text("a.csv", 'left,right,score\n"a \\"b\\", c",d,1\ne,f,2\n')
    data = read(path, COLUMNS._replace(dialect=Dialect(escape="\\")))
    assert data.pairs[0].sentence1 == 'a "b", c'
    with pytest.raises(InputError, match=r"a\.csv:2: .*--escape"):
        read(path, COLUMNS)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.csv", row("1") + "\na\tb\tc\n", "a.csv:2"),
        ("a.csv", f"{row('1')}\n{row(two=' ')}\n", "a.csv"),
        ("a.csv", f"{row('1')}\n{row('1')}\n", "a.csv"),
        ("a.tsv", "1\ta\tb\n2\tonly one\n", "a.tsv:2"),
        ("a.csv", "sentence1;label\na;1\n", "a.csv:1: .*sentence1.*score"),
        ("2016/STS2016.input.news.txt", "a b\tc d\ne f\ng\th\n", "input.news.txt:2"),
        ("SICK.txt", "1\ta\tb\t4\n", "SICK.txt:1"),
        ("x.input.y.txt", "a\tb\n", "x.gs.y.txt"),
        ("own.csv", "l,right,score\n", "own.csv:1"),
        ("own.csv", "left,right,score\na,b,1\na,b\n", "own.csv:3"),
        ("own.csv", "left,right,score\na,b,inf\n", "own.csv:2"),
        ("own.csv", "left,right,score\na,b,3_5\n", "own.csv:2: .*3_5"),
        ("own.csv", 'left,right,score\na,b,1\n"a,b,1\nc,d,2\n', "own.csv:3"),
        ("own.csv", "left,right,score\na,b,1\n".encode("utf-16"), "own.csv:1"),
        ("own.jsonl", '{"left": "a", "right": "b", "score": 1}\n{"left": "a"}', "own.jsonl:2"),
        ("own.jsonl", '{"left": "a", "right": 7, "score": 1}\n', "own.jsonl:1"),
        ("own.jsonl", '{"left": "a", "right": "b", "score": {}}\n', "own.jsonl:1"),
        ("own.parquet", "left", "own.parquet"),
        ("own.jsonl", "", "own.jsonl"),
        ("nothing.csv", None, "nothing.csv"),
        ("empty", None, "empty"),
    ],
)
def test_what_cannot_be_read_is_named(year, write_text, tmp_path, name, text, place):
    (tmp_path / "empty").mkdir()
    path = tmp_path / name if text is None else write_text(name, text)
    with pytest.raises(InputError, match=place) as raised:
        read(path, COLUMNS if name.startswith("own.") else None)
    assert "\n" not in str(raised.value)


def test_real_sets(real_data):
    (source,) = sts.sources(real_data / "sts2016")
    data = sts.read(source)
    assert (len(data.pairs), data.counts["unjudged_pairs"], data.sets) == (1186, 7997, True)
    assert {"answer-answer", "headlines"} <= {pair.genre for pair in data.pairs}
    assert len(read(real_data / "sts2017_track5").pairs) == 250
    assert len(sts.read(sts.train_source(real_data / "stsb")).pairs) == 5749
