import contextlib
import gc
import gzip
import importlib
import io
import json
import logging
import os
import threading
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]

# Until all modules are imported, nothing is garbage.
gc.disable()

# TensorFlow reports a GPU that is not there as an error. Must come before its import.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# Where make runs tests in several processes: what takes longest begins first, so that no process
# is left with it at the end.
LONGEST = (
    "tests/test_own_conversations.py",
    "tests/model/training/test_resume.py",
    "tests/commands/",
    "tests/model/training/",
    "tests/model/checkpoints/",
    "tests/model/sts_regression/",
    "tests/export/",
    "tests/test_scores.py",
    "tests/test_pretrained.py",
    "tests/test_end_to_end.py",
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


@pytest.fixture(scope="session")
def command():
    """Runs `python -m PROGRAM ARGUMENTS`."""
    return call


@pytest.fixture(scope="session")
def sample_world():
    """A function that makes a sample world in a folder."""

    def make(folder, *, comments=None):
        size = () if comments is None else ("--comments", comments)
        call("data_pipeline", "sample", "--output", folder, *size)
        return folder

    return make


@pytest.fixture(scope="session")
def four_steps():
    """A function that walks from dumps to report in a folder, each step by its command."""

    def walk(folder, *, corpora, preset, steps=None):
        data, module, results = folder / "data", folder / "module", folder / "results"
        call("data_pipeline", "reddit", "--input", f"{corpora}/reddit/RC_*", "--output", data)
        changes = {
            "task.train_data.input_path": f"{data}/train-*",
            "task.validation_data.input_path": f"{data}/test-*",
        }
        if steps:
            decay = "trainer.optimizer_config.learning_rate.polynomial.decay_steps"
            changes |= dict.fromkeys(("trainer.train_steps", decay), steps)
        call(
            *("model", "--experiment", "reddit", "--mode", "train_and_eval"),
            *("--model_dir", folder / "model", "--config_file", preset, "--params_override"),
            ",".join(f"{name}={value}" for name, value in changes.items()),
        )
        call("export", "--model_dir", folder / "model", "--output", module)
        sets = {"response_ranking": data, "sts": f"{corpora}/stsb", "cqa": f"{corpora}/semeval_cqa"}
        for task, path in sets.items():
            call("evaluation", task, "--data", path, "--module", module, "--output", results)
        report = folder / "report.html"
        table = call("evaluation", "report", "--results", results, "--output", report)
        return {
            "table": table,
            "page": report.read_text(),
            "results": {path.stem: json.loads(path.read_text()) for path in results.glob("*.json")},
        }

    return walk


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


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data, where there is one."""
    folder = os.environ.get("CONVERSATIONS_DATA")
    if not folder:
        pytest.skip("CONVERSATIONS_DATA names no folder of real data")
    return Path(folder)
