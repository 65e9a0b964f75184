"""The job's report -> the published folder: numbered shards, statistics, data card, COMPLETED."""

import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib import metadata
from itertools import chain, islice
from pathlib import PurePath
from typing import Any

import orjson
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError
from common.origin import synthetic_flag
from common.tfrecord import CONTEXT, INPUT, RESPONSE, SUBREDDIT
from data_pipeline.card import data_card
from data_pipeline.execution.job import SHOWN, require_acceptable
from data_pipeline.execution.report import COUNTS, Report
from data_pipeline.job.ambiguity import TIES, require_decided
from data_pipeline.job.graph import Plan
from data_pipeline.job.read import EXAMPLES, GROUPS, FileRead
from data_pipeline.job.turns import MERGED
from data_pipeline.pairs.copies import IN_TRAIN
from data_pipeline.pairs.options import NEWEST
from data_pipeline.pairs.reader import pairs_of
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, UNKNOWN, VALIDATION
from data_pipeline.sources.source import Layout
from data_pipeline.storage.filesystem import NewFile, as_json, open_stored
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import MOST_DEAD_LETTERS
from data_pipeline.storage.output_folder import DATA_CARD, DEAD_LETTERS, OutputFolder, ShardFile

_LOG = logging.getLogger(__name__)
_TOP_SUBREDDITS = 100
_MOST_REASONS = 100  # reasons why lines are malformed that the card lists, the most frequent first
_FEW_PAIRS = 0.1  # of the replies; in all our dumps together, 0.97 of them find their parent
_EXPECTED_PAIRS = 10
"""An empty split is reported if it should have at least this many pairs on average."""
_MANY_IN_TRAIN = 0.01
_EXAMPLE_PAIRS = 5
_TURN = CONTEXT.format("")
_PACKAGE = "conversational-embeddings"


def publish(
    output: OutputFolder, report: Report, inputs: Sequence[InputFile], plan: Plan
) -> dict[str, Any]:
    """Publishes what the job wrote aside, and returns its statistics.

    Raises an InputError if the result may not be published; that of an earlier job stays then.
    """
    reads = sorted(FileRead(*each) for each in report.inputs)
    by_path = {read.about["path"]: read.about for read in reads}
    for file in inputs:
        if not file.was_left_alone(by_path[file.full_path]):
            said = "changed while it was read; accepted: files that nobody writes to"
            raise InputError(f"--input: {file.path!r} {said}")
    dead_letters, first_letters, reasons = _write_dead_letters(output.incomplete, reads)
    counts = _counts(report, plan)
    months = set(report.tally.get(data_card.MONTHS, ()))
    if plan.options.split_by == NEWEST and months == {data_card.UNKNOWN}:
        raise InputError(f"--split_by: {NEWEST} needs times, and no reply has one")
    hints = require_decided(report.tally, plan.source.ids_within)
    hints += plan.source.hints(frozenset(report.tally.get(GROUPS, {})))
    _accept(plan, counts, first_letters, hints)
    files = _numbered([*report.files, dead_letters], suffix=plan.shards.suffix)
    options = plan.describe()
    try:
        version = metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        version = "source"  # a checkout that is not installed
    card = {
        "version": version,
        "made": datetime.now(UTC).date().isoformat(),
        "source": plan.source.wording._asdict(),
        "options": options,
        **_card_of_inputs(by_path, reads, list(counts["dropped"])),
        "malformed_reasons": dict(reasons.most_common(_MOST_REASONS)),
        "counts": counts,
        **_card_of_pairs(report, output.incomplete),
        "repeated": plan.source.repeated and plan.source.repeated._asdict(),
        "outputs": [{"file": name, **files[name].describe()} for name in sorted(files)],
        **synthetic_flag(by_path),
    }
    names = [PurePath(path).name for path in by_path]
    of_files = f"{len(names):,} files, {names[0]} to {names[-1]}" if len(names) > 1 else names[0]
    card["source"]["name"] = card["source"]["name"] or of_files
    output.publish(
        files,
        inputs=by_path,
        options=options,
        statistics=counts,
        documents={
            f"{DATA_CARD}.json": as_json(card),
            f"{DATA_CARD}.html": data_card.render(card).encode(),
        },
    )
    return counts


def _write_dead_letters(
    folder: str, reads: Sequence[FileRead]
) -> tuple[ShardFile, list[bytes], Counter]:
    """Writes malformed lines of all files; returns a few, and how many there are by reason, too."""
    first: list[bytes] = []
    reasons: Counter = Counter()
    with NewFile(FileSystems.join(folder, DEAD_LETTERS)) as file:
        for path in filter(None, (read.dead_letters for read in reads)):
            with closing(open_stored(path)) as stream:
                for line in islice(stream, MOST_DEAD_LETTERS - reasons.total()):
                    file.write(line)
                    first += [line] if len(first) < SHOWN else []
                    # Without what follows, a value or where the JSON ended, or there are as many as
                    # lines.
                    reasons[orjson.loads(line)["reason"].partition(":")[0]] += 1
    return ShardFile(DEAD_LETTERS, "", file.size, file.crc32c, reasons.total()), first, reasons


