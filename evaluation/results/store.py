"""Results as JSON files, written whole or not at all: each is read, or computed and written."""

import platform
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from common.errors import InputError
from common.files import claim, write_json
from common.text_files import Source
from evaluation.data.origin import provenance
from evaluation.results import measure, text
from evaluation.results.result import DECLARED, RETRIEVAL, TASKS, Result, checked, facts

PACKAGES = ("tensorflow", "tensorflow-text", "numpy", "scipy")
"""Those whose versions a result names."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A data set to score, and how."""

    source: Source
    compute: Callable[[], Result]
    module: dict | None  # its provenance; None where none is scored
    learned_from: Sequence[Source] = ()  # what something was learned or chosen on before
    settings: Mapping[str, Any] = field(default_factory=dict)  # also of a stored result
    resampled: bool = True  # else `compute` adds the intervals

    def result(self, *, seed: int, command: str) -> Result:
        """Return the result, computed, with its intervals and provenance."""
        started = time.perf_counter()
        result = self.compute()
        result = replace(result, settings={**result.settings, **self.settings})
        if self.resampled:
            result = measure.with_intervals(result, seed=seed)
        return replace(
            result,
            data=provenance(self.source, self.learned_from),
            module=self.module,
            versions={"python": platform.python_version()}
            | {name.replace("-", "_"): metadata.version(name) for name in PACKAGES},
            command=command,
            seconds=round(time.perf_counter() - started, 3),
        )


@dataclass(frozen=True, kw_only=True)
class Store:
    """The folder that a command writes its results to; a result is for one process at a time.

    A result of the same data, module and settings is not computed again unless `again` says so.
    One of other data, another module or other settings is an error.
    """

    output: Path
    command: str = field(
        default_factory=lambda: shlex.join(["python", "-m", "evaluation", *sys.argv[1:]])
    )
    seed: int = 0
    again: bool = False
    say: Callable[[str], None] = print

    def results(self, evaluations: Sequence[Evaluation]) -> list[Result]:
        """Return each result, from its file or computed; say each as soon as it is there."""
        found = []
        # Another result of one of these names is an error before any is computed.
        for asked, stored in [(one, self._stored(one)) for one in evaluations]:
            if stored:
                path = self.output / f"{stored.name}.json"
                result, said = stored, f"{path}: already there; --again computes it again"
            else:
                with claim(self.output, name=f".{asked.source.name}.claim"):
                    result = asked.result(seed=self.seed, command=self.command)
                    said = f"-> {write(result, self.output)}"
            self.say(f"{text.printed(result)}\n{said}\n")
            found.append(result)
        return found

    def _stored(self, asked: Evaluation) -> Result | None:
        path = self.output / f"{asked.source.name}.json"
        if self.again or not path.exists():
            return None
        result = read(path)
        data = provenance(asked.source, asked.learned_from)
        settings = {"seed": self.seed, **asked.settings}
        new = replace(result, data=data, module=asked.module, settings=settings)
        there, wanted = (
            {"module": (one.module or {}).get("fingerprint"), "seed": one.settings.get("seed")}
            | facts(one)
            for one in (result, new)
        )
        for name in wanted:
            if there[name] != wanted[name]:
                raise InputError(
                    f"{path}: already there, of {name} {there[name]}, not {wanted[name]}; "
                    "--again replaces it, another --output keeps it"
                )
        return result


def write(result: Result, folder: Path) -> Path:
    """Write `<name>.json` into the folder and return its path; NaN becomes null."""
    path = folder / f"{result.name}.json"
    write_json(path, msgspec.json.decode(msgspec.json.encode(result)))
    return path


def read(path: Path) -> Result:
    """Read one result file; an InputError names the key that is missing or has another type."""
    try:
        result = checked(msgspec.json.decode(path.read_bytes()))
        if result.task in DECLARED:
            measure.sample_of(result)
    except (msgspec.DecodeError, RecursionError, InputError) as error:
        raise InputError(f"{path}: not a result of this program: {error}") from error
    return result


def read_results(folder: str | Path) -> list[Result]:
    """Read every *.json in the folder, in the paper's order of tasks, then by name."""
    folder = Path(folder)
    found: dict[str, Result] = {}
    for path in sorted(folder.glob("*.json")):
        result = read(path)
        if result.name in found:
            raise InputError(f"{path}: a second result named {result.name}; keep one")
        found[result.name] = result
    if not found:
        raise InputError(f"{folder}: no results here (files *.json are needed)")
    order = {task: position for position, task in enumerate((*TASKS, RETRIEVAL))}
    return sorted(found.values(), key=lambda one: (order.get(one.task, len(order)), one.name))
