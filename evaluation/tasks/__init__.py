"""An encoder and data in, results out: a module a task, and what runs any of them.

The `evaluations` of a task says what there is to compute: it reads the data, then calls `load` with
all their texts for the encoder. What is stored already is kept, what is new is written at once.
"""

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import evaluation
from common.errors import InputError
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.results import store
from evaluation.results.result import RETRIEVAL, TASKS, Result


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
      encoder: what `load_encoder` returns or takes, or anything with its methods `encode`,
        `encode_inputs`, `encode_responses` (texts to float [texts, dim]) and `provenance`; `fit`,
        where there is one, gets all texts of the data first. None for CQA files without text.
      task: response_ranking, snli, sts, cqa or retrieval.
      data: as `--data` of the command of that name; `RetrievalFiles` for retrieval.
      output: a folder to write the results to; those that are there already are kept.
      seed: of the resamples, of blocks of candidates, and of the weights of a classifier.
      again: whether to replace what is already in `output`.
      command: what the results name as the command that made them.
      say: gets the text of each result as soon as it is there.
      **settings: of the task: `candidates`, `own_replies` and `name` of response_ranking; `columns`
        of sts, see `common.sts.Columns`; `ignore_identical_ids` of retrieval.
    """
    if task not in (*TASKS, RETRIEVAL):
        raise InputError(f"task: {task!r}; accepted: {', '.join((*TASKS, RETRIEVAL))}")
    files = RetrievalFiles(*map(Path, data)) if isinstance(data, tuple) else Path(data)

    def load(texts: Iterable[Iterable[str]]):
        if isinstance(encoder, str | Path):
            return evaluation.load_encoder(encoder)
        has_fit = hasattr(encoder, "fit")
        return encoder.fit([text for some in texts for text in some]) if has_fit else encoder

    of_task = importlib.import_module(f"evaluation.tasks.{task}")
    evaluations = of_task.evaluations(files, load, seed=seed, **settings)
    of: Any = {"seed": seed, "again": again, "command": command, "say": say or (lambda _: None)}
    return store.results(evaluations, output=None if output is None else Path(output), **of)
