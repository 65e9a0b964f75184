"""The report of a job: one file that the last step writes and the command reads.

Counts travel through the graph under the tag `TALLY`, as data and not as the runner's metrics, so
that a bundle that is tried twice counts once; errors of unreadable files travel under `UNREADABLE`,
so that no runner tries them again and all of them are named at once.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import apache_beam as beam
import msgspec
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsSideInput, AsSingleton

from data_pipeline.storage.filesystem import write_file
from data_pipeline.storage.output_folder import ShardFile

UNREADABLE = "unreadable"
TALLY = "tally"
INPUTS = "inputs"
COUNTS = "counts"
"""The name of the job's own counts in a tally."""
REPORT = "report.json"

Tally = dict[str, Counter]
"""Name of a histogram -> counts."""


class Report(msgspec.Struct, kw_only=True):
    """The result of a job."""

    tally: dict[str, dict[str, int]]
    files: list[ShardFile]
    unreadable: list[str]
    """Errors of input files that could not be read."""
    inputs: list[Any]
    """What was read of each input file, in any order."""
    examples: list[dict[str, Any]] = []
    """Some pairs."""


def add_up(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies; empty for none."""
    total: Tally = {}
    for tally in tallies:
        for name, counts in tally.items():
            total.setdefault(name, Counter()).update(counts)
    return total


def add_report(
    pipeline: beam.Pipeline, folder: str, *, tallies: list[beam.PCollection], **found: AsSideInput
) -> None:
    """Adds the last step of a job, which writes the report; `found` are its other fields."""
    # Defaults of the side inputs instead of the sums' own: five transforms less for each.
    total = (
        tallies
        | "Merge the counts" >> beam.Flatten()
        | "Sum them" >> beam.CombineGlobally(add_up).without_defaults()
    )
    path, tally = FileSystems.join(folder, REPORT), AsSingleton(total, default_value={})
    start = pipeline | "Start the report" >> beam.Impulse()
    _ = start | "Write the report" >> beam.Map(_write, path=path, tally=tally, **found)


def _write(_: bytes, *, path: str, **found: Any) -> None:
    write_file(path, msgspec.json.encode(found))
