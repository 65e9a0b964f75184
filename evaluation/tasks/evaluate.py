"""One encoder on the data sets of one task: what the commands and `evaluation.evaluate` run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluation.results.evaluation import Store
from evaluation.results.result import Result
from evaluation.tasks import cqa, response_ranking, snli, sts

TASKS: dict[str, Any] = {"response_ranking": response_ranking, "snli": snli, "sts": sts, "cqa": cqa}


def evaluate(
    encoder: Any,
    task: str,
    data: str | Path,
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
      task: response_ranking, snli, sts or cqa.
      data: as `--data` of the command of that name.
      output: a folder to write the results to; those that are there already are kept.
      seed: of the resamples, of blocks of candidates, and of the weights of a classifier.
      again: whether to compute again what is already in `output`.
      command: what the results name as the command that made them.
      say: gets the text of each result as soon as it is there.
      **settings: of the task: `candidates` and `at`; `train` and `dev` of snli; `dev` of cqa.

    Raises:
      ValueError: if there is no such task.
      InputError: if the data or the encoder cannot be used.
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; {', '.join(TASKS)} are accepted")

    def load():
        if not isinstance(encoder, str | Path):
            return encoder
        from evaluation.encoders.saved_model import load_encoder

        return load_encoder(encoder)

    evaluations = TASKS[task].evaluations(Path(data), load, seed=seed, **settings)
    if output is None:
        return [one.result(seed=seed, command=command) for one in evaluations]
    quiet = say or (lambda text: None)
    return Store(output=Path(output), command=command, seed=seed, again=again, say=quiet).results(
        evaluations
    )
