"""The programs of `examples/`, on the module in the repository."""

import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

EXAMPLES = Path(__file__).parents[2] / "examples"
PRETRAINED = EXAMPLES.parent / "pretrained" / "conversations-small"
TEXTS = ["where is my order", "i like tea", "where is my order", "good morning", "thanks"]
BATTERY = [
    "the battery dies after an hour",
    "my battery is empty after an hour",
    "the battery does not charge",
]
LOGIN = [
    "I cannot log in to my account",
    "my account is locked and I cannot log in",
    "the login to my account fails",
]
REPLIES = ["I am twenty years old.", "It is next to the train station.", "Yes, I love pizza."]
FAQ = {
    "How can I return my order?": "Print the label, and send it back.",
    "When does the store open?": "At nine.",
    "How do I change my password?": "In your account's settings.",
    "Do you ship to Canada?": "Yes.",
}

pytestmark = pytest.mark.usefixtures("loaded_once")


@pytest.fixture
def run(capsys):
    """Runs an example on a module; its printed lines."""

    def call(name, *arguments, module=PRETRAINED):
        main = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]
        main([str(module), *map(str, arguments)])
        return [line for line in capsys.readouterr().out.splitlines() if line]

    return call


@pytest.fixture
def write(write_text):
    """Writes a file with a text on each line."""
    return lambda name, lines: write_text(name, "".join(f"{line}\n" for line in lines))


def test_semantic_search(run, write, tmp_path):
    given = [write("texts.txt", [*BATTERY, *LOGIN]), "--index", tmp_path / "index", "--top", 3]
    lines = run("semantic_search", "logging in does not work", *given)
    scores, texts = zip(*(line.split("  ", 1) for line in lines), strict=True)
    assert set(texts) == set(LOGIN)
    assert list(scores) == sorted(scores, reverse=True)


def test_response_suggestion(run, write):
    replies = write("replies.txt", [*REPLIES, REPLIES[0].rstrip(".")])  # two say the same
    for message, reply in (("How old are you?", 0), ("Which way is the station?", 1)):
        lines = run("response_suggestion", replies, message)
        assert lines[0].rstrip(".") == REPLIES[reply].rstrip(".")
        assert len(lines) == 3


def test_faq_matching(run, write):
    faq = write("faq.tsv", [f"{question}\t{answer}" for question, answer in FAQ.items()])
    asked = "can I send my order back?"
    question, match, answer, other, line = run("faq_matching", faq, asked, "my cat likes fish")
    assert (question, other) == (asked, "my cat likes fish")
    assert match.startswith("How can I return my order? (0.")
    assert answer == FAQ["How can I return my order?"]
    assert line.startswith("no question fits; the nearest is ")
    faq = write("faq.tsv", ['"Where is my order\tOn its way', 'Is it "safe"?\t"Yes'])
    assert run("faq_matching", faq, "where is my order?")[2] == "On its way"


@pytest.mark.parametrize(
    ("example", "lines", "more"),
    [
        ("near_duplicates", [], ()),
        ("clustering", [], ()),
        ("faq_matching", [], ("a question",)),
        ("faq_matching", ["a\tb", "c"], ("a question",)),
        ("keras_classifier", ["order\twhere", "hello"], ("good.tsv", "nowhere")),
        ("keras_classifier", ["order\twhere"], ("good.tsv", "nowhere")),  # another label
    ],
)
def test_what_cannot_be_read_is_named(run, write, capsys, monkeypatch, example, lines, more):
    path = write("bad.tsv", lines)
    monkeypatch.chdir(write("good.tsv", ["hello\tgood\u2028morning"]).parent)
    with pytest.raises(SystemExit) as raised:
        run(example, path, *more)
    named = "good.tsv: 'hello'" if lines == ["order\twhere"] else "bad.tsv"
    assert named in f"{raised.value.code} {capsys.readouterr().err}"


def test_near_duplicates(run, write):
    texts = ["The battery dies after an hour.", "Where is my package?"]
    copies = [texts[0], "The battery is dead after one hour.", texts[1], texts[0]]
    given = [write("texts.txt", copies), "--threshold", 0.85]
    assert run("near_duplicates", *given) == texts


def test_near_duplicates_over_blocks():
    example = runpy.run_path(str(EXAMPLES / "near_duplicates.py"))
    distinct = example["distinct"]
    distinct.__globals__["BLOCK"] = 2
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0], [-1, 0], [0.8, 0.6]])
    assert distinct(vectors, threshold=0.9) == [0, 1, 2, 4]
    assert distinct(vectors, threshold=0.75) == [0, 1, 4]


