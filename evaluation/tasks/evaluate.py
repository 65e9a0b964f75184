"""One encoder on the data sets of one task: what the commands and `evaluation.evaluate` run.

Each task is a module here whose `evaluations` says what there is to compute. What is stored
already is kept, what is new is written at once.
"""

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.errors import InputError
from common.text_files import Source
from evaluation.data.origin import provenance
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.results import measure, store, text
from evaluation.results.result import RETRIEVAL, TASKS, Result, stamped

_OF_DATA = ("columns", "quotes")
"""Settings by which a file is read."""


def evaluate(
    encoder: Any,
    task: str,
    data: str | Path | RetrievalFiles,
    *,
    output: str | Path | None = None,
    seed: int = 0,
    again: bool = False,
    command: str = "evaluation.evaluate",
    say: Callable[[str], None] | None = None,
    **settings,
) -> list[Result]:
    """Score an encoder on every data set of a file or folder, with 95% bootstrap intervals.

    Args:
      encoder: what `load_encoder` returns, or anything with its methods `encode`, `encode_inputs`,
        `encode_responses` (texts to float [texts, dim]) and `provenance`; or a folder or URL to
        load, after the data are read; None for CQA files without text.
      task: response_ranking, snli, sts, cqa or retrieval.
      data: as `--data` of the command of that name; `RetrievalFiles` for retrieval.
      output: a folder to write the results to; those that are there already are kept.
      seed: of the resamples, of blocks of candidates, and of the weights of a classifier.
      again: whether to compute again what is already in `output`.
      command: what the results name as the command that made them.
      say: gets the text of each result as soon as it is there.
      **settings: of the task: `candidates` and `at`; `train` and `dev` of snli; `dev` of cqa;
        `columns` of sts, see `common.sts.Columns`.

    Raises:
      InputError: if there is no such task, or the data or the encoder cannot be used.
    """
    if task not in (*TASKS, RETRIEVAL):
        raise InputError(f"task: {task!r}; accepted: {', '.join((*TASKS, RETRIEVAL))}")
    files = RetrievalFiles(*map(Path, data)) if isinstance(data, tuple) else Path(data)
    for name in {"train", "dev"} & settings.keys():
        settings[name] = settings[name] and Path(settings[name])

    def load():
        if not isinstance(encoder, str | Path):
            return encoder
        from evaluation.encoders.saved_model import load_encoder  # TensorFlow takes seconds

        return load_encoder(encoder)

    of_task = importlib.import_module(f"evaluation.tasks.{task}")
    evaluations = of_task.evaluations(files, load, seed=seed, **settings)
    if output is None:
        return [one.result(seed=seed, command=command) for one in evaluations]
    quiet = say or (lambda text: None)
    return Store(output=Path(output), command=command, seed=seed, again=again, say=quiet).results(
        evaluations
    )


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A data set to score, and how.

    `compute` need not know of intervals and provenance. `learned_from` are data that something was
    learned or chosen on before. `module` is the module's provenance, or None where none is scored;
    `settings` is what a stored result must have been computed with, besides the seed; `metrics`
    what it must hold where that is a choice.
    """

    source: Source
    compute: Callable[[], Result]
    module: dict | None
    learned_from: Sequence[Source] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: Sequence[str] = ()

    def result(self, *, seed: int, command: str) -> Result:
        """Return the result, computed, with its intervals and provenance."""
        started = time.perf_counter()
        measured = measure.with_intervals(self.compute(), seed=seed)
        seconds = time.perf_counter() - started
        data = provenance(self.source, self.learned_from)
        return stamped(measured, data=data, module=self.module, command=command, seconds=seconds)


@dataclass(frozen=True, kw_only=True)
class Store:
    """The folder that one command writes its results to.

    A result of the same data, module and settings is not computed again unless `again` says so.
    One of other data, another module or other settings is an error: it is neither passed off as
    the one asked for nor overwritten unasked.
    """

    output: Path
    command: str
    seed: int = 0
    again: bool = False
    say: Callable[[str], None] = print

    def results(self, evaluations: Sequence[Evaluation]) -> list[Result]:
        """Return each result, from its file or computed; say each as soon as it is there.

        Raises:
          InputError: if another result of one of these names is there, before any is computed.
        """
        stored = [self._stored(one) for one in evaluations]
        return [self._result(*each) for each in zip(evaluations, stored, strict=True)]

    def _result(self, asked: Evaluation, stored: Result | None) -> Result:
        path = store.path_of(asked.source.name, self.output)
        if stored is not None:
            self.say(f"{text.printed(stored)}\n{path}: already there; --again computes it again\n")
            return stored
        result = asked.result(seed=self.seed, command=self.command)
        store.write(result, self.output)
        self.say(f"{text.printed(result)}\n-> {path}\n")
        return result

    def _stored(self, asked: Evaluation) -> Result | None:
        """Return the result that is there already, if it need not be computed."""
        path = store.path_of(asked.source.name, self.output)
        if self.again or not path.exists():
            return None
        result = store.read(path)
        # Of data, a setting that is not asked for counts too: other columns are other data.
        of_data = {name: None for name in _OF_DATA if name in result.settings}
        settings = {"seed": self.seed} | of_data | dict(asked.settings)
        data = provenance(asked.source, asked.learned_from)
        wanted = _identity(data, asked.module) | settings
        there = _identity(result.data, result.module)
        there |= {name: result.settings.get(name) for name in settings}
        wanted |= dict.fromkeys(asked.metrics, True)
        there |= {name: name in result.metrics for name in asked.metrics}
        for name, value in wanted.items():
            if there[name] != value:
                raise InputError(
                    f"{path}: already there, of {name} {there[name]}, not {value}; "
                    "--again replaces it, another --output keeps it"
                )
        return result


def _identity(data: dict, module: dict | None) -> dict:
    return {
        "data": data.get("sha256"),
        "training or dev data": data.get("learned_from", {}).get("sha256"),
        "module": module and module.get("fingerprint"),
    }
