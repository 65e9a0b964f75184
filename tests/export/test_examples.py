"""The programs of `examples/`, on a small module."""

import json
import runpy
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

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
