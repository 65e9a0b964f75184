"""Counts of the words and bigrams of published pairs, for a model's vocabulary.

Writes `words.tsv` (`word TAB count`) and `bigrams.tsv` (`word word TAB count`), sorted by
descending count, then by UTF-8 bytes, with `statistics.json` and `COMPLETED`. As in the models,
the end mark `</s>` counts as a word, and bigrams begin at `<s>`. Whole texts are counted, without
a model's `max_tokens`.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from common.errors import InputError
from data_pipeline.execution.job import JobResult, run_graph, run_job
from data_pipeline.execution.report import COUNTS
from data_pipeline.execution.runner import choose_workers, pipeline_options
from data_pipeline.storage.inputs import find_inputs
from data_pipeline.storage.output_folder import OutputFolder
from data_pipeline.vocabulary.counting import KINDS, WORDS, build
from data_pipeline.vocabulary.options import VocabularyOptions

_STORED_BYTES_A_PARTITION = 256 << 20
_MIN_PARTITIONS = 16
_COUNTED = ("occurrences", "distinct", "kept", "occurrences_of_kept")
"""Of words and of bigrams."""


def main(options: VocabularyOptions, beam_arguments: Sequence[str]) -> None:
    """Runs the command."""
    count_vocabulary(options, beam_arguments=beam_arguments).print()


def count_vocabulary(
    options: VocabularyOptions, *, beam_arguments: Sequence[str] = ()
) -> JobResult:
    """Counts the words and bigrams of published pairs, with an Apache Beam job.

    Raises:
      InputError: if an input, the output or an option is invalid, or no word is left.
      ClaimedError: if another job works in the output folder.
    """
    beam_options = pipeline_options(list(beam_arguments))
    described = {
        "command": "vocabulary",
        "min_counts": dict.fromkeys(KINDS, options.min_count),
        "min_responses": options.min_responses,
    }
    # In the order of their names: the files' own makes no other job.
    files = sorted(find_inputs(options.input))

    def work(output: OutputFolder) -> dict[str, Any]:
        stored_bytes = sum(file.size for file in files)
        graph = partial(
            build,
            files=files,
            partitions=max(_MIN_PARTITIONS, stored_bytes // _STORED_BYTES_A_PARTITION),
            min_count=options.min_count,
            min_responses=options.min_responses,
        )
        workers = choose_workers(beam_options, beam_arguments, stored_bytes=stored_bytes)
        report = run_graph(output, beam_options, graph, workers=workers)
        counts = Counter(report.tally[COUNTS])
        statistics: dict[str, Any] = {name: counts[name] for name in ("records", "texts")}
        for kind in KINDS:
            statistics[kind] = {name: counts[f"{kind}/{name}"] for name in _COUNTED}
        if not options.allow_empty and statistics[WORDS]["kept"] == 0:
            raise InputError(
                f"no words to write: {statistics['records']:,} pairs with "
                f"{statistics[WORDS]['distinct']:,} words, of which none is kept by --min_count "
                f"{options.min_count} and --min_responses {options.min_responses}; pass "
                "--allow_empty to accept that"
            )
        inputs = {about["path"]: about for about in report.inputs}
        output.publish(
            {file.name: file for file in report.files},
            inputs={file.full_path: inputs[file.full_path] for file in files},
            options=described,
            statistics=statistics,
        )
        return statistics

    return run_job(options, files, described, work)
