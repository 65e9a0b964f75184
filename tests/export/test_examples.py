"""The programs of `examples/`, on a small module."""

import json
import runpy
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import evaluation

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = ["where is my order", "i like tea", "where is my order", "good morning", "thanks"]


@pytest.fixture
def run(shared, tmp_path, capsys):
    """Runs an example on the module; its printed lines."""

    def call(name, *arguments):
        main = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]
        main([str(shared / "module"), *map(str, arguments)])
        return [line for line in capsys.readouterr().out.splitlines() if line]

    return call


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n")
    return path


def test_they_are_short():
    lines = {path.name: path.read_text().count("\n") for path in EXAMPLES.glob("*.py")}
    assert lines
    assert {name: count for name, count in lines.items() if count > 60} == {}


def test_semantic_search(run, texts, tmp_path):
    lines = run("semantic_search", "i like tea", texts, "--index", tmp_path / "index", "--top", 2)
    assert len(lines) == 2
    assert lines[0] == "1.000  i like tea"


def test_response_suggestion(run, texts):
    lines = run("response_suggestion", texts, "hello")
    assert 1 <= len(lines) <= 3
    assert len(set(lines)) == len(lines)
    assert set(lines) <= set(TEXTS)


def test_faq_matching(run, tmp_path):
    faq = tmp_path / "faq.tsv"
    faq.write_text("where is my order\ton its way\nwhen are you open\talways\n")
    assert run("faq_matching", faq, "where is my order") == [
        "where is my order (1.000)",
        "on its way",
    ]
    (line,) = run("faq_matching", faq, "i like tea", "--threshold", 1.1)
    assert line.startswith("no question fits; the nearest is '")


def test_near_duplicates(run, texts):
    assert run("near_duplicates", texts, "--threshold", 0.9999) == [*TEXTS[:2], *TEXTS[3:]]


def test_near_duplicates_over_blocks():
    example = runpy.run_path(str(EXAMPLES / "near_duplicates.py"))
    distinct = example["distinct"]
    distinct.__globals__["BLOCK"] = 2
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0], [-1, 0], [0.8, 0.6]])
    assert distinct(vectors, threshold=0.9) == [0, 1, 2, 4]
    assert distinct(vectors, threshold=0.75) == [0, 1, 4]


def test_clustering(run, texts):
    lines = run("clustering", texts, "--clusters", 2)
    sizes = [int(line.split()[0]) for line in lines if line.endswith(" texts")]
    assert sum(sizes) == len(TEXTS)
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--trainable"]], ids=["frozen", "trainable"])
def test_keras_classifier(run, tmp_path, options):
    rows = [f"order\twhere is my order {i}\nhello\tgood morning {i}" for i in range(20)]
    data = tmp_path / "data.tsv"
    data.write_text("\n".join(rows) + "\n")
    (line,) = run("keras_classifier", data, data, tmp_path / "saved", "--epochs", 40, *options)
    assert line.endswith("on 40 texts; labels: hello, order")
    assert float(line.split()[1]) > 0.9
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    (probabilities,) = loaded.signatures["serving_default"](tf.constant(["good morning"])).values()
    np.testing.assert_allclose(probabilities.numpy().sum(axis=1), [1.0], atol=1e-5)


def test_http_server(shared):
    server = runpy.run_path(str(EXAMPLES / "http_server.py"))["server"](str(shared / "module"), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def ask(body):
        url = f"http://localhost:{server.server_address[1]}"
        with urllib.request.urlopen(url, json.dumps(body).encode(), timeout=60) as answer:
            return json.load(answer)

    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, [[text, "and"] for text in TEXTS]))
        np.testing.assert_allclose(answers[0], answers[2], atol=1e-6)
        np.testing.assert_allclose(answers[0][1], answers[3][1], atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(answers[1], axis=1), [1, 1], atol=1e-5)
        for body in ([], "text", [1]):
            with pytest.raises(urllib.error.HTTPError) as raised:
                ask(body)
            raised.value.close()
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_train_on_chat(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(EXAMPLES.parent)
    lines = []
    for n in range(1200):
        lines += [{"no": f"q{n}", "said": f"question{n} please"}]
        lines += [{"no": f"a{n}", "to": f"q{n}", "said": f"answer{n} to question{n}"}]
    messages = tmp_path / "chat.jsonl"
    messages.write_text("".join(json.dumps(line) + "\n" for line in lines))
    main = runpy.run_path(str(EXAMPLES / "train_on_chat.py"))["main"]
    given = ["--fields", "no", "to", "said", "--steps", "30"]
    main([str(messages), str(tmp_path / "chat"), *given])
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("the true reply is first among 100: ")
    assert float(said.split()[7].rstrip("%")) > 50  # the two share a word
    for made in ("pairs/COMPLETED", "module/README.md", "results/response_ranking.json"):
        assert (tmp_path / "chat" / made).exists()


@pytest.fixture
def sts(tmp_path):
    """STS pairs, as a CSV file with a header and as a file of the STS Benchmark."""
    # No text twice: the order of cosines of 1 would be that of their rounding.
    both = combinations(enumerate(dict.fromkeys(TEXTS)), 2)
    pairs = [(first, second, 5.0 - (j - i)) for (i, first), (j, second) in both]
    table = "".join(f"{a},{b},{gold}\n" for a, b, gold in pairs)
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,score\n" + table)
    lines = "".join(f"g\tf\ty\t{n}\t{gold}\t{a}\t{b}\n" for n, (a, b, gold) in enumerate(pairs))
    (tmp_path / "sts-test.csv").write_text(lines)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file", "needs"),
    [
        ("sentence_transformers_evaluator", "pairs.csv", "sentence_transformers"),
        ("mteb_task", "sts-test.csv", "mteb"),
    ],
)
def test_other_programs_find_the_same_scores(shared, sts, name, file, needs):
    """In a process of its own: PyTorch must be imported before TensorFlow."""
    if find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", shared / "module", sts / file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    encoder = evaluation.load_encoder(shared / "module")
    (ours,) = evaluation.evaluate(encoder, "sts", sts / "sts-test.csv", output=sts / "results")
    spearman = found.get("spearman") or found["spearman_cosine"]
    assert float(spearman) == pytest.approx(ours.metrics["spearman"], abs=2e-4)
    if "pearson" in found:
        assert float(found["pearson"]) == pytest.approx(ours.metrics["pearson"], abs=2e-4)
