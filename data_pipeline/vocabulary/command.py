"""Words and bigrams of published pairs, with their counts: what a model may give ids of its own.

    python -m data_pipeline vocabulary --input 'pairs/train-*' --output vocabulary/

Writes `words.tsv` (`word TAB count`) and `bigrams.tsv` (`word word TAB count`), by falling count
and then by the order of the UTF-8 bytes, then `statistics.json` and `COMPLETED`. The end of a
sentence, `</s>`, counts as a word, and bigrams begin at `<s>`, as for the models. Whole texts are
counted, also what a model's `max_tokens` would cut off.
"""

import argparse
from collections import Counter
from typing import Any

from tabulate import tabulate

from data_pipeline.card.statistics import COUNTS, as_table
from data_pipeline.errors import InputError
from data_pipeline.execution.acceptance import add_allow_empty
from data_pipeline.execution.job import (
    add_common_arguments,
    find_inputs,
    is_done,
    require_apart,
    run_to_the_end,
)
from data_pipeline.execution.local_machine import choose_workers, quiet_processes
from data_pipeline.execution.report import read_report
from data_pipeline.execution.runner import is_local, make_pipeline, pipeline_options
from data_pipeline.files.output_folder import STATISTICS, OutputFolder, as_json
from data_pipeline.vocabulary.counting import (
    BIGRAMS,
    KINDS,
    WORDS,
    Plan,
    build,
)

DEFAULT_MIN_COUNT = 2
"""Of what stands there once nothing is learned that would help elsewhere; and it is most."""
_STORED_BYTES_A_PART = 256 << 20
_MIN_PARTS = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's own options; all others go to Beam."""
    add_common_arguments(
        parser,
        inputs="files that reddit or snli has written: .tfrecord, .jsonl or .parquet, plain or .gz",
    )
    parser.add_argument(
        "--min_count",
        type=int,
        default=DEFAULT_MIN_COUNT,
        metavar="N",
        help="drop words that stand there less often; default: %(default)s",
    )
    parser.add_argument(
        "--min_bigram_count", type=int, metavar="N", help="of bigrams; default: as --min_count"
    )
    add_allow_empty(parser)


def run(arguments: argparse.Namespace, beam_arguments: list[str]) -> None:
    """Runs the command.

    Raises:
      InputError: if the input, the output or an option is not as it must be.
    """
    beam_options = pipeline_options(beam_arguments)
    min_counts = _min_counts(arguments)
    options = {"command": "vocabulary", "min_counts": min_counts}
    files = find_inputs(arguments.input)
    output = OutputFolder(arguments.output)
    require_apart({"--output": output.path}, files)
    with output.claimed():
        if not arguments.overwrite and is_done(output, files, options):
            print(f"{arguments.output} is complete already; nothing to do")
            return
        local = is_local(beam_options)
        stored_bytes = sum(file.size for file in files)
        workers = 1
        if local:
            workers = choose_workers(beam_options, beam_arguments, stored_bytes=stored_bytes)
        pipeline = make_pipeline(beam_options)
        output.start()
        plan = Plan(
            files,
            folder=output.incomplete,
            parts=max(_MIN_PARTS, stored_bytes // _STORED_BYTES_A_PART),
            blocks_at_hand=not local,
            min_counts=min_counts,
        )
        build(pipeline, plan)
        with quiet_processes(workers):
            run_to_the_end(pipeline, local=local)
        statistics = _publish(output, options, allow_empty=arguments.allow_empty)
    print(tabulate(as_table(statistics), disable_numparse=True, colalign=("left", "right")))
    print(f"written to {output.path}")


def _min_counts(arguments: argparse.Namespace) -> dict[str, int]:
    of_bigrams = arguments.min_bigram_count
    if of_bigrams is None:
        of_bigrams = arguments.min_count
    for name, value in (("min_count", arguments.min_count), ("min_bigram_count", of_bigrams)):
        if value < 1:
            raise InputError(f"--{name}: {value} is not 1 or more")
    return {WORDS: arguments.min_count, BIGRAMS: of_bigrams}


def _publish(output: OutputFolder, options: dict[str, Any], *, allow_empty: bool) -> dict[str, Any]:
    """Publishes what the job wrote aside, and returns its statistics.

    Raises:
      InputError: if files could not be read or no words are left; nothing is published then.
    """
    report = read_report(output)
    statistics = as_statistics(report.tally[COUNTS])
    if not allow_empty and statistics[WORDS]["kept"] == 0:
        output.discard()
        raise InputError(_why_empty(statistics, options["min_counts"][WORDS]))
    inputs = sorted(report.more["inputs"], key=lambda described: described["path"])
    output.publish(
        files={file.name: file.name for file in report.files},
        documents={STATISTICS: as_json(statistics)},
        marker={
            "inputs": {described["path"]: described for described in inputs},
            "options": options,
            "outputs": {file.name: file.describe() for file in report.files},
        },
    )
    return statistics


def _why_empty(statistics: dict[str, Any], min_count: int) -> str:
    records, distinct = statistics["records"], statistics[WORDS]["distinct"]
    reason = (
        f"--min_count: none of {distinct:,} words occurs {min_count:,} times"
        if distinct
        else "--input: the files hold no pairs"
    )
    return f"{reason} ({records:,} pairs); pass --allow_empty to publish empty lists"


def as_statistics(counts: Counter) -> dict[str, Any]:
    """The contents of `statistics.json`; both kinds have as many occurrences."""
    names = ("occurrences", "distinct", "kept", "occurrences_of_kept")
    return {
        "records": counts["records"],
        "texts": counts["texts"],
        **{kind: {name: counts[f"{kind}/{name}"] for name in names} for kind in KINDS},
    }
