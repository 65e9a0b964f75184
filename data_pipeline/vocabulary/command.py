"""Counts of the words and bigrams of published pairs, for a model's vocabulary.

    pair files ─▶ counts of a file ─▶ partitions by hash ─▶ summed, rare ones dropped
                                                                      │
                                     words.tsv, bigrams.tsv ◀── sorted ┘

Writes `word TAB count` and `word word TAB count`, sorted by descending count, then by UTF-8 bytes.
As in the models, the end mark `</s>` counts as a word, and bigrams begin at `<s>`. Whole texts are
counted, without a model's `max_tokens`. All counts of a token are in one partition; a worker holds
one of them in memory, and at last all kept rows of a list, as whoever reads the list does.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import AsList, TaggedOutput

from common.errors import InputError
from data_pipeline.execution.columns import content_of, crc32_of
from data_pipeline.execution.exchange import Block, Exchange, group_all, received
from data_pipeline.execution.job import JobResult, run_graph, run_job
from data_pipeline.execution.report import COUNTS, INPUTS, TALLY, add_report, read_each, tallied
from data_pipeline.execution.runner import choose_workers, pipeline_options
from data_pipeline.options import VocabularyOptions
from data_pipeline.pairs.reader import read_texts
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, find_inputs
from data_pipeline.storage.output_folder import OutputFolder, ShardFile, write_aside
from data_pipeline.vocabulary.tokenizer import BEGIN, END, tokenize

WORDS, _ = KINDS = ("words", "bigrams")
_MOST_TOKENS = 1_500_000  # a worker holds no more distinct ones at once: some 200 MB
_STORED_BYTES_A_PARTITION = 256 << 20
_MIN_PARTITIONS = 16
_COUNTED = ("occurrences", "distinct", "kept", "occurrences_of_kept")  # of words and of bigrams
_TOKENS = pa.schema({"token": pa.large_binary(), "count": pa.int64(), "responses": pa.int64()})
"""A word, or a bigram, which has a space: how often it and how many responses that hold it occur
in some texts."""


def main(options: VocabularyOptions, beam_arguments: Sequence[str]) -> None:
    """Runs the command."""
    count_vocabulary(options, beam_arguments=beam_arguments).print()


def count_vocabulary(
    options: VocabularyOptions, *, beam_arguments: Sequence[str] = ()
) -> JobResult:
    """Counts the words and bigrams of published pairs, with Beam; raises as `run_job`."""
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
        partitions = max(_MIN_PARTITIONS, stored_bytes // _STORED_BYTES_A_PARTITION)
        graph = partial(_build, files=files, partitions=partitions, options=options)
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


def _build(
    pipeline: beam.Pipeline,
    exchange: Exchange,
    *,
    files: list[InputFile],
    partitions: int,
    options: VocabularyOptions,
) -> None:
    largest_first = [[file] for file in sorted(files, key=lambda file: -file.size)]
    counts, read_tally, found = read_each(pipeline, largest_first, _count_file)
    kept, sum_tally = (
        counts
        | "Send counts by token" >> exchange.send(partial(_by_token, partitions=partitions))
        | "Group counts by partition" >> beam.GroupByKey()
        | "Sum each partition" >> tallied(_sum_partition, options=options)
    )
    sent = kept | "Send kept counts by kind" >> exchange.send(_by_kind)
    write = beam.Map(_write_list, folder=exchange.folder)
    add_report(
        pipeline,
        exchange.folder,
        tallies=[read_tally, sum_tally],
        files=AsList(group_all(sent, keys=len(KINDS)) | "Write each list" >> write),
        **found,
    )


def _count_file(file: InputFile) -> Iterator[Any]:
    """A file of pairs -> batches of `_TOKENS`."""
    tap, pairs = Tap(), 0
    times, responses = Counter[bytes](), Counter[bytes]()
    for text, response in read_texts(file, tap):
        pairs += 1
        tokens = _tokens_of(response)
        times.update(_tokens_of(text))
        times.update(tokens)
        responses.update(set(tokens))
        if len(times) >= _MOST_TOKENS:
            yield _counted(times, responses)
            times.clear()
            responses.clear()
    yield _counted(times, responses)
    yield TaggedOutput(TALLY, {COUNTS: Counter(records=pairs, texts=2 * pairs)})
    yield TaggedOutput(INPUTS, file.describe(tap))


def _tokens_of(text: str | bytes) -> list[bytes]:
    """The words and bigrams of a text, with marks, as `model.text` makes ids of them.

    A text has as many bigrams as words: the words are its tokens and the end mark, the bigrams
    go from (begin mark, first token) to (last token, end mark).
    """
    words = [*tokenize(text), END]
    return [*words, *(b"%b %b" % pair for pair in pairwise((BEGIN, *words)))]


def _counted(times: Counter, responses: Counter) -> pa.RecordBatch:
    columns = [list(times), list(times.values()), [responses[token] for token in times]]
    return pa.record_batch(columns, schema=_TOKENS)


def _by_token(counts: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    return counts, crc32_of(counts.column("token")).astype(np.int64) % partitions


def _by_kind(counts: Any) -> tuple[Any, np.ndarray]:
    """The counts, and their keys: the index of their kind in `KINDS`."""
    is_bigram = pc.match_substring(counts["token"], " ")
    return counts, is_bigram.to_numpy(zero_copy_only=False).astype(int)


def _sum_partition(
    element: tuple[int, Iterable[Block]], *, options: VocabularyOptions
) -> Iterator[Any]:
    """(partition, blocks of counts) -> a batch of the kept ones, summed; tagged, their tally."""
    counts = pa.Table.from_batches([received(element[1], _TOKENS)])
    total = counts.group_by("token").aggregate([("count", "sum"), ("responses", "sum")])
    total = total.rename_columns(_TOKENS.names).cast(_TOKENS)
    is_frequent = pc.field("count") >= options.min_count
    kept = total.filter(is_frequent & (pc.field("responses") >= options.min_responses))
    yield from kept.combine_chunks().to_batches()
    tally: Counter = Counter()
    of_all, of_kept = (total, "distinct", "occurrences"), (kept, "kept", "occurrences_of_kept")
    for tokens, number, times in (of_all, of_kept):
        kinds = _by_kind(tokens)[1]
        for index, kind in enumerate(KINDS):
            tally[f"{kind}/{number}"] = int(np.sum(kinds == index))
            tally[f"{kind}/{times}"] = int(tokens["count"].to_numpy()[kinds == index].sum())
    yield TaggedOutput(TALLY, {COUNTS: tally})


def _write_list(element: tuple[int, Iterable[Block | None]], *, folder: str) -> ShardFile:
    """(kind, blocks of kept counts) -> a file of `token TAB count`, by descending count."""
    kind, blocks = element
    rows = received(blocks, _TOKENS).sort_by([("count", "descending"), ("token", "ascending")])
    tab, line_feed, nothing = (pa.scalar(part, pa.large_binary()) for part in (b"\t", b"\n", b""))
    counts = rows.column("count").cast(pa.large_string()).cast(pa.large_binary())
    lines = pc.binary_join_element_wise(rows.column("token"), tab, counts, line_feed, nothing)
    return write_aside(folder, f"{KINDS[kind]}.tsv", content_of(lines), records=len(lines))
