"""What the job reported -> the published folder: numbered shards, statistics, card, manifest."""

import logging
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from data_pipeline.cache.input_cache import first_malformed
from data_pipeline.cache.writer import EXAMPLES
from data_pipeline.card.data_card import render
from data_pipeline.card.statistics import (
    COPIES,
    COUNTS,
    INPUT_CHARACTERS,
    MONTHS,
    RESPONSE_CHARACTERS,
    SUBREDDITS,
    Tally,
    as_statistics,
)
from data_pipeline.errors import InputError
from data_pipeline.execution.acceptance import InputLines, require_pairs, warn_of_left_out
from data_pipeline.execution.report import Report, read_report
from data_pipeline.files.inputs import Dump, full_path
from data_pipeline.files.output_folder import (
    DATA_CARD,
    DEAD_LETTERS,
    STATISTICS,
    OutputFolder,
    as_json,
)
from data_pipeline.pairs.deduplication import (
    COPYPASTA_CHARACTERS,
    COPYPASTA_COPIES,
    COPYPASTA_REPLIES,
    DUPLICATE_PAIRS,
)
from data_pipeline.pairs.shards import ShardFile
from data_pipeline.pairs.splits import SIDES
from data_pipeline.reddit.comment import FIELDS
from data_pipeline.reddit.filters import Rules
from data_pipeline.reddit.join import Pair
from data_pipeline.reddit.pipeline import Plan

_LOG = logging.getLogger(__name__)
_TOP_SUBREDDITS = 100
_PACKAGE = "conversational-embeddings"


def publish(output: OutputFolder, plan: Plan, options: dict[str, Any]) -> dict[str, Any]:
    """Publishes what the job wrote aside, and returns its statistics.

    Raises:
      InputError: if dumps could not be read, or the result may not be published; what an
        earlier job has published stays then.
    """
    report = read_report(output)
    names = _numbered(report.files, suffix=plan.sharding.format.suffix)
    outputs = {names[file.name]: file.describe() for file in report.files}
    counts = _counts(report, plan)
    months = [_manifest(plan, dump) for dump in plan.dumps]
    try:
        _accept(plan, months, counts)
    except InputError:
        output.discard()
        raise
    warn_of_left_out(malformed=counts["malformed"], dead_letters=outputs[DEAD_LETTERS]["records"])
    card = _card(report, months, options=options, counts=counts, outputs=outputs)
    output.publish(
        files=names,
        documents={
            STATISTICS: as_json(counts),
            f"{DATA_CARD}.json": as_json(card),
            f"{DATA_CARD}.html": render(card).encode(),
        },
        marker={
            "inputs": {
                full_path(dump): month["input"]
                for dump, month in zip(plan.dumps, months, strict=True)
            },
            "options": options,
            "outputs": outputs,
        },
    )
    return counts


def _manifest(plan: Plan, dump: Dump) -> dict[str, Any]:
    month = plan.months.find(dump)
    if month is None:
        raise InputError(f"--input: {dump.path!r} changed while it was read")
    return month.about


def _accept(plan: Plan, months: list[dict[str, Any]], counts: dict[str, Any]) -> None:
    inputs = [
        InputLines(
            month["counts"]["lines"], month["counts"]["malformed"], partial(first_malformed, dump)
        )
        for dump, month in zip(plan.dumps, months, strict=True)
    ]
    asked = plan.months.selection.subreddits
    unmatched = sorted(asked.difference(*(month["subreddits"] for month in months)))
    hints = []
    if unmatched:
        names = ", ".join(map(repr, unmatched))
        hints.append(f"--subreddits: no comment is in {names}")
    pairs = sum(counts[f"{side}_pairs"] for side in plan.sharding.shards_by_side())
    require_pairs(counts, inputs, plan.limits, pairs=pairs, wanted=FIELDS, hints=hints)
    for hint in hints:
        _LOG.warning("warning: %s", hint)


def _counts(report: Report, plan: Plan) -> dict[str, Any]:
    more = [
        *(["excluded"] if plan.excluded is not None else []),
        *(["copies_dropped"] if plan.max_copies_of_pair is not None else []),
    ]
    written = {
        side: sum(file.records for file in report.files if file.side == side)
        for side in plan.sharding.shards_by_side()
    }
    rule_names = Rules(plan.months.selection).names
    return as_statistics(report.tally.get(COUNTS, Counter()), rule_names, more, written)


def _numbered(files: list[ShardFile], *, suffix: str) -> dict[str, str]:
    """Name aside -> name to publish: shards are numbered through, other files keep theirs."""
    names = {file.name: file.name for file in files}
    for side in SIDES:
        of_side = sorted(file.name for file in files if file.side == side)
        for number, name in enumerate(of_side):
            names[name] = f"{side}-{number:05d}-of-{len(of_side):05d}{suffix}"
    return names


def _card(
    report: Report,
    months: list[dict[str, Any]],
    *,
    options: dict[str, Any],
    counts: dict[str, Any],
    outputs: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """What `data_card.json` holds."""
    return {
        "version": _version(),
        "made": datetime.now(UTC).date().isoformat(),
        "options": options,
        **_card_of_inputs(months, list(counts["dropped"])),
        "counts": counts,
        **_card_of_pairs(report.more["examples"], report.tally),
        "outputs": [{"file": name, **output} for name, output in sorted(outputs.items())],
    }


def _card_of_inputs(months: list[dict[str, Any]], rule_names: list[str]) -> dict[str, Any]:
    reasons: Counter = Counter()
    examples: dict[str, list[str]] = {name: [] for name in rule_names}
    for month in months:
        reasons.update(month["malformed_reasons"])
        for name, texts in month["dropped_examples"].items():
            examples[name] = (examples[name] + texts)[:EXAMPLES]
    return {
        "inputs": [
            {
                "file": month["input"]["path"],
                "bytes": month["input"]["bytes"],
                "crc32c": month["input"]["crc32c"],
                **month["counts"],
            }
            for month in months
        ],
        "dropped_examples": examples,
        "malformed_reasons": dict(reasons.most_common()),
    }


def _card_of_pairs(examples: list[list], tally: Tally) -> dict[str, Any]:
    copies, subreddits = tally.get(COPIES, Counter()), tally.get(SUBREDDITS, Counter())
    ranked = sorted(subreddits.items(), key=lambda item: (-item[1], item[0]))
    return {
        "input_characters": _histogram(tally.get(INPUT_CHARACTERS, Counter())),
        "response_characters": _histogram(tally.get(RESPONSE_CHARACTERS, Counter())),
        "subreddits": ranked[:_TOP_SUBREDDITS],
        "n_subreddits": len(subreddits),
        "months": sorted(tally.get(MONTHS, Counter()).items()),
        "copies": {
            DUPLICATE_PAIRS: copies[DUPLICATE_PAIRS],
            COPYPASTA_REPLIES: copies[COPYPASTA_REPLIES],
            "copypasta_characters": COPYPASTA_CHARACTERS,
            "copypasta_copies": COPYPASTA_COPIES,
        },
        "example_pairs": [
            {
                "input": pair.input,
                "response": pair.response,
                "context": pair.context,
                "subreddit": pair.subreddit,
            }
            for pair in (Pair(*row) for row in examples)
        ],
    }


def _histogram(bins: Counter) -> list[tuple[int, int]]:
    return sorted((int(edge), count) for edge, count in bins.items())


def _version() -> str:
    """The installed package's, or the source's where it runs uninstalled."""
    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return "source"
