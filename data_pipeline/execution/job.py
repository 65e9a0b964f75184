"""The frame of every job that makes an output folder: run it once, accept and return its result."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
import orjson
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from tabulate import tabulate

from common.errors import InputError, reading
from data_pipeline.execution.exchange import Exchange
from data_pipeline.execution.progress import Stage, shown_progress
from data_pipeline.execution.report import REPORT, Report
from data_pipeline.execution.runner import is_local, quiet_processes, run_pipeline
from data_pipeline.options import FolderOptions, LimitOptions
from data_pipeline.storage.filesystem import read_bytes
from data_pipeline.storage.inputs import InputFile, require_apart
from data_pipeline.storage.output_folder import DEAD_LETTERS, OutputFolder

_LOG = logging.getLogger(__name__)
_MANY_MALFORMED = 0.01  # if more than this fraction of the lines is malformed, the user is warned
SHOWN = 3  # malformed lines that an error shows
_SHOWN_CHARACTERS = 60


class JobResult(NamedTuple):
    """A complete output folder."""

    folder: str
    statistics: dict[str, Any]  # the contents of statistics.json
    was_complete: bool  # whether an earlier run had made it already

    def print(self, *, more: str = "") -> None:
        """Prints the statistics and the folder, and more behind it."""
        if self.was_complete:
            print(f"{self.folder} is complete already; nothing to do")
            return
        print(table(self.statistics))
        print(f"written to {self.folder.rstrip('/')}{more}")


def run_job(
    options: FolderOptions,
    inputs: Sequence[InputFile],
    described: dict[str, Any],
    work: Callable[[OutputFolder], dict[str, Any]],
) -> JobResult:
    """Runs a job in its output folder, unless this same job is complete there.

    `described` is what makes two jobs on the same inputs the same; `work` publishes the output and
    returns its statistics. Raises a ClaimedError if another job works in the folder, and an
    InputError if another is complete there, or the work ends with one.
    """
    output = OutputFolder(options.output)
    require_apart(options.output, inputs)
    with output.claimed():
        if not options.overwrite and output.is_done(inputs, described):
            return JobResult(output.path, output.statistics(), was_complete=True)
        try:
            return JobResult(output.path, work(output), was_complete=False)
        except InputError:
            output.discard()
            raise


def run_graph(
    output: OutputFolder,
    beam_options: PipelineOptions,
    build: Callable[[beam.Pipeline, Exchange], None],
    *,
    workers: int,
    stages: Sequence[Stage] = (),
) -> Report:
    """Runs the graph that `build` makes, which writes into `output.incomplete`; shows `stages`.

    Raises an InputError if the job failed, or files could not be read.
    """
    with reading(f"--runner {beam_options.view_as(StandardOptions).runner}"):
        pipeline = beam.Pipeline(options=beam_options)
    output.start()
    build(pipeline, Exchange(output.incomplete, inline=not is_local(beam_options)))
    with (
        quiet_processes(workers) as stream,
        shown_progress(output.incomplete, stages, stream=stream),
    ):
        run_pipeline(pipeline)
    content = read_bytes(FileSystems.join(output.incomplete, REPORT))
    report = msgspec.json.decode(content, type=Report)
    if report.unreadable:
        raise InputError("; ".join(sorted(set(report.unreadable))))
    report.files.sort()
    return report


def require_acceptable(
    statistics: dict[str, Any],
    limits: LimitOptions,
    *,
    pairs: int,
    dead_letters: Sequence[bytes] = (),
    hints: Sequence[str] = (),
) -> None:
    """Checks that a result has pairs and that most lines could be parsed; warns of malformed ones.

    Else raises an InputError with the counts, `SHOWN` of the dead letters, and the hints.
    """
    lines, malformed = statistics["lines"], statistics["malformed"]
    first = "".join(f"; {_shown(letter)}" for letter in dead_letters[:SHOWN])
    share = f"{malformed:,} of {lines:,} lines ({malformed / max(lines, 1):.1%}) are malformed"
    if malformed > limits.max_malformed * lines:
        raise InputError(
            f"--input: {share}, more than --max_malformed {limits.max_malformed:g} accepts{first}"
        )
    if pairs == 0 and not limits.allow_empty:
        counted = ", ".join(f"{count} {name}" for name, count in _rows(statistics) if count != "0")
        raise InputError(
            f"--input: no pairs to write ({counted or 'no lines'})"
            f"{''.join(f'; {hint}' for hint in hints)}{first}; pass --allow_empty to accept that"
        )
    if malformed > _MANY_MALFORMED * lines:
        _LOG.warning("warning: %s; %s says why", share, DEAD_LETTERS)


def _shown(dead_letter: bytes) -> str:
    found = orjson.loads(dead_letter)
    place = f"{found['file']!r}, line {found['line']:,}"
    return f"{place}: {found['reason']}: {found['raw'][:_SHOWN_CHARACTERS]!r}"


def table(statistics: dict[str, Any]) -> str:
    """The counts to print, one a row; each value of a nested object is a row."""
    rows = [(f"  {name}" if ":" in name else name, count) for name, count in _rows(statistics)]
    return tabulate(rows, disable_numparse=True, colalign=("left", "right"))


def _rows(statistics: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (f"{name}: {part}" if part else name, f"{count:,}")
        for name, value in statistics.items()
        for part, count in (value if isinstance(value, dict) else {"": value}).items()
    ]
