"""The command around the Beam graph: check what is asked, run, publish, tell.

python -m data_pipeline reddit --input 'dumps/RC_*.zst' --output pairs/ --runner=FlinkRunner
"""

import argparse
import logging
import re
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from tabulate import tabulate

from data_pipeline import options, reddit
from data_pipeline.dumps import Dump, find_dumps
from data_pipeline.errors import InputError
from data_pipeline.local_machine import choose_workers, require_memory
from data_pipeline.months import Months, full_path, is_as_before
from data_pipeline.output import OutputFolder
from data_pipeline.progress import Watch
from data_pipeline.publish import publish
from data_pipeline.runners import is_local, make_pipeline, pipeline_options
from data_pipeline.statistics import as_table

_LOG = logging.getLogger(__name__)


def run(arguments: argparse.Namespace, beam_arguments: list[str]) -> None:
    """Runs the whole job.

    Raises:
      InputError: if the input, the output or an option is not as it must be.
    """
    beam_options = pipeline_options(beam_arguments)
    dumps = _find(arguments.input)
    stored_bytes = sum(dump.size for dump in dumps)
    asked = options.check(arguments, stored_bytes=stored_bytes)
    output = OutputFolder(arguments.output)
    if not arguments.overwrite and _is_done(output, dumps, asked.description):
        print(f"{arguments.output} is complete already; nothing to do")
        return
    local = is_local(beam_options)
    months = Months(arguments.months or output.months, asked.selection, compressed=not local)
    if local:
        workers = choose_workers(beam_options, stored_bytes=stored_bytes)
        require_memory(stored_bytes=stored_bytes, buckets=asked.buckets, workers=workers)
    pipeline = make_pipeline(beam_options)
    output.start()
    _LOG.info("pairing %d files, %.1f MB", len(dumps), stored_bytes / 1e6)
    plan = reddit.Plan(
        dumps,
        months,
        folder=output.incomplete,
        sharding=asked.sharding,
        buckets=asked.buckets,
        blocks_at_hand=not local,
        max_copies_of_pair=asked.max_copies_of_pair,
        excluded=asked.excluded,
    )
    reddit.build(pipeline, plan)
    with Watch(output.incomplete, stored_bytes=stored_bytes, buckets=asked.buckets):
        _run_to_the_end(pipeline)
    statistics = publish(output, plan, asked.description)
    if arguments.discard_months:
        FileSystems.delete([months.folder])
    print(tabulate(as_table(statistics), disable_numparse=True, colalign=("left", "right")))
    print(f"written to {output.path}; {output.path}/data_card.html shows what it is")


def _find(given: list[str]) -> list[Dump]:
    patterns = [part.strip() for some in given for part in some.split(",")]
    dumps = find_dumps(list(filter(None, patterns)))
    if not dumps:
        raise InputError("--input: names no file; accepted are file names and patterns")
    return dumps


def _is_done(output: OutputFolder, dumps: list[Dump], description: dict[str, Any]) -> bool:
    """Whether this very job is done already.

    Raises:
      InputError: if another job is, or what this one wrote has changed; says what differs.
    """
    marker = output.done_job()
    if marker is None:
        return False
    differences = [
        *_changed_inputs(marker["inputs"], dumps),
        *_changed_options(marker["options"], description),
    ]
    way_out = "name another folder, or pass --overwrite to replace it"
    if differences:
        raise InputError(
            f"--output: {output.path!r} holds the complete output of another job "
            f"({'; '.join(differences)}); {way_out}"
        )
    changed = output.changed_files(marker)
    if changed:
        raise InputError(
            f"--output: {output.path!r} is not as the job left it: {changed[0]!r} "
            f"({len(changed)} files in all) is missing or has another size; {way_out}"
        )
    return True


def _changed_inputs(before: dict[str, Any], dumps: list[Dump]) -> Iterator[str]:
    now = {full_path(dump): dump for dump in dumps}
    changed = sorted(
        path
        for path in before | now
        if path not in before or path not in now or not is_as_before(before[path], now[path])
    )
    if changed:
        shown = ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
        yield f"its inputs differ in {len(changed)} files: {shown}"


def _changed_options(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for name in sorted(before | now):
        if before.get(name) != now.get(name):
            yield f"its {name} was {before.get(name)!r}, now {now.get(name)!r}"


def _run_to_the_end(pipeline: beam.Pipeline) -> None:
    """Runs a pipeline; what the machine refused (a full disk, say) is told in one line."""
    try:
        pipeline.run().wait_until_finish()
    except Exception as error:
        refused = re.search(r"\w*Error: \[Errno \d+\].*", str(error))
        if refused:
            raise InputError(f"the job stopped: {refused.group()}") from error
        raise
