"""What a job says of itself: one file that its last step writes and the command reads.

Counts travel through the graph under the tag `TALLY`, and what could not be read under
`UNREADABLE`. So no bad file is tried again by a runner, and all of them are named at once.
"""

from collections import Counter
from typing import Any, NamedTuple

import apache_beam as beam
import orjson
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, AsSideInput, AsSingleton

from data_pipeline.card.statistics import Tally, add_up
from data_pipeline.errors import InputError
from data_pipeline.files.output_folder import OutputFolder, read_bytes, write_file
from data_pipeline.pairs.shards import ShardFile

TALLY = "tally"
UNREADABLE = "unreadable"


class Report(NamedTuple):
    """What came of a job that could read all of its input."""

    tally: Tally
    files: list[ShardFile]
    more: dict[str, Any]
    """What not every job reports, by name."""


def add_report(
    pipeline: beam.Pipeline,
    folder: str,
    *,
    tallies: list[beam.PCollection],
    unreadable: beam.PCollection,
    files: beam.PCollection,
    **more: AsSideInput,
) -> None:
    """Adds the last step of a job: all that it says of itself, in a file of the folder."""
    total = (
        tallies
        | "Take all that was counted" >> beam.Flatten()
        | "Add it up" >> beam.CombineGlobally(add_up)
    )
    _ = (
        pipeline
        | "Begin the report" >> beam.Create([_path(folder)])
        | "Write the report"
        >> beam.Map(
            _write,
            tally=AsSingleton(total),
            unreadable=AsList(unreadable),
            files=AsList(files),
            **more,
        )
    )


def _path(folder: str) -> str:
    return FileSystems.join(folder, "report.json")


def _write(
    path: str, *, tally: Tally, unreadable: list[str], files: list[ShardFile], **more: Any
) -> None:
    report = {"tally": tally, "unreadable": sorted(unreadable), "files": sorted(files), **more}
    # orjson leaves named tuples to others.
    write_file(path, orjson.dumps(report, default=tuple))


def read_report(output: OutputFolder) -> Report:
    """What the job that wrote aside says of itself.

    Raises:
      InputError: if files could not be read; what was written aside is removed then.
    """
    report = orjson.loads(read_bytes(_path(output.incomplete)))
    unreadable = report.pop("unreadable")
    if unreadable:
        output.discard()
        raise InputError("; ".join(unreadable))
    tally = {name: Counter(counts) for name, counts in report.pop("tally").items()}
    files = [ShardFile(*file) for file in report.pop("files")]
    return Report(tally, files, more=report)
