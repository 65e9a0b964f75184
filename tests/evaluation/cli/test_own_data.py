"""`sts --columns` and `retrieval`: data of the user's own, from the files to the report."""

import json

import pytest

from evaluation.__main__ import main

PAIRS = "left,right,score\nred house,a house,90\nnuts,oats,40\n,,\nrents,the road,5\n"
MORE = "".join(f"the dog {'runs ' * i}, the dog runs,{10 * i}\n" for i in range(7))


@pytest.fixture
def files(write_text):
    write_text("pairs.csv", PAIRS.replace(",,\n", "") + MORE)
    write_text("queries.tsv", "q1\tred house\nq2\tnuts\n")
    write_text("documents.tsv", "d1\tthe red house\nd2\tnuts and oats\n")
    write_text("qrels.txt", "q1 0 d1 1\nq2 0 d2 1\n")


@pytest.fixture
def retrieval(tmp_path):
    names = {"queries": "queries.tsv", "documents": "documents.tsv", "relevant": "qrels.txt"}
    return [part for name, file in names.items() for part in (f"--{name}", str(tmp_path / file))]


def test_from_files_to_report(module, files, retrieval, tmp_path, capsys):
    output = ["--output", str(tmp_path / "results")]
    columns = ("left", "right", "score")
    sts = ["sts", "--data", str(tmp_path / "pairs.csv"), "--columns", *columns]
    assert main([*sts, "--module", str(module), *output]) == 0
    assert main(["retrieval", *retrieval, "--module", str(module), *output]) == 0
    printed = capsys.readouterr().out
    assert "sts-pairs" in printed
    assert "BM25" in printed
    stored = json.loads((tmp_path / "results" / "sts-pairs.json").read_text())
    assert stored["settings"]["columns"] == "left, right, score"
    assert set(stored["intervals"]) == {"pearson", "spearman"}
    stored = json.loads((tmp_path / "results" / "retrieval-qrels.json").read_text())
    assert stored["metrics"]["mrr_at_10"] == 1.0
    assert stored["data"]["files"] == ["queries.tsv", "documents.tsv", "qrels.txt"]

    baselines = ["baselines", "--sts", str(tmp_path / "pairs.csv"), "--sts_columns", *columns]
    assert main([*baselines, *retrieval, *output]) == 0
    assert (tmp_path / "results" / "baselines" / "TF-IDF" / "retrieval-qrels.json").exists()

    page = tmp_path / "report.html"
    assert main(["report", "--results", str(tmp_path / "results"), "--output", str(page)]) == 0
    lines = page.with_suffix(".md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:5]] for line in lines]
    for system, kind in ((module.name, "ours"), ("TF-IDF", "baseline"), ("BM25", "baseline")):
        assert ["Retrieval", "qrels", system, kind] in rows
    assert "qrels: 2 queries, 2 documents." in page.read_text()

    capsys.readouterr()
    again = ["sts", "--data", str(tmp_path / "pairs.csv"), "--columns", "right", "left", "score"]
    assert main([*again, "--module", str(module), *output]) == 1
    assert (
        "already there, of columns left, right, score, not right, left" in capsys.readouterr().err
    )


def test_baselines_read_quotes_as_text_too(write_text, tmp_path, fails):
    quoted = write_text("quoted.csv", MORE.replace("the dog runs", '"the" dog runs'))
    quoted.write_text(f"left,right,score\n{quoted.read_text()}".replace(", ", ","))
    asked = ["baselines", "--sts", quoted, "--sts_columns", "left", "right", "score"]
    asked += ["--output", tmp_path / "results"]
    assert "--no_quotes reads quotes as text" in fails(*asked)
    assert main([*map(str, asked), "--no_quotes"]) == 0
    stored = json.loads((tmp_path / "results/baselines/TF-IDF/sts-quoted.json").read_text())
    assert stored["settings"]["quotes"] is False
    assert stored["items"][0]["sentence2"] == '"the" dog runs'


def test_bad_input_is_one_line(files, retrieval, write_text, tmp_path, fails):
    bad = write_text("bad.csv", PAIRS)
    module = ["--module", tmp_path / "none", "--output", tmp_path / "results"]
    sts = ["sts", *module, "--columns", "left", "right", "score"]
    assert f"{bad}:4: left is ''; text is needed" in fails(*sts, "--data", bad)
    assert "--tune: accepted without --columns" in fails(*sts, "--data", bad, "--tune")
    assert "--no_quotes: accepted with --columns" in fails(
        "sts", *module, "--data", bad, "--no_quotes"
    )
    assert "no such file" in fails("retrieval", *module, *retrieval[:-1], tmp_path / "nowhere")
    baselines = ["baselines", "--output", tmp_path / "results"]
    assert "--relevant is missing; retrieval needs --queries, --documents, --relevant" in fails(
        *baselines, *retrieval[:-2]
    )
