"""Any source's job: check the folders, run the Beam graph, publish the pairs, or show a sample.

With `--sample N` the whole job runs on the first messages of each file, in a temporary folder, so
that what is printed is what it would write.
"""

import json
import logging
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from common.errors import InputError
from data_pipeline.card.data_card import cut
from data_pipeline.execution.job import SHOWN, JobResult, run_graph, run_job, table
from data_pipeline.execution.progress import JOINING, READING
from data_pipeline.execution.runner import LOCAL_RUNNER, choose_workers, pipeline_options
from data_pipeline.job.graph import build, plan_of
from data_pipeline.job.publish import publish
from data_pipeline.pairs.options import PairOptions
from data_pipeline.storage.inputs import find_inputs
from data_pipeline.storage.output_folder import DATA_CARD, DEAD_LETTERS, OutputFolder
from data_pipeline.storage.shares import share_out

_LOG = logging.getLogger(__name__)
_SHOWN_CHARACTERS = 300
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys, or that turn the direction of what follows."""


def main(options: PairOptions, beam_arguments: Sequence[str]) -> None:
    """Runs one of the commands, or shows what the first messages give."""
    if options.sample is not None:
        _preview(options, beam_arguments)
        return
    result = make_pairs(options, beam_arguments=beam_arguments)
    result.print(more=f"; {result.folder.rstrip('/')}/data_card.html describes it")


def make_pairs(options: PairOptions, *, beam_arguments: Sequence[str] = ()) -> JobResult:
    """Makes input-response pairs of the messages of some files, with an Apache Beam job.

    `beam_arguments` are Beam's pipeline options, such as "--runner=FlinkRunner". Raises an
    InputError if an input, the output or an option is invalid, or no pair is found, and a
    ClaimedError if another job works in the output folder.
    """
    beam_options = pipeline_options(beam_arguments)
    files = find_inputs(options.inputs)
    plan = plan_of(options, files)

    def work(output: OutputFolder) -> dict[str, Any]:
        workers = choose_workers(beam_options, beam_arguments, stored_bytes=plan.stored_bytes)
        is_whole = options.sample is not None  # the first messages are in one place
        by_line = {file: not is_whole and plan.source.reads_parts(file) for file in files}
        memory = psutil.virtual_memory().available // 4
        shares = share_out(by_line, workers=workers, memory=memory)
        about = len(files), plan.stored_bytes / 1e6, plan.partitions
        _LOG.info("pairing %d files, %.1f MB, in %d partitions", *about)
        stored_bytes = sum(file.size for file in files)
        stages = (READING, stored_bytes, "B"), (JOINING, plan.partitions, " partitions")
        graph = partial(build, plan=plan, shares=shares)
        report = run_graph(output, beam_options, graph, workers=workers, stages=stages)
        return publish(output, report, files, plan)

    return run_job(options, files, plan.describe(), work)


def _preview(options: PairOptions, beam_arguments: Sequence[str]) -> None:
    """Prints counts, pairs and what is left out of the first messages, with the local runner."""
    with tempfile.TemporaryDirectory(prefix="sample-") as folder:
        output = Path(folder) / "pairs"
        result = make_pairs(
            replace(options, output=str(output), allow_empty=True, max_malformed=1.0),
            beam_arguments=[*beam_arguments, f"--runner={LOCAL_RUNNER}", "--direct_num_workers=1"],
        )
        card = json.loads((output / f"{DATA_CARD}.json").read_text())
        with (output / DEAD_LETTERS).open("rb") as stream:
            letters = list(map(json.loads, islice(stream, SHOWN)))
    print(table(result.statistics))
    if about := card["repeated"]:
        rows = [("texts looked at", "texts"), ("begin or end alike", "repeated")]
        rows.append(("have markup", "markup"))
        print(table({name: about[key] for name, key in rows}))
        for line in about["lines"]:
            print(f"repeated  {_shown(line)}")
    for pair in card["example_pairs"][:SHOWN]:
        before = [("before", turn) for turn in reversed(pair["context"])]
        print()
        for name, text in [*before, ("input", pair["input"]), ("response", pair["response"])]:
            print(f"{name:9} {_shown(text)}")
    print()
    for rule, texts in card["dropped_examples"].items():
        for text in texts:
            print(f"dropped by {rule}: {_shown(text)}")
    for letter in letters:
        print(f"malformed {letter['reason']}: {_shown(letter['raw'])}")
    print(f"\nnothing written: the first {options.sample:,} messages of each file")
    if not card["example_pairs"]:
        raise InputError(
            f"--sample: no pairs among the first {options.sample:,} messages of each file"
        )


def _shown(text: str) -> str:
    return _CONTROLS.sub("\ufffd", cut(text, _SHOWN_CHARACTERS))
