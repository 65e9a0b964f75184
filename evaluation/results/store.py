"""Results as JSON files, written whole or not at all: each is read, or computed and written.

With each comes what identifies its data, and whether they are a synthetic sample or from Reddit.
"""

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
from common.origin import origin_of
from common.text_files import Source
from evaluation.results import measure
from evaluation.results.result import (
    DECLARED,
    RETRIEVAL,
    TASKS,
    Result,
    checked,
    facts,
    printed,
)

PACKAGES = ("tensorflow", "tensorflow-text", "numpy", "scipy")
"""Those whose versions a result names."""


def command_line() -> str:
    """Return the command that runs, as results name it."""
    return shlex.join(["python", "-m", "evaluation", *sys.argv[1:]])


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A data set to score, and how."""

    source: Source
    compute: Callable[[], Result]
    module: dict | None  # its provenance; None where none is scored
    learned_from: Sequence[Source] = ()  # what something was learned or chosen on before
    settings: Mapping[str, Any] = field(default_factory=dict)  # also of a stored result

    def result(self, *, seed: int, command: str) -> Result:
        """Return the result, computed, with its intervals and provenance."""
        started = time.perf_counter()
        result = self.compute()
        result = replace(result, settings={**result.settings, **self.settings})
        if result.task in DECLARED:  # `compute` of others adds the intervals
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


def results(
    evaluations: Sequence[Evaluation],
    *,
    output: Path | None,
    command: str = "",
    seed: int = 0,
    again: bool = False,
    say: Callable[[str], None] = print,
) -> list[Result]:
    """Return each result, from its file in `output` or computed; say each as soon as it is there.

    A result of the same data, module and settings is not computed again unless `again` says so.
    One of other data, another module or other settings is an error. A result is for one process at
    a time. `command` is by default the one that runs.
    """
    of: Any = {"seed": seed, "command": command or command_line()}
    if output is None:
        return [asked.result(**of) for asked in evaluations]
    found = []
    # Another result of one of these names is an error before any is computed.
    there = [None if again else _stored(asked, output, seed=seed) for asked in evaluations]
    for asked, stored in zip(evaluations, there, strict=True):
        if stored:
            path = output / f"{stored.name}.json"
            result, said = stored, f"{path}: already there; --again computes it again"
        else:
            with claim(output, name=f".{asked.source.name}.claim"):
                result = asked.result(**of)
                said = f"-> {write(result, output)}"
        say(f"{printed(result)}\n{said}\n")
        found.append(result)
    return found


def _stored(asked: Evaluation, output: Path, *, seed: int) -> Result | None:
    path = output / f"{asked.source.name}.json"
    if not path.exists():
        return None
    result = read(path)
    data = provenance(asked.source, asked.learned_from)
    new = replace(result, data=data, module=asked.module, settings={"seed": seed, **asked.settings})
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


def provenance(source: Source, learned_from: Sequence[Source] = ()) -> dict:
    """Return names and SHA-256 of the data and of those learned from, and a known `origin`."""
    identity = source.provenance()
    if origin := origin_of(source.files):
        identity["origin"] = origin
    if files := tuple(path for other in learned_from for path in other.files):
        of_others = Source("", files).provenance()
        identity["learned_from"] = {key: of_others[key] for key in ("files", "sha256")}
    return identity
