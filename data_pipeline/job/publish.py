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
from data_pipeline.execution.acceptance import SHOWN, few_parents, require_acceptable
from data_pipeline.execution.report import COUNTS, Report, ShardFile, Tally
from data_pipeline.job.read import MOST_REASONS, OTHER_REASONS, FileRead, first_examples
from data_pipeline.job.settings import Settings
from data_pipeline.pairs.deduplication import (
    COPIES,
    COPYPASTA_CHARACTERS,
    COPYPASTA_COPIES,
    COPYPASTA_REPLIES,
    DUPLICATE_PAIRS,
)
from data_pipeline.pairs.schema import CONTEXT, INPUT, RESPONSE, SUBREDDIT
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, VALIDATION
from data_pipeline.sources.source import Layout, Source, Wording
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
_EXPECTED_PAIRS = 10
"""An empty split is reported if it should have at least this many pairs on average."""
_EXAMPLE_CHARACTERS = 10_000
"""Of each text of an example pair."""
_PACKAGE = "conversational-embeddings"


def publish(
    output: OutputFolder, report: Report, inputs: Inputs, settings: Settings, source: Source
) -> dict[str, Any]:
    """Publishes what the job wrote aside, and returns its statistics.

    Raises:
      InputError: if the result may not be published; the output of an earlier job stays then.
    """
    options = settings.description
    names = _numbered(report.files, suffix=settings.sharding.format.suffix)
    outputs = {names[file.name]: file.describe() for file in report.files}
    counts = _counts(report, settings, source)
    try:
        _accept(inputs, settings, source, counts, _first_dead_letters(output))
    except InputError:
        output.discard()
        raise
    if source.layout is Layout.TURNS and counts["malformed"]:
        _LOG.warning(
            "warning: %s malformed turns are left out; the turn after one replies to the turn "
            "before it",
            f"{counts['malformed']:,}",
        )
    reads = [read for _, read in inputs]
    synthetic = synthetic_flag(file.full_path for file, _ in inputs)
    card = _card(report, reads, source, options=options, counts=counts, outputs=outputs)
    output.publish(
        files=names,
        documents={
            STATISTICS: as_json(counts),
            f"{DATA_CARD}.json": as_json(card | synthetic),
            f"{DATA_CARD}.html": render(card | synthetic).encode(),
        },
        marker={
            "inputs": {file.full_path: read.about for file, read in inputs},
            "options": options,
            "outputs": outputs,
            **synthetic,
        },
    )
    return counts


def _first_dead_letters(output: OutputFolder) -> list[bytes]:
    path = FileSystems.join(output.incomplete, DEAD_LETTERS)
    with closing(open_stored(path)) as stream:
        return list(islice(stream, SHOWN))


def _accept(
    inputs: Inputs,
    settings: Settings,
    source: Source,
    counts: dict[str, Any],
    dead_letters: list[bytes],
) -> None:
    groups: frozenset[str] = frozenset().union(*(read.groups for _, read in inputs))
    hints = [
        *source.hints(groups),
        *_excluded_nothing(settings, counts),
        *few_parents(replies=counts["replies"], pairs=counts["pairs"]),
    ]
    pairs = sum(counts[f"{split}_pairs"] for split in settings.sharding.shards_by_split())
    hints += _empty_splits(settings, counts, pairs=pairs)
    require_acceptable(counts, settings.limits, pairs=pairs, dead_letters=dead_letters, hints=hints)
    _require_train_pairs(settings, counts, pairs=pairs)
    for hint in hints:
        _LOG.warning("warning: %s", hint)


def _excluded_nothing(settings: Settings, counts: dict[str, Any]) -> list[str]:
    """A hint if there are evaluation sets, and pairs, but no pair has a text of theirs."""
    if settings.excluded is None or counts["excluded"] or not counts["pairs"]:
        return []
    return [settings.excluded.no_match()]


def _empty_splits(settings: Settings, counts: dict[str, Any], *, pairs: int) -> list[str]:
    """A hint for each empty split whose fraction should give it several pairs."""
    sharding = settings.sharding
    fractions = {TEST: sharding.test_fraction, VALIDATION: sharding.validation_fraction}
    return [
        f"the split {split} has none of {pairs:,} pairs, though its fraction is {fraction:g}: a "
        "thread is not divided, and few threads hold all pairs; check what names the threads "
        "(--thread_field, or else the parents), or divide them with --split_by pair"
        for split, fraction in fractions.items()
        if fraction * pairs >= _EXPECTED_PAIRS and not counts[f"{split}_pairs"]
    ]


def wanted_pairs(settings: Settings, statistics: dict[str, Any]) -> int:
    """How many pairs there are to train on; of a job that makes none of these, all pairs."""
    splits = (
        settings.sharding.shards_by_split() if settings.sharding.test_fraction == 1 else [TRAIN]
    )
    return sum(statistics[f"{split}_pairs"] for split in splits)


