"""Counts of the words and bigrams of published pairs, for a model's vocabulary.

    python -m data_pipeline vocabulary --input 'pairs/train-*' --output vocabulary/

Writes `words.tsv` (`word TAB count`) and `bigrams.tsv` (`word word TAB count`), sorted by
descending count, then by UTF-8 bytes, with `statistics.json` and `COMPLETED`. As in the models,
the end mark `</s>` counts as a word, and bigrams begin at `<s>`. Whole texts are counted, without
a model's `max_tokens`.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

from common.errors import InputError
from data_pipeline.execution.acceptance import add_allow_empty
from data_pipeline.execution.exchange import Exchange
from data_pipeline.execution.job import JobResult, run_job
from data_pipeline.execution.report import COUNTS, read_report
from data_pipeline.execution.runner import (
    choose_workers,
    is_local,
    make_pipeline,
    pipeline_options,
    quiet_processes,
    run_pipeline,
)
from data_pipeline.storage.filesystem import as_json
from data_pipeline.storage.inputs import find_inputs, require_apart
from data_pipeline.storage.output_folder import STATISTICS, OutputFolder
from data_pipeline.storage.synthetic import synthetic_flag
from data_pipeline.vocabulary.counting import BIGRAMS, KINDS, WORDS, build

DEFAULT_MIN_COUNT = 2
"""Most words occur only once, and a model learns nothing from them."""
_STORED_BYTES_A_PARTITION = 256 << 20
_MIN_PARTITIONS = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's own options; all others go to Beam."""
    parser.add_argument(
        "--min_count",
        type=int,
        default=DEFAULT_MIN_COUNT,
        metavar="N",
        help="drop words seen fewer than N times; default: %(default)s",
    )
    parser.add_argument(
        "--min_bigram_count",
        type=int,
        metavar="N",
        help="drop bigrams (two words in a row) seen fewer than N times; default: as --min_count",
    )
    parser.add_argument(
        "--min_responses",
        type=int,
        default=0,
        metavar="N",
        help="drop words and bigrams found in fewer than N responses, such as rare names; "
        "default: %(default)s",
    )
    add_allow_empty(parser)


def count_vocabulary(
    inputs: Sequence[str],
    output: str,
    *,
    min_count: int = DEFAULT_MIN_COUNT,
    min_bigram_count: int | None = None,
    min_responses: int = 0,
    allow_empty: bool = False,
    overwrite: bool = False,
    beam_arguments: Sequence[str] = (),
) -> JobResult:
    """Counts the words and bigrams of published pairs, with an Apache Beam job.

    Args:
      inputs: file names or patterns, such as "pairs/train-*".
      output: the folder to write `words.tsv` and `bigrams.tsv` into.
      min_count: words seen less often are dropped.
      min_bigram_count: the same for bigrams; by default `min_count`.
      min_responses: words and bigrams that fewer responses hold are dropped. Each response is one
        message, while an input stands in all its pairs.
      allow_empty: whether to publish empty lists.
      overwrite: whether to replace the output of another job.
      beam_arguments: Beam's pipeline options.

    Raises:
      InputError: if an input, the output or an option is invalid, or no word is left.
      ClaimedError: if another job works in the output folder.
    """
    beam_options = pipeline_options(list(beam_arguments))
    min_counts = _min_counts(min_count, min_bigram_count)
    if min_responses < 0:
        raise InputError(f"--min_responses: {min_responses} is not 0 or more")
    options: dict[str, Any] = {"command": "vocabulary", "min_counts": min_counts}
    if min_responses:
        options["min_responses"] = min_responses
    files = find_inputs(inputs)
    folder = OutputFolder(output)
    require_apart({"--output": output}, files)

    def work() -> dict[str, Any]:
        stored_bytes = sum(file.size for file in files)
        workers = choose_workers(beam_options, beam_arguments, stored_bytes=stored_bytes)
        pipeline = make_pipeline(beam_options)
        folder.start()
        build(
            pipeline,
            files,
            exchange=Exchange(folder.incomplete, inline=not is_local(beam_options)),
            partitions=max(_MIN_PARTITIONS, stored_bytes // _STORED_BYTES_A_PARTITION),
            min_counts=min_counts,
            min_responses=min_responses,
        )
        with quiet_processes(workers):
            run_pipeline(pipeline)
        return _publish(folder, options, allow_empty=allow_empty)

    def accept(statistics: dict[str, Any]) -> None:
        if not allow_empty and statistics[WORDS]["kept"] == 0:
            raise InputError(_why_empty(statistics, options))

    return run_job(
        *(folder, files, options), overwrite=overwrite, work=work, accept=accept, in_order=False
    )


def _min_counts(min_count: int, min_bigram_count: int | None) -> dict[str, int]:
    of_bigrams = min_count if min_bigram_count is None else min_bigram_count
    for name, value in (("min_count", min_count), ("min_bigram_count", of_bigrams)):
        if value < 1:
            raise InputError(f"--{name}: {value} is not 1 or more")
    return {WORDS: min_count, BIGRAMS: of_bigrams}


def _publish(output: OutputFolder, options: dict[str, Any], *, allow_empty: bool) -> dict[str, Any]:
    """Publishes what the job wrote aside, and returns its statistics.

    Raises:
      InputError: if files could not be read or no words are left; nothing is published then.
    """
    report = read_report(output)
    statistics = as_statistics(report.tally[COUNTS])
    if not allow_empty and statistics[WORDS]["kept"] == 0:
        output.discard()
        raise InputError(_why_empty(statistics, options))
    inputs = sorted(report.more["inputs"], key=lambda described: described["path"])
    output.publish(
        files={file.name: file.name for file in report.files},
        documents={STATISTICS: as_json(statistics)},
        marker={
            "inputs": {described["path"]: described for described in inputs},
            "options": options,
            "outputs": {file.name: file.describe() for file in report.files},
            **synthetic_flag(described["path"] for described in inputs),
        },
    )
    return statistics


def _why_empty(statistics: dict[str, Any], options: dict[str, Any]) -> str:
    records, distinct = statistics["records"], statistics[WORDS]["distinct"]
    count, responses = options["min_counts"][WORDS], options.get("min_responses", 0)
    if not distinct:
        reason = "--input: the files hold no pairs"
    elif not responses:
        reason = f"--min_count: none of {distinct:,} words occurs {count:,} times"
    else:
        reason = (
            f"--min_count, --min_responses: none of {distinct:,} words occurs {count:,} times and "
            f"in {responses:,} responses"
        )
    return f"{reason} ({records:,} pairs); pass --allow_empty to publish empty lists"


def as_statistics(counts: Counter) -> dict[str, Any]:
    """The contents of `statistics.json`."""
    names = ("occurrences", "distinct", "kept", "occurrences_of_kept")
    return {
        "records": counts["records"],
        "texts": counts["texts"],
        **{kind: {name: counts[f"{kind}/{name}"] for name in names} for kind in KINDS},
    }
