"""The report of a job: one file that the last step writes and the command reads.

Counts travel through the graph under the tag `TALLY`, as data and not as the runner's metrics, so
that a bundle that is tried twice counts once; errors of unreadable files travel under `UNREADABLE`,
so that no runner tries them again and all of them are named at once.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam
import orjson
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, AsSideInput, AsSingleton

from common.errors import InputError
from data_pipeline.storage.filesystem import read_bytes, write_file
from data_pipeline.storage.output_folder import OutputFolder

UNREADABLE = "unreadable"
TALLY = "tally"
COUNTS = "counts"
"""The name of the job's own counts in a tally."""

Tally = dict[str, Counter]
"""Name of a histogram -> counts."""


class ShardFile(NamedTuple):
    """A file that was written aside."""

    name: str
    split: str
    """Empty for files of no split."""
    bytes: int
    crc32c: str
    """Hexadecimal digits."""
    records: int

    def describe(self) -> dict[str, Any]:
        """The entry in COMPLETED."""
        return {"bytes": self.bytes, "crc32c": self.crc32c, "records": self.records}


class Report(NamedTuple):
    """The result of a job that could read all of its input."""

    tally: Tally
    files: list[ShardFile]
    more: dict[str, Any]
    """Further entries by name."""


def add_up(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies; empty for none."""
    total: Tally = {}
    for tally in tallies:
        for name, counts in tally.items():
            total.setdefault(name, Counter()).update(counts)
    return total


def add_report(
    pipeline: beam.Pipeline,
    folder: str,
    *,
    tallies: list[beam.PCollection],
    unreadable: beam.PCollection,
    files: beam.PCollection,
    **more: AsSideInput,
) -> None:
    """Adds the last step of a job, which writes the report into the folder."""
    # Defaults of the side inputs instead of the sums' own: five transforms less for each.
    total = (
        tallies
        | "Merge the counts" >> beam.Flatten()
        | "Sum them" >> beam.CombineGlobally(add_up).without_defaults()
    )
    _ = (
        pipeline
        | "Start the report" >> beam.Impulse()
        | "Write the report"
        >> beam.Map(
            _write,
            path=_path(folder),
            tally=AsSingleton(total, default_value={}),
            unreadable=AsList(unreadable),
            files=AsList(files),
            **more,
        )
    )


def _path(folder: str) -> str:
    return FileSystems.join(folder, "report.json")


def _write(
    _: bytes,
    *,
    path: str,
    tally: Tally,
    unreadable: list[str],
    files: list[ShardFile],
    **more: Any,
) -> None:
    report = {"tally": tally, "unreadable": sorted(set(unreadable)), "files": sorted(files), **more}
    # orjson does not serialize named tuples itself.
    write_file(path, orjson.dumps(report, default=tuple))


def read_report(output: OutputFolder) -> Report:
    """The report of the job that wrote into `output.incomplete`.

    Raises:
      InputError: if files could not be read; what was written aside is removed.
    """
    report = orjson.loads(read_bytes(_path(output.incomplete)))
    unreadable = report.pop("unreadable")
    if unreadable:
        output.discard()
        raise InputError("; ".join(unreadable))
    tally = {name: Counter(counts) for name, counts in report.pop("tally").items()}
    files = [ShardFile(*file) for file in report.pop("files")]
    return Report(tally, files, more=report)