def _require_train_pairs(settings: Settings, counts: dict[str, Any], *, pairs: int) -> None:
    sharding = settings.sharding
    if counts[f"{TRAIN}_pairs"] or not pairs or settings.limits.allow_empty:
        return
    if sharding.test_fraction < 1:
        validation = sharding.validation_fraction
        also = f", --validation_fraction {validation:g}" if validation else ""
        raise InputError(
            f"--test_fraction: {sharding.test_fraction:g}{also} and --split_by "
            f"{sharding.split_by} leave none of {pairs:,} pairs to train on; accepted: other "
            "values of these, or --allow_empty"
        )


def _counts(report: Report, settings: Settings, source: Source) -> dict[str, Any]:
    """The contents of `statistics.json`; counts of nothing are 0."""
    counts = report.tally.get(COUNTS, Counter())
    statistics = {
        **{name: counts[name] for name in ("lines", "malformed", "duplicates", "comments")},
        "dropped": {rule: counts[f"dropped/{rule}"] for rule in source.rule_names},
        **{name: counts[name] for name in ("kept", "replies", "pairs")},
    }
    if settings.excluded is not None:
        statistics["excluded"] = counts["excluded"]
    if settings.max_copies_of_pair is not None:
        statistics["copies_dropped"] = counts["copies_dropped"]
    for split in settings.sharding.shards_by_split():
        written = (file.records for file in report.files if file.split == split)
        statistics[f"{split}_pairs"] = sum(written)
    return statistics


def _numbered(files: list[ShardFile], *, suffix: str) -> dict[str, str]:
    """Name aside -> published name: the shards of a split are numbered; other names stay."""
    names = {file.name: file.name for file in files}
    for split in SPLITS:
        of_split = sorted(file.name for file in files if file.split == split)
        for number, name in enumerate(of_split):
            names[name] = f"{split}-{number:05d}-of-{len(of_split):05d}{suffix}"
    return names


def _card(
    report: Report,
    reads: list[FileRead],
    source: Source,
    *,
    options: dict[str, Any],
    counts: dict[str, Any],
    outputs: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """The contents of `data_card.json`."""
    return {
        "version": _version(),
        "made": datetime.now(UTC).date().isoformat(),
        "source": _wording(reads, source)._asdict(),
        "options": options,
        **_card_of_inputs(reads, list(counts["dropped"])),
        "counts": counts,
        **_card_of_pairs(report.more["examples"], report.tally),
        "outputs": [{"file": name, **output} for name, output in sorted(outputs.items())],
    }


def _wording(reads: list[FileRead], source: Source) -> Wording:
    """What the card calls the source; one without a name has the names of its files."""
    if source.wording.name:
        return source.wording
    names = [PurePath(read.about["path"]).name for read in reads]
    shown = names[0] if len(names) == 1 else f"{len(names):,} files, {names[0]} to {names[-1]}"
    return source.wording._replace(name=shown)


def _card_of_inputs(reads: list[FileRead], rule_names: list[str]) -> dict[str, Any]:
    reasons: Counter = Counter()
    for read in reads:
        reasons.update(read.reasons)
    examples = first_examples(read.examples for read in reads)
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
        "malformed_reasons": ranked_reasons(reasons),
    }


def ranked_reasons(reasons: Counter) -> dict[str, int]:
    """The most frequent reasons first; those beyond the limit together at the end."""
    other = reasons.pop(OTHER_REASONS, 0)
    ranked = reasons.most_common()
    other += sum(count for _, count in ranked[MOST_REASONS:])
    return dict(ranked[:MOST_REASONS]) | ({OTHER_REASONS: other} if other else {})


def _card_of_pairs(examples: list[dict], tally: Tally) -> dict[str, Any]:
    copies, subreddits = tally.get(COPIES, Counter()), tally.get(SUBREDDITS, Counter())
    ranked = sorted(subreddits.items(), key=lambda item: (-item[1], item[0]))
    return {
        "input_characters": _histogram(tally.get(INPUT_CHARACTERS, Counter())),
        "response_characters": _histogram(tally.get(RESPONSE_CHARACTERS, Counter())),
        "subreddits": ranked[:_TOP_SUBREDDITS],
        "n_subreddits": len(subreddits.keys() - {""}),
        "months": sorted(tally.get(MONTHS, Counter()).items()),
        "copies": {
            DUPLICATE_PAIRS: copies[DUPLICATE_PAIRS],
            COPYPASTA_REPLIES: copies[COPYPASTA_REPLIES],
            "copypasta_characters": COPYPASTA_CHARACTERS,
            "copypasta_copies": COPYPASTA_COPIES,
        },
        "example_pairs": list(map(_example, examples)),
    }


def _example(pair: dict[str, Any]) -> dict[str, Any]:
    turns = (pair[name] for name in pair if name.startswith(CONTEXT.format("")))
    return {
        INPUT: pair[INPUT][:_EXAMPLE_CHARACTERS],
        RESPONSE: pair[RESPONSE][:_EXAMPLE_CHARACTERS],
        "context": [text[:_EXAMPLE_CHARACTERS] for text in turns if text is not None],
        SUBREDDIT: pair[SUBREDDIT],
    }


def _histogram(bins: Counter) -> list[tuple[int, int]]:
    return sorted((int(edge), count) for edge, count in bins.items())


def _version() -> str:
    """The installed package's version, or "source" where it is not installed."""
    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return "source"