def test_clustering(run, write):
    mixed = [text for both in zip(BATTERY, LOGIN, strict=True) for text in both]
    lines = run("clustering", write("texts.txt", [*mixed, BATTERY[0]]), "--clusters", 2)
    assert (lines[0], lines[4]) == ("4 texts", "3 texts")
    assert {line.strip() for line in lines[1:4]} <= set(BATTERY)
    assert {line.strip() for line in lines[5:]} == set(LOGIN)


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--trainable"]], ids=["frozen", "trainable"])
def test_keras_classifier(run, shared, tmp_path, options):
    """The module in the repository has int8 tables, which cannot be trained further."""
    module = shared / "module" if options else PRETRAINED
    rows = [f"order\twhere is my order {i}\nhello\tgood morning {i}" for i in range(20)]
    data = tmp_path / "data.tsv"
    data.write_text("\n".join(rows) + "\n")
    (line,) = run(
        "keras_classifier", data, data, tmp_path / "saved", "--epochs", 40, *options, module=module
    )
    assert line.endswith("on 40 texts; labels: hello, order")
    assert float(line.split()[1]) > 0.9
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    (probabilities,) = loaded.signatures["serving_default"](tf.constant(["good morning"])).values()
    np.testing.assert_allclose(probabilities.numpy().sum(axis=1), [1.0], atol=1e-5)


@pytest.fixture
def http_server():
    """A server that answers; with the names of its program."""
    example = runpy.run_path(str(EXAMPLES / "http_server.py"))
    with example["Server"](PRETRAINED, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, example
        server.shutdown()


JSON = {"Content-Type": "application/json"}


def post(server, body, headers=JSON, method="POST"):
    """Status, type and content of an answer; `headers` may name another length than the body's."""
    client = HTTPConnection(*server.server_address, timeout=60)
    client.putrequest(method, "/")
    for name, value in ({"Content-Length": str(len(body))} | headers).items():
        if value is not None:
            client.putheader(name, value)
    client.endheaders(body)
    with client.getresponse() as answer:
        found = answer.status, answer.headers["Content-Type"], json.load(answer)
    client.close()
    return found


def test_http_server_answers_with_vectors(http_server):
    server, _ = http_server

    def ask(text):
        status, kind, rows = post(server, json.dumps([text, "and"]).encode())
        assert (status, kind) == (200, "application/json")
        return rows

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, TEXTS))
    np.testing.assert_allclose(answers[0], answers[2], atol=1e-6)
    np.testing.assert_allclose(answers[0][1], answers[3][1], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(answers[1], axis=1), [1, 1], atol=1e-5)
    assert post(server, b"[]")[2] == []
    assert post(server, b"", method="PUT")[:2] == (501, "application/json")


@pytest.mark.parametrize(
    ("status", "body", "headers", "named"),
    [
        (400, b'"text"', {}, "str"),
        (400, b'["\xff"]', {}, "JSON"),
        (400, b"", {"Content-Length": "much"}, "much"),
        (411, b"", {"Content-Length": None, "Transfer-Encoding": "chunked"}, "Content-Length"),
        (413, b"", {"Content-Length": "1000001"}, "1000001"),
        (413, json.dumps([""] * 1001).encode(), {}, "1001"),
        (415, b'["a"]', {"Content-Type": "application/x-www-form-urlencoded"}, "form"),
    ],
)
def test_http_server_says_what_it_refuses(http_server, status, body, headers, named):
    server, _ = http_server
    found, kind, content = post(server, body, JSON | headers)
    assert (found, kind) == (status, "application/json")
    assert named in content["error"]
    assert len(post(server, b'["next"]')[2]) == 1


def test_http_server_refuses_connections_above_its_limit(http_server):
    server, example = http_server
    most = example["MOST_CONNECTIONS"]
    with ExitStack() as held:
        for _ in range(most):
            held.enter_context(socket.create_connection(server.server_address))
        one_more = held.enter_context(socket.create_connection(server.server_address, timeout=60))
        head, _, content = b"".join(iter(lambda: one_more.recv(4096), b"")).partition(b"\r\n\r\n")
        assert head.split()[1] == b"503"
        assert b"Content-Type: application/json" in head
        assert json.loads(content)["error"]
    for _ in range(100):  # until the threads have seen that their connections are closed
        with suppress(ConnectionError):
            if post(server, b'["a"]')[0] == 200:
                break
        time.sleep(0.1)
    assert post(server, b'["a"]')[0] == 200


def test_http_server_says_where_it_listens_or_why_not(tmp_path):
    command = [sys.executable, EXAMPLES / "http_server.py", PRETRAINED]
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES.parent / "runtime")}
    # What runs in the background of a shell ignores it, and so do its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen([*command, "0"], stdout=subprocess.PIPE, text=True, env=environment)
    signal.signal(signal.SIGINT, before)
    try:
        (port,) = re.findall(r"http://localhost:(\d+)$", process.stdout.readline())
        with socket.create_connection(("localhost", int(port))):
            pass
        taken = subprocess.run([*command, port], capture_output=True, env=environment, check=False)
        assert taken.returncode == 1
        assert port.encode() in taken.stderr and taken.stderr.count(b"\n") == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    main = runpy.run_path(str(EXAMPLES / "http_server.py"))["main"]
    for module, port in ((tmp_path, "8000"), (PRETRAINED, "70000")):
        with pytest.raises(SystemExit, match=port if port == "70000" else str(tmp_path)) as raised:
            main([str(module), port])
        assert "\n" not in raised.value.code


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
