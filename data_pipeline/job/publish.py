"""The job's report -> the published folder: numbered shards, statistics, data card, COMPLETED."""

import logging
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import PurePath
from typing import Any

from apache_beam.io.filesystems import FileSystems

from common.errors import InputError
from data_pipeline.card.data_card import render
from data_pipeline.card.statistics import (
    INPUT_CHARACTERS,
    MONTHS,
    RESPONSE_CHARACTERS,
    SUBREDDITS,
)
from data_pipeline.execution.job import SHOWN, require_acceptable
from data_pipeline.execution.report import COUNTS, Report, ShardFile
from data_pipeline.job.plan import Plan
from data_pipeline.job.read import FileRead, all_reasons, first_examples
from data_pipeline.pairs.deduplication import (
    COPIES,
    COPYPASTA_CHARACTERS,
    COPYPASTA_COPIES,
    COPYPASTA_REPLIES,
    DUPLICATE_PAIRS,
)
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, VALIDATION
from data_pipeline.pairs.tfrecord import CONTEXT, INPUT, RESPONSE, SUBREDDIT
from data_pipeline.sources.source import Layout
from data_pipeline.storage.filesystem import as_json, open_stored
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.output_folder import (
    DATA_CARD,
    DEAD_LETTERS,
    STATISTICS,
    OutputFolder,
)
from data_pipeline.storage.synthetic import synthetic_flag

Inputs = list[tuple[InputFile, FileRead]]
"""The input files, and what was read of each."""
_LOG = logging.getLogger(__name__)
_TOP_SUBREDDITS = 100
MOST_REASONS = 100
"""Reasons why lines are malformed that the card lists by themselves."""
OTHER_REASONS = "other reasons"
_EXPECTED_PAIRS = 10
"""An empty split is reported if it should have at least this many pairs on average."""
_FEW_PAIRS = 0.1
"""Of the replies; in all our dumps together, 0.97 of them find their parent."""
_EXAMPLE_CHARACTERS = 10_000
"""Of each text of an example pair."""
_PACKAGE = "conversational-embeddings"


def publish(output: OutputFolder, report: Report, inputs: Inputs, plan: Plan) -> dict[str, Any]:
    """Publishes what the job wrote aside, and returns its statistics.

    Raises:
      InputError: if the result may not be published; the output of an earlier job stays then.
    """
    counts = _counts(report, plan)
    with closing(open_stored(FileSystems.join(output.incomplete, DEAD_LETTERS))) as stream:
        dead_letters = list(islice(stream, SHOWN))
    try:
        _accept(inputs, plan, counts, dead_letters)
    except InputError:
        output.discard()
        raise
    if plan.source.layout is Layout.TURNS and counts["malformed"]:
        _LOG.warning(
            "warning: %s malformed turns are left out; the turn after one replies to the turn "
            "before it",
            f"{counts['malformed']:,}",
        )
    names = _numbered(report.files, suffix=plan.shards.format.suffix)
    outputs = {names[file.name]: file.describe() for file in report.files}
    options = plan.describe()
    synthetic = synthetic_flag(file.full_path for file, _ in inputs)
    reads = [read for _, read in inputs]
    card = {
        "version": _version(),
        "made": datetime.now(UTC).date().isoformat(),
        "source": plan.source.wording._asdict(),
        "options": options,
        **_card_of_inputs(reads, list(counts["dropped"])),
        "counts": counts,
        **_card_of_pairs(report),
        "outputs": [{"file": name, **about} for name, about in sorted(outputs.items())],
        **synthetic,
    }
    card["source"]["name"] = card["source"]["name"] or _names_of(reads)
    output.publish(
        files=names,
        documents={
            STATISTICS: as_json(counts),
            f"{DATA_CARD}.json": as_json(card),
            f"{DATA_CARD}.html": render(card).encode(),
        },
        marker={
            "inputs": {file.full_path: read.about for file, read in inputs},
            "options": options,
            "outputs": outputs,
            **synthetic,
        },
    )
    return counts


def _counts(report: Report, plan: Plan) -> dict[str, Any]:
    """The contents of `statistics.json`; counts of nothing are 0."""
    counts = Counter(report.tally.get(COUNTS, {}))
    statistics = {
        **{name: counts[name] for name in ("lines", "malformed", "duplicates", "comments")},
        "dropped": {rule: counts[f"dropped/{rule}"] for rule in plan.source.rule_names},
        **{name: counts[name] for name in ("kept", "replies", "pairs")},
    }
    if plan.excluded is not None:
        statistics["excluded"] = counts["excluded"]
    if plan.options.max_copies_of_pair is not None:
        statistics["copies_dropped"] = counts["copies_dropped"]
    for split in plan.shards.by_split:
        written = (file.records for file in report.files if file.split == split)
        statistics[f"{split}_pairs"] = sum(written)
    return statistics


