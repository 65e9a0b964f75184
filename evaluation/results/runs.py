"""From data to result files: what is there already stays, what is new is written at once."""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.data.files import Source
from evaluation.errors import InputError
from evaluation.metrics import per_item
from evaluation.report import scores
from evaluation.results import result
from evaluation.results.result import Result


@dataclass(frozen=True, kw_only=True)
class Run:
    """Where one command writes its results, and what it may not take for them.

    A result of the same data, module and settings is not computed again unless `again` says so.
    One of other data, another module or other settings is an error: it is neither passed off as
    the one asked for nor overwritten unasked.
    """

    output: Path
    command: str
    seed: int = 0
    again: bool = False

    def result(
        self,
        source: Source,
        compute: Callable[[], Result],
        *,
        module: dict | None,
        settings: Mapping[str, float] | None = None,
        figures: Sequence[str] = (),
    ) -> Result:
        """Return the result named as its source, from its file or computed; print its table.

        `module` is the module's provenance, or None where none is scored; `settings` what a
        stored result must have been computed with, besides the seed; `figures` what it must hold
        where that is a choice. `compute` need not know of intervals and provenance: they are
        added here.
        """
        path = result.path_of(source.name, self.output)
        stored = self.stored(source, module=module, settings=settings, figures=figures)
        if stored is not None:
            print(f"{scores.printed(stored)}\n{path}: there already; --again computes it anew\n")
            return stored
        data = source.provenance()
        started = time.perf_counter()
        found = per_item.with_intervals(compute(), seed=self.seed)
        found = result.stamped(
            found,
            data=data,
            module=module,
            command=self.command,
            seconds=time.perf_counter() - started,
        )
        result.write(found, self.output)
        print(f"{scores.printed(found)}\n-> {path}\n", flush=True)
        return found

    def stored(
        self,
        source: Source,
        *,
        module: dict | None,
        settings: Mapping[str, float] | None = None,
        figures: Sequence[str] = (),
    ) -> Result | None:
        """Return the result that is there already, if it need not be computed; see `result`.

        A command asks for all of its results before it computes one.

        Raises:
          InputError: if another result of this name is there.
        """
        path = result.path_of(source.name, self.output)
        if self.again or not path.exists():
            return None
        found = result.read(path)
        wanted = {"seed": self.seed} | dict(settings or {})
        _check_same(found, path=path, data=source.provenance(), module=module, settings=wanted)
        if missing := [name for name in figures if name not in found.metrics]:
            raise InputError(f"{path}: there already, without {missing[0]}; --again adds it")
        return found


def _check_same(
    found: Result, *, path: Path, data: dict, module: dict | None, settings: Mapping[str, float]
) -> None:
    """Raise InputError unless a stored result is the one that was asked for."""

    def identity(data: dict, module: dict | None) -> dict:
        return {
            "data": data.get("sha256"),
            "training or dev data": data.get("learned_from", {}).get("sha256"),
            "module": module and module.get("fingerprint"),
        }

    asked = identity(data, module) | dict(settings)
    stored = identity(found.data, found.module)
    stored |= {name: found.settings.get(name) for name in settings}
    for name, value in asked.items():
        if stored[name] != value:
            raise InputError(
                f"{path}: there already, of {name} {stored[name]} where {value} is asked for; "
                "--again replaces it, another --output keeps it"
            )


def learned(source: Source, sources: Sequence[Source]) -> Source:
    """Return a source whose result rests on what was learned from others."""
    files = tuple(path for other in sources for path in other.files)
    return dataclasses.replace(source, learned_from=files)


def run_of(arguments, *, command: str) -> Run:
    """Return the run that a command's shared options ask for."""
    return Run(output=arguments.output, command=command, seed=arguments.seed, again=arguments.again)