def _counts(report: Report, plan: Plan) -> dict[str, Any]:
    """The contents of `statistics.json`; counts of nothing are 0."""
    counts, splits = Counter(report.tally.get(COUNTS, {})), plan.shards.by_split
    for split in splits:
        counts[f"{split}_pairs"] = sum(file.records for file in report.files if file.split == split)
    are_counted = {
        **dict.fromkeys(("lines", "malformed", "duplicates"), True),
        MERGED: plan.source.flow.merges_author_runs,
        **dict.fromkeys(("comments", "dropped", "kept", "replies", "pairs"), True),
        "own_replies": plan.options.has_authors,
        TIES: plan.source.layout is Layout.ORDERED,
        UNKNOWN: plan.options.split_by == NEWEST,
        "excluded": plan.excluded is not None,
        "copies_dropped": plan.options.max_copies_of_pair is not None,
        **{f"{split}_pairs": True for split in splits},
        **{IN_TRAIN.format(split): split != TRAIN for split in splits},
    }
    dropped = {rule: counts[f"dropped/{rule}"] for rule in plan.source.rule_names}
    found = {name: counts[name] for name, is_counted in are_counted.items() if is_counted}
    return found | {"dropped": dropped}


def _accept(
    plan: Plan, counts: dict[str, Any], dead_letters: Sequence[bytes], hints: list[str]
) -> None:
    """Checks that the result may be published, and warns of what is odd."""
    options, pairs = plan.options, sum(counts[f"{split}_pairs"] for split in plan.shards.by_split)
    if plan.excluded is not None and counts["pairs"] and not counts["excluded"]:
        hints.append(plan.excluded.no_match())
    if counts["pairs"] < _FEW_PAIRS * counts["replies"]:
        hints.append(
            f"only {counts['pairs']:,} of {counts['replies']:,} kept replies have a parent that is "
            "in the input and kept ('dropped' counts messages that are not); check that ids of "
            "parents are written like ids, or add the files that hold the parents"
        )
    for split, fraction in (TEST, options.test_fraction), (VALIDATION, options.validation_fraction):
        if fraction * pairs >= _EXPECTED_PAIRS and not counts[f"{split}_pairs"]:
            hints.append(
                f"--{split}_fraction {fraction:g}: none of {pairs:,} pairs, since few threads hold "
                "all of them and none is divided; check what names the threads (--thread_field, or "
                "else the parents), or divide them with --split_by pair"
            )
    require_acceptable(counts, options, pairs=pairs, dead_letters=dead_letters, hints=hints)
    # With a test fraction of 1 all pairs are to test on.
    leaves_none = options.test_fraction < 1 and not counts[f"{TRAIN}_pairs"]
    if pairs and leaves_none and not options.allow_empty:
        validation = options.validation_fraction
        also = f", --validation_fraction {validation:g}" if validation else ""
        raise InputError(
            f"--test_fraction: {options.test_fraction:g}{also} and --split_by {options.split_by} "
            f"leave none of {pairs:,} pairs to train on; accepted: other values of these, or "
            "--allow_empty"
        )
    if TIES in counts and counts["malformed"]:
        hints.append(
            f"{counts['malformed']:,} malformed turns are left out; the turn after one replies to "
            "the turn before it"
        )
    if unknown := counts.get(UNKNOWN):
        hints.append(f"{unknown:,} threads have no time: --split_by {NEWEST} trains on the most")
    for split in plan.shards.by_split:
        held_out, learned = counts[f"{split}_pairs"], counts.get(IN_TRAIN.format(split), 0)
        if learned > _MANY_IN_TRAIN * held_out:
            hints.append(
                f"{learned:,} of {held_out:,} {split} pairs have the texts of a {TRAIN} pair, "
                "which inflates scores; --max_copies_of_pair 1 keeps one of such pairs"
            )
    for hint in hints:
        _LOG.warning("warning: %s", hint)


def _numbered(files: list[ShardFile], *, suffix: str) -> dict[str, ShardFile]:
    """Published name -> file: the shards of a split are numbered; other names stay."""
    named = {file.name: file for file in files if not file.split}
    for split in SPLITS:
        of_split = sorted(file for file in files if file.split == split)
        for number, file in enumerate(of_split):
            named[f"{split}-{number:05d}-of-{len(of_split):05d}{suffix}"] = file
    return named


def _card_of_inputs(
    by_path: dict[str, dict[str, Any]], reads: Sequence[FileRead], rule_names: list[str]
) -> dict[str, Any]:
    counts: dict[str, Counter] = {path: Counter() for path in by_path}
    examples: dict[str, list[str]] = {rule: [] for rule in rule_names}
    for read in reads:
        counts[read.about["path"]].update(lines=read.lines, malformed=read.malformed)
        for rule, texts in read.examples.items():
            examples[rule] = (examples[rule] + texts)[:EXAMPLES]
    files = [
        {"file": path, "bytes": about["bytes"], "crc32c": about["crc32c"], **counts[path]}
        for path, about in by_path.items()
    ]
    return {"inputs": files, "dropped_examples": examples}


def _card_of_pairs(report: Report, folder: str) -> dict[str, Any]:
    inputs, responses, subreddits, months = (
        report.tally.get(name, {}) for name in data_card.HISTOGRAMS
    )
    ranked = sorted(subreddits.items(), key=lambda item: (-item[1], item[0]))
    # The first pairs of files are as good as random, and the same on every runner.
    written = [file for split in SPLITS for file in report.files if file.split == split]
    shards = (InputFile(FileSystems.join(folder, file.name), file.bytes) for file in written)
    pairs = chain.from_iterable(map(pairs_of, shards))
    return {
        "input_characters": sorted((int(edge), count) for edge, count in inputs.items()),
        "response_characters": sorted((int(edge), count) for edge, count in responses.items()),
        "subreddits": ranked[:_TOP_SUBREDDITS],
        "n_subreddits": len(subreddits.keys() - {""}),
        "months": sorted(months.items()),
        "example_pairs": [
            {name: pair[name] for name in (INPUT, RESPONSE, SUBREDDIT)}
            | {"context": [pair[name] for name in pair if _TURN in name and pair[name]]}
            for pair in islice(pairs, _EXAMPLE_PAIRS)
        ],
    }
