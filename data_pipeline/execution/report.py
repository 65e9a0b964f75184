"""The report of a job: one file that the last step writes and the command reads.

Counts travel through the graph under the tag `TALLY`, as data and not as the runner's metrics, so
that a bundle that is tried twice counts once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import msgspec
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, AsSideInput, AsSingleton, TaggedOutput

from data_pipeline.storage.filesystem import write_file
from data_pipeline.storage.inputs import UnreadableFileError
from data_pipeline.storage.output_folder import ShardFile

UNREADABLE = "unreadable"
TALLY = "tally"
INPUTS = "inputs"
COUNTS = "counts"  # the name of the job's own counts in a tally
REPORT = "report.json"

Tally = dict[str, Counter]  # name of a histogram -> counts


class Report(msgspec.Struct, kw_only=True):
    """The result of a job."""

    tally: dict[str, dict[str, int]]
    files: list[ShardFile]
    unreadable: list[str]  # errors of input files that could not be read
    inputs: list[Any]  # what was read of each input file, in any order


def add_up(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies; empty for none."""
    total: Tally = {}
    for tally in tallies:
        for name, counts in tally.items():
            total.setdefault(name, Counter()).update(counts)
    return total


def tallied(function: Callable, *tags: str, **given: Any) -> beam.PTransform:
    """A step whose function yields batches and, tagged, tallies, and what else has these tags."""
    step = beam.FlatMap(function, **given).with_output_types(pa.RecordBatch)
    return step.with_outputs(TALLY, *tags, main="batches")


def read_each(
    pipeline: beam.Pipeline, shares: Sequence[Sequence[Any]], read: Callable[[Any], Iterator[Any]]
) -> tuple[beam.PCollection, beam.PCollection, dict[str, AsSideInput]]:
    """What a function yields of each file of some shares: batches, tallies, fields of the report.

    A share is the work of one worker. A file that cannot be read to its end is reported, not
    raised, so that no runner tries it again and all bad files are named.
    """
    batches, tallies, inputs, unreadable = (
        pipeline
        | "List the input files" >> beam.Create(shares, reshuffle=False)
        | "Distribute the files over the workers" >> beam.Reshuffle()
        | "Read each file" >> tallied(_read_share, INPUTS, UNREADABLE, read=read)
    )
    return batches, tallies, {"inputs": AsList(inputs), "unreadable": AsList(unreadable)}


def _read_share(files: Sequence[Any], *, read: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    for file in files:
        try:
            yield from read(file)
        except UnreadableFileError as error:
            yield TaggedOutput(UNREADABLE, str(error))


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