def _accept(inputs: Inputs, plan: Plan, counts: dict[str, Any], dead_letters: list[bytes]) -> None:
    """Checks that the result may be published, and warns of what is odd."""
    options, pairs = plan.options, sum(counts[f"{split}_pairs"] for split in plan.shards.by_split)
    groups: frozenset[str] = frozenset().union(*(read.groups for _, read in inputs))
    hints = plan.source.hints(groups)
    if plan.excluded is not None and counts["pairs"] and not counts["excluded"]:
        hints.append(plan.excluded.no_match())
    if counts["pairs"] < _FEW_PAIRS * counts["replies"]:
        hints.append(
            f"only {counts['pairs']:,} of {counts['replies']:,} kept replies have a parent that is "
            "in the input and kept: 'dropped' counts the others; check that ids of parents are "
            "written like ids, or add the files that hold the parents"
        )
    for split, fraction in (TEST, options.test_fraction), (VALIDATION, options.validation_fraction):
        if fraction * pairs >= _EXPECTED_PAIRS and not counts[f"{split}_pairs"]:
            hints.append(
                f"the split {split} has none of {pairs:,} pairs, though its fraction is "
                f"{fraction:g}: a thread is not divided, and few threads hold all pairs; check "
                "what names the threads (--thread_field, or else the parents), or divide them "
                "with --split_by pair"
            )
    require_acceptable(counts, options, pairs=pairs, dead_letters=dead_letters, hints=hints)
    if pairs and not wanted_pairs(plan, counts) and not options.allow_empty:
        validation = options.validation_fraction
        also = f", --validation_fraction {validation:g}" if validation else ""
        raise InputError(
            f"--test_fraction: {options.test_fraction:g}{also} and --split_by {options.split_by} "
            f"leave none of {pairs:,} pairs to train on; accepted: other values of these, or "
            "--allow_empty"
        )
    for hint in hints:
        _LOG.warning("warning: %s", hint)


def wanted_pairs(plan: Plan, counts: dict[str, Any]) -> int:
    """How many pairs there are to train on; of a job that makes none of these, all pairs."""
    splits = plan.shards.by_split if plan.options.test_fraction == 1 else [TRAIN]
    return sum(counts[f"{split}_pairs"] for split in splits)


def _numbered(files: list[ShardFile], *, suffix: str) -> dict[str, str]:
    """Name aside -> published name: the shards of a split are numbered; other names stay."""
    names = {file.name: file.name for file in files}
    for split in SPLITS:
        of_split = sorted(file.name for file in files if file.split == split)
        for number, name in enumerate(of_split):
            names[name] = f"{split}-{number:05d}-of-{len(of_split):05d}{suffix}"
    return names


def _names_of(reads: list[FileRead]) -> str:
    """What the card calls a source without a name: the names of its files."""
    names = [PurePath(read.about["path"]).name for read in reads]
    return names[0] if len(names) == 1 else f"{len(names):,} files, {names[0]} to {names[-1]}"


def _card_of_inputs(reads: list[FileRead], rule_names: list[str]) -> dict[str, Any]:
    examples = first_examples(reads)
    return {
        "inputs": [
            {
                "file": read.about["path"],
                "bytes": read.about["bytes"],
                "crc32c": read.about["crc32c"],
                "lines": read.lines,
                "malformed": read.malformed,
            }
            for read in reads
        ],
        "dropped_examples": {rule: examples.get(rule, []) for rule in rule_names},
        "malformed_reasons": ranked_reasons(all_reasons(reads)),
    }


def ranked_reasons(reasons: Counter) -> dict[str, int]:
    """The most frequent reasons first; those beyond `MOST_REASONS` together at the end."""
    ranked = reasons.most_common()
    other = sum(count for _, count in ranked[MOST_REASONS:])
    return dict(ranked[:MOST_REASONS]) | ({OTHER_REASONS: other} if other else {})


def _card_of_pairs(report: Report) -> dict[str, Any]:
    names = (INPUT_CHARACTERS, RESPONSE_CHARACTERS, SUBREDDITS, MONTHS, COPIES)
    inputs, responses, subreddits, months, copies = (
        Counter(report.tally.get(name, {})) for name in names
    )
    ranked = sorted(subreddits.items(), key=lambda item: (-item[1], item[0]))
    return {
        "input_characters": sorted((int(edge), count) for edge, count in inputs.items()),
        "response_characters": sorted((int(edge), count) for edge, count in responses.items()),
        "subreddits": ranked[:_TOP_SUBREDDITS],
        "n_subreddits": len(subreddits.keys() - {""}),
        "months": sorted(months.items()),
        "copies": {
            DUPLICATE_PAIRS: copies[DUPLICATE_PAIRS],
            COPYPASTA_REPLIES: copies[COPYPASTA_REPLIES],
            "copypasta_characters": COPYPASTA_CHARACTERS,
            "copypasta_copies": COPYPASTA_COPIES,
        },
        "example_pairs": list(map(_example, report.examples)),
    }


def _example(pair: dict[str, Any]) -> dict[str, Any]:
    turns = (pair[name] for name in pair if name.startswith(CONTEXT.format("")))
    return {
        INPUT: pair[INPUT][:_EXAMPLE_CHARACTERS],
        RESPONSE: pair[RESPONSE][:_EXAMPLE_CHARACTERS],
        "context": [text[:_EXAMPLE_CHARACTERS] for text in turns if text is not None],
        SUBREDDIT: pair[SUBREDDIT],
    }


def _version() -> str:
    """The installed package's version, or "source" where it is not installed."""
    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return "source"
