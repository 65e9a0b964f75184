"""What evaluation sets say, taken out of the pairs."""

import gzip

import orjson
import pyarrow as pa
import pytest
from apache_beam.pvalue import TaggedOutput

from common.errors import InputError
from data_pipeline.pairs.decontamination import (
    EXCLUDED,
    Excluded,
    decontaminate,
    find_texts,
    normalize,
    read_texts,
)
from data_pipeline.pairs.schema import pairs_schema


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man is  playing.", "a man is playing"),
        ("“A man, is playing!”", "a man is playing"),
        ("ＦＵＬＬ width", "full width"),
        ("STRASSE straße", "strasse strasse"),
        ("snake_case", "snake case"),
        ("...", ""),
    ],
)
def test_normalization_keeps_words_only(text, words):
    assert normalize(text) == words


def test_texts_of_every_kind_of_file(tmp_path):
    contents = {
        "lines.txt": "One fish.\nTwo fish.\n",
        "sts.csv": "main\tnews\t4.2\tOne fish.\tTwo fish.\n",
        "nli.jsonl": '{"sentence1": "One fish.", "more": [{"x": "Two fish."}], "n": 3}\n',
        "cqa.xml": "<a><b>One fish.</b><c d='e'>Two fish.</c></a>",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
        for path in (tmp_path / name, tmp_path / f"{name}.gz"):
            assert {"One fish.", "Two fish."} <= set(read_texts(str(path))), path


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.pdf", b"x", r"a.pdf': accepted: \.txt"),
        ("a.jsonl", b'{"a": 1}\n{', "a.jsonl', line 2"),
        ("a.xml", b"<a>", "a.xml': no element|a.xml': "),
        ("a.txt", b"\xff\xfe\xff", "a.txt' cannot be read"),
        ("a.txt.gz", b"no archive", "a.txt.gz' cannot be read"),
    ],
)
def test_files_that_are_none_are_named(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=reason):
        Excluded([str(tmp_path / name)])
    with pytest.raises(InputError, match="cannot be read"):
        Excluded([str(tmp_path / "nowhere.txt")])


def test_pairs_are_removed_by_either_text_and_listed(tmp_path):
    path = tmp_path / "sts.tsv"
    path.write_text("4.2\tA man is playing.\tok\n")
    excluded = Excluded([str(path)])
    assert len(excluded) == 1  # scores and very short texts exclude nothing

    def pair(text, response):
        ids = {"input_id": "i", "response_id": f"r {text}", "thread_id": "t", "subreddit": "s"}
        return {"input": text, "response": response, **ids}

    kept = pair("A man is playing golf", "yes")
    pairs = [pair("a MAN is playing", "yes"), kept, pair("What is he doing?", "A man: is playing")]
    batch = pa.RecordBatch.from_pylist(pairs, schema=pairs_schema(0))
    outputs = list(decontaminate(batch, excluded=excluded))
    assert outputs[0].to_pylist() == batch.slice(1, 1).to_pylist()
    (lines,) = [
        out.value for out in outputs if isinstance(out, TaggedOutput) and out.tag == EXCLUDED
    ]
    listed = [orjson.loads(line) for line in lines.splitlines()]
    assert [row["input"] for row in listed] == ["a MAN is playing", "What is he doing?"]
    assert {row["file"] for row in listed} == {str(path)}


def test_the_digest_tells_whether_any_text_changed(tmp_path):
    path = tmp_path / "a.txt"
    digests = []
    for content in ("one fish\ntwo fish", "two fish\none fish", "one fish\ntwo fishes"):
        path.write_text(content)
        digests.append(Excluded([str(path)]).digest())
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_without_tabs_has_fields_between_commas(tmp_path, end):
    path = tmp_path / "eval.csv"
    rows = [
        "id,question,answer",
        '1,"One fish, he said",Two fish',
        '2,"Over',
        'two lines","a ""b"""',
    ]
    path.write_bytes(end.join([*rows, ""]).encode())
    found = set(read_texts(str(path)))
    assert {"One fish, he said", "Two fish", f"Over{end}two lines", 'a "b"'} <= found
    assert '1,"One fish, he said",Two fish' in {text.strip() for text in found}
    excluded = Excluded([str(path)])
    assert excluded.find("one fish he said")
    assert excluded.find("over two lines")
    path.write_text('a "quoted, word,x\n"never closed, two fish\n')
    assert {'a "quoted', " word", " two fish"} <= set(read_texts(str(path)))


def test_a_csv_with_a_tab_in_a_field_is_still_separated_by_commas(tmp_path):
    path = tmp_path / "eval.csv"
    path.write_text('1,"Two fish",x\n2,"with a\ttab in it",y\n3,Red fish,z\n')
    assert {"Two fish", "with a\ttab in it", "Red fish"} <= set(read_texts(str(path)))
    path.write_text("1\tTwo, red fish\n2\tOne fish\n\n3 no tab, here\n")
    assert "Two" not in set(read_texts(str(path)))


@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.csv", ";"), ("a.csv", "|"), ("a.csv", ","), ("a.tsv", "\t")]
)
def test_a_row_whose_quotes_are_none_of_csvs_costs_one_row(tmp_path, name, delimiter):
    path = tmp_path / name
    rows = [["question", "answer"], ['"Two\nred fish"', "One fish"], ['"A 5" pipe', "Blue fish"]]
    path.write_text("".join(f"{delimiter.join(row)}\n" for row in [*rows, rows[1]]))
    assert {"Two\nred fish", "One fish", '"A 5" pipe', "Blue fish"} <= set(read_texts(str(path)))


def test_a_file_without_a_text_is_an_error(tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("\n\n")
    with pytest.raises(InputError, match=f"--exclude_texts: '{path}' has no text"):
        Excluded([str(path)])


def test_a_field_of_csv_may_be_long(tmp_path):
    long = "word " * 50_000
    (tmp_path / "eval.csv").write_text(f'1,"{long}"\n')
    assert long in set(read_texts(str(tmp_path / "eval.csv")))


def test_the_whole_text_of_halves_counts_too(tmp_path):
    path = tmp_path / "sts.txt"
    path.write_text("One fish. Two fish.\n")
    for are_halves in (False, True):
        excluded = Excluded([str(path)], are_halves=are_halves)
        assert (excluded.find_pair("One fish!", "two FISH") is not None) == are_halves
        assert excluded.find_pair("two fish", "one fish") is None


def test_values_may_be_nested_deeply(tmp_path):
    path = tmp_path / "sets.jsonl"
    path.write_text("[" * 1000 + '"a text", {"k": ["another"]}' + "]" * 1000 + "\n")
    assert sorted(read_texts(str(path))) == ["a text", "another"]


def test_a_file_that_cannot_be_read_is_one_error(tmp_path):
    (tmp_path / "a.txt").symlink_to(tmp_path / "gone")
    with pytest.raises(InputError, match=r"--exclude_texts: '.*\*.txt': .*No such file"):
        find_texts([f"{tmp_path}/*.txt"])
