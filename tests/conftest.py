import contextlib
import gc
import gzip
import importlib
import inspect
import io
import json
import logging
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

REPOSITORY = Path(__file__).parents[1]

# Until all modules are imported, nothing is garbage.
gc.disable()

# TensorFlow reports a GPU that is not there as an error. Must come before its import.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# Where make runs tests in several processes: what takes longest begins first, so that no process
# is left with it at the end.
LONGEST = (
    "tests/test_scores.py",
    "tests/model/training/test_resume.py",
    "tests/commands/",
    "tests/model/training/",
    "tests/model/checkpoints/",
    "tests/model/sts_regression/",
    "tests/export/",
    "tests/test_pretrained.py",
    "tests/benchmarks/test_workflow.py",
    "tests/data_pipeline/execution/",
    "tests/model/",
)
# Folders whose files share a trained model or a module: made once if one process has them all.
TOGETHER = (
    ("tests/commands/",),
    ("tests/export/",),
    ("tests/model/sts_regression/",),
    ("tests/model/training/", "tests/model/checkpoints/"),
)
# Files of few and long tests, which need not wait for each other.
APART = ("tests/model/training/test_resume.py", "tests/test_pretrained.py")


def unit_of(nodeid):
    """The tests that one process runs together: those of a file, or of such folders."""
    if nodeid.startswith(APART):
        return nodeid
    return next(filter(nodeid.startswith, TOGETHER), nodeid.partition("::")[0])


def pytest_collection_modifyitems(items):
    def place(item):
        found = (number for number, name in enumerate(LONGEST) if item.nodeid.startswith(name))
        return next(found, len(LONGEST))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class LongestFirst(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return unit_of(nodeid)

    config.option.loadscopereorder = False
    return LongestFirst(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """Undoes what a command sets for its whole process, so that no test depends on another."""
    loggers = [logging.getLogger(name) for name in ("", "absl", "apache_beam", "data_pipeline")]
    levels = [logger.level for logger in loggers]
    hook = threading.excepthook
    try:
        return (yield)
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        threading.excepthook = hook


def pytest_collection_finish():
    """What is imported by now stays: no later collection of garbage looks through it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def call(program, *arguments):
    """`python -m PROGRAM ARGUMENTS` in this process, which has TensorFlow; what it prints."""
    main = importlib.import_module(f"{program}.__main__").main
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main([*map(str, arguments)])
    return printed.getvalue()


def steps_of(folder):
    """The steps of the checkpoints in a model folder."""
    return sorted(int(path.stem[5:]) for path in folder.glob("ckpt-*.index"))


@pytest.fixture(scope="session")
def events():
    """Reads TensorBoard's events: the values of each tag of a folder, by step."""
    import tensorflow as tf

    def by_tag(folder):
        found = {}
        for record in tf.data.TFRecordDataset(sorted(map(str, folder.glob("events.*")))):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                found.setdefault(value.tag, {})[event.step] = tf.make_ndarray(value.tensor)
        return found

    return by_tag


def sample_world(folder, *size):
    """Makes a sample world in a folder, perhaps of a size: "--comments", how many."""
    call("data_pipeline", "sample", "--output", folder, *size)
    return folder


@pytest.fixture
def write_text(tmp_path):
    """Write a file under tmp_path, gzipped where its name says so, and return its path."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def write_vocabulary(tmp_path):
    """Makes a folder as the vocabulary command leaves it; counts by token."""

    def write(words, bigrams=()):
        folder = tmp_path / "vocabulary"
        folder.mkdir()
        outputs = {}
        for kind, counts in (("words", words), ("bigrams", dict.fromkeys(bigrams, 7))):
            path = folder / f"{kind}.tsv"
            path.write_text("".join(f"{token}\t{count}\n" for token, count in counts.items()))
            outputs[path.name] = {"bytes": path.stat().st_size, "records": len(counts)}
        (folder / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
        return str(folder)

    return write


@pytest.fixture(scope="session")
def save(tmp_path_factory):
    """A function that saves a module, or a function of texts as one, with signatures."""
    import tensorflow as tf

    def texts(*names):
        return [tf.TensorSpec([None], tf.string, name) for name in names]

    def save_module(module=None, **signatures):
        path = tmp_path_factory.mktemp("module")
        if not isinstance(module, tf.Module):

            class Module(tf.Module):
                if of_texts := module:
                    __call__ = tf.function(
                        lambda self, texts: type(self).of_texts(texts), input_signature=texts(None)
                    )

            module = Module()
        made = {
            name: tf.function(of, input_signature=texts(*inspect.signature(of).parameters))
            for name, of in signatures.items()
        }
        tf.saved_model.save(module, str(path), signatures=made or None)
        return path

    return save_module


@pytest.fixture
def sentence_transformers(monkeypatch):
    """Installs a package like it that has one model, text -> row, under all names but "missing"."""

    def install(row_of):
        class SentenceTransformer:
            device = SimpleNamespace(type="cpu")

            def __init__(self, name):
                assert "=" not in name
                if name == "missing":
                    raise OSError(f"{name} is not a model\nmore of it")

            def encode(self, texts, *, convert_to_numpy, show_progress_bar, batch_size):
                assert convert_to_numpy
                return np.array([row_of(text) for text in texts], np.float32)

            def state_dict(self):
                weights = SimpleNamespace(numpy=lambda: np.arange(3.0))
                return {"weights": SimpleNamespace(cpu=lambda: weights)}

        package = SimpleNamespace(SentenceTransformer=SentenceTransformer)
        monkeypatch.setitem(sys.modules, "sentence_transformers", package)

    return install


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data, where there is one."""
    folder = os.environ.get("CONVERSATIONS_DATA")
    if not folder:
        pytest.skip("CONVERSATIONS_DATA names no folder of real data")
    return Path(folder)
