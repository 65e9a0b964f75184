"""The frame of every job that makes an output folder: run it once, return its result."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tabulate import tabulate

from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.output_folder import OutputFolder


class JobResult(NamedTuple):
    """A complete output folder."""

    folder: str
    statistics: dict[str, Any]
    """The contents of statistics.json."""
    was_complete: bool
    """Whether an earlier run had made it already."""

    def print(self, *, more: str = "") -> None:
        """Prints the statistics and the folder, and more behind it."""
        if self.was_complete:
            print(f"{self.folder} is complete already; nothing to do")
            return
        rows = as_table(self.statistics)
        print(tabulate(rows, disable_numparse=True, colalign=("left", "right")))
        print(f"written to {self.folder.rstrip('/')}{more}")


def run_job(
    output: OutputFolder,
    inputs: Sequence[InputFile],
    options: dict[str, Any],
    *,
    overwrite: bool,
    work: Callable[[], dict[str, Any]],
    accept: Callable[[dict[str, Any]], None] | None = None,
    in_order: bool = True,
) -> JobResult:
    """Runs a job in its output folder, unless this same job is complete there.

    Args:
      output: the folder, which no other job may use meanwhile.
      inputs: the files that the job reads.
      options: what makes two jobs on the same inputs the same.
      overwrite: whether to replace a complete output.
      work: does the job, publishes the output and returns its statistics.
      accept: raises an InputError if the statistics of a complete output are not acceptable.
      in_order: whether the order of the inputs makes two jobs differ.

    Raises:
      ClaimedError: if another job works in the folder.
      InputError: if another job is complete there, or the folder cannot be written.
    """
    with output.claimed():
        if not overwrite and output.is_done(inputs, options, in_order=in_order):
            statistics = output.statistics()
            if accept is not None and statistics:
                accept(statistics)
            return JobResult(output.path, statistics, was_complete=True)
        return JobResult(output.path, work(), was_complete=False)


def as_table(statistics: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows of (name, count) to print; each value of a nested object is a row."""
    rows: list[tuple[str, str]] = []
    for name, value in statistics.items():
        if isinstance(value, dict):
            rows += [(f"  {name}: {rule}", f"{count:,}") for rule, count in value.items()]
        else:
            rows.append((name, f"{value:,}"))
    return rows
