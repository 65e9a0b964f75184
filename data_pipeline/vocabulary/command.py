"""Counts of the words and bigrams of published pairs, for a model's vocabulary.

    python -m data_pipeline vocabulary --input 'pairs/train-*' --output vocabulary/

Writes `words.tsv` (`word TAB count`) and `bigrams.tsv` (`word word TAB count`), sorted by
descending count, then by UTF-8 bytes, with `statistics.json` and `COMPLETED`. As in the models,
the end mark `</s>` counts as a word, and bigrams begin at `<s>`. Whole texts are counted, without
a model's `max_tokens`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from common.errors import InputError
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
from data_pipeline.vocabulary.counting import KINDS, WORDS, build
from data_pipeline.vocabulary.options import VocabularyOptions

_STORED_BYTES_A_PARTITION = 256 << 20
_MIN_PARTITIONS = 16


def main(options: VocabularyOptions, beam_arguments: Sequence[str]) -> None:
    """Runs the command."""
    count_vocabulary(options, beam_arguments=beam_arguments).print()


def count_vocabulary(
    options: VocabularyOptions, *, beam_arguments: Sequence[str] = ()
) -> JobResult:
    """Counts the words and bigrams of published pairs, with an Apache Beam job.

    Args:
      options: what is read, written and kept.
      beam_arguments: Beam's pipeline options.

    Raises:
      InputError: if an input, the output or an option is invalid, or no word is left.
      ClaimedError: if another job works in the output folder.
    """
    beam_options = pipeline_options(list(beam_arguments))
    described: dict[str, Any] = {
        "command": "vocabulary",
        "min_counts": dict.fromkeys(KINDS, options.min_count),
    }
    if options.min_responses:
        described["min_responses"] = options.min_responses
    files = find_inputs(options.input)
    folder = OutputFolder(options.output)
    require_apart({"--output": options.output}, files)

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
            min_count=options.min_count,
            min_responses=options.min_responses,
        )
        with quiet_processes(workers):
            run_pipeline(pipeline)
        report = read_report(folder)
        statistics = _statistics(Counter(report.tally[COUNTS]))
        try:
            accept(statistics)
        except InputError:
            folder.discard()
            raise
        inputs = {about["path"]: about for about in report.inputs}
        folder.publish(
            files={file.name: file.name for file in report.files},
            documents={STATISTICS: as_json(statistics)},
            marker={
                "inputs": dict(sorted(inputs.items())),
                "options": described,
                "outputs": {file.name: file.describe() for file in report.files},
                **synthetic_flag(inputs),
            },
        )
        return statistics

    def accept(statistics: dict[str, Any]) -> None:
        if not options.allow_empty and statistics[WORDS]["kept"] == 0:
            raise InputError(
                f"no words to write: {statistics['records']:,} pairs with "
                f"{statistics[WORDS]['distinct']:,} words, of which none is kept by --min_count "
                f"{options.min_count} and --min_responses {options.min_responses}; pass "
                "--allow_empty to accept that"
            )

    job = folder, files, described
    return run_job(*job, overwrite=options.overwrite, work=work, accept=accept, in_order=False)


def _statistics(counts: Counter) -> dict[str, Any]:
    """The contents of `statistics.json`."""
    names = ("occurrences", "distinct", "kept", "occurrences_of_kept")
    return {
        "records": counts["records"],
        "texts": counts["texts"],
        **{kind: {name: counts[f"{kind}/{name}"] for name in names} for kind in KINDS},
    }
