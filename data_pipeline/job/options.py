"""The options that all commands share that make pairs: declared, checked, made into settings."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Self

from common.errors import InputError
from data_pipeline.execution.acceptance import (
    Limits,
    add_limits,
    add_option,
    describe_limits,
    limits_of,
)
from data_pipeline.job.settings import Settings
from data_pipeline.pairs import splits
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.formats import FORMATS, PARQUET, TFRECORD, make_format
from data_pipeline.pairs.schema import stored_columns
from data_pipeline.pairs.shards import Sharding
from data_pipeline.pairs.tfrecord import CONTEXT
from data_pipeline.sources.halves import Halves
from data_pipeline.sources.rules import options as rule_options
from data_pipeline.sources.source import Layout, Source

_INPUT_BYTES_A_PARTITION = 32 << 20
"""Compressed input for one partition of the join and one train shard; some 300 MB of text."""
_MIN_PARTITIONS = 16
_MOST_PARTITIONS = 1024
MAX_CONTEXT_TURNS = 100
"""Each turn is one more join."""
_LEAST = {
    "train_shards": 1,
    "validation_shards": 1,
    "test_shards": 1,
    "records_per_file": 1,
    "max_copies_of_pair": 1,
    "context_turns": 0,
}
"""The least accepted value of each option."""
_STORAGE = (
    *("split_by", "test_fraction", "train_shards", "test_shards"),
    *("format", "gzip", "records_per_file", "context_turns"),
)
"""The options of storage that two jobs must share to be the same."""
_LIMITS = Limits()
REPLIES = "replies"
HALVES = "halves"
PAIRS_OF = (REPLIES, HALVES)
"""What becomes a pair: a message and a reply to it, or the halves of a message."""


@dataclass(frozen=True, kw_only=True)
class PairOptions(rule_options.RuleOptions):
    """The options as a user gives them; each has the name of its flag."""

    test_fraction: float = 0.1
    validation_fraction: float = 0.0
    split_by: str = splits.THREAD
    train_shards: int | None = None
    test_shards: int | None = None
    validation_shards: int | None = None
    pairs_of: str = REPLIES
    format: str = TFRECORD
    gzip: bool = False
    records_per_file: int | None = None
    context_turns: int = 0
    max_copies_of_pair: int | None = None
    exclude_texts: Sequence[str] = ()
    limits: Limits = _LIMITS

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Self:
        """The options that were parsed.

        Raises:
          InputError: if a limit is out of its range.
        """
        names = (field.name for field in fields(cls))
        flags = {name: getattr(arguments, name) for name in names if name != "limits"}
        return cls(**flags, limits=limits_of(arguments))


def add_arguments(parser: argparse.ArgumentParser, options: PairOptions) -> None:
    """Declares the options; `options` holds their defaults. All others go to Beam."""
    _add_storage(parser.add_argument_group("split and storage"), options)
    rules = parser.add_argument_group("rules that drop messages")
    rule_options.add_arguments(rules, options)
    _add_removal(parser.add_argument_group("rules that drop pairs, off by default"), options)
    limits = parser.add_argument_group("when the job fails")
    add_limits(limits)


def _add_storage(group: argparse._ArgumentGroup, options: PairOptions) -> None:
    add = partial(add_option, group, options)
    add(
        "test_fraction",
        "fraction of the threads (of the pairs with --split_by pair) that is held out for tests, "
        "in [0, 1]; default: %(default)s",
        float,
        metavar="F",
    )
    add(
        "validation_fraction",
        "the same for model selection, in [0, 1); default: %(default)s",
        float,
        metavar="F",
    )
    add(
        "split_by",
        "thread: all pairs of a thread in one split; pair: the paper's random split; "
        "default: %(default)s",
        choices=splits.SPLIT_BY,
    )
    shards = "files of the {} split; default: "
    add("train_shards", shards.format("train") + "by the input's size, 16 or more", int)
    add("test_shards", shards.format("test") + "by the input's size, 1 or more", int)
    add("validation_shards", shards.format("validation") + "by the input's size, 1 or more", int)
    add("format", "tfrecord is what training reads; default: %(default)s", choices=FORMATS)
    add(
        "gzip",
        "compress the files; not for Parquet, which is already compressed",
        action="store_true",
    )
    add("records_per_file", "write more files if a shard has more; default: no limit", int)
    add(
        "pairs_of",
        "replies: a message and a reply to it; halves: the first and the second half of a message, "
        "more pairs to train on, from the same messages; default: %(default)s",
        choices=PAIRS_OF,
    )
    turns = (
        f"store the N turns before the input as features {CONTEXT.format(0)} (the nearest), ...; "
        "default: %(default)s"
    )
    add("context_turns", turns, int)


def _add_removal(group: argparse._ArgumentGroup, options: PairOptions) -> None:
    add = partial(add_option, group, options)
    add("max_copies_of_pair", "keep at most N pairs with equal texts", int)
    group.add_argument(
        "--exclude_texts",
        action="extend",
        nargs="+",
        default=[],
        metavar="GLOB",
        help="drop pairs with a text of these evaluation sets, also as a context turn (names or "
        "patterns): .txt, .csv, .tsv, .jsonl or .xml, plain or .gz",
    )


def pairing_source(options: PairOptions, source: Source) -> Source:
    """What yields the messages, or the halves of each, as the options say.

    Raises:
      InputError: if the source or the options cannot give halves.
    """
    if options.pairs_of == REPLIES:
        return source
    if options.pairs_of not in PAIRS_OF:
        raise InputError(f"--pairs_of: {options.pairs_of!r} is not one of {', '.join(PAIRS_OF)}")
    if source.layout is Layout.ROWS:
        raise InputError(
            f"--pairs_of: {HALVES!r} is for messages, and a row is a pair already; accepted by "
            "reddit and conversations"
        )
    if source.layout is Layout.LINKED_THREADS:
        raise InputError(
            f"--pairs_of: {HALVES!r} needs --thread_field: the halves of a message belong in the "
            "split of its thread"
        )
    if options.split_by != splits.THREAD:
        raise InputError(
            f"--pairs_of: {HALVES!r} with --split_by {options.split_by} would train on messages "
            f"that are held out as replies; accepted: --split_by {splits.THREAD}"
        )
    if options.context_turns:
        raise InputError(
            f"--context_turns: {options.context_turns} with --pairs_of {HALVES}; accepted: 0, as "
            "the first half of a message has no turn before it"
        )
    return Halves(source)


def check(options: PairOptions, *, stored_bytes: int, described: dict[str, Any]) -> Settings:
    """Checks the options; the input's size gives what they leave open.

    Args:
      options: of any command.
      stored_bytes: of all inputs.
      described: what of the source's options makes two jobs the same.

    Raises:
      InputError: if a value is invalid; names the flag, the value and the accepted values.
    """
    _check_values(options)
    parts = stored_bytes // _INPUT_BYTES_A_PARTITION
    partitions = max(_MIN_PARTITIONS, parts)
    sharding = Sharding(
        split_by=options.split_by,
        test_fraction=options.test_fraction,
        train_shards=options.train_shards or partitions,
        test_shards=options.test_shards or max(1, round(partitions * options.test_fraction)),
        format=make_format(
            options.format, names=stored_columns(options.context_turns), gzipped=options.gzip
        ),
        context_turns=options.context_turns,
        records_a_file=options.records_per_file,
        validation_fraction=options.validation_fraction,
        # A worker holds a shard in memory; most inputs need no more than one for validation.
        validation_shards=options.validation_shards
        or max(1, round(parts * options.validation_fraction)),
    )
    excluded = None
    if options.exclude_texts:
        excluded = Excluded(options.exclude_texts, are_halves=options.pairs_of == HALVES)
    return Settings(
        sharding,
        partitions=min(partitions, _MOST_PARTITIONS),
        max_copies_of_pair=options.max_copies_of_pair,
        excluded=excluded,
        limits=options.limits,
        description={
            **_describe_storage(options, sharding),
            **described,
            "max_copies_of_pair": options.max_copies_of_pair,
            "exclude_texts": None if excluded is None else excluded.describe(),
            **describe_limits(options.limits),
        },
    )


def _check_values(options: PairOptions) -> None:
    _check_fractions(options.test_fraction, options.validation_fraction)
    for name, least in _LEAST.items():
        value = getattr(options, name)
        if value is not None and value < least:
            raise InputError(f"--{name}: {value} is not {least} or more")
    if options.validation_shards is not None and not options.validation_fraction:
        raise InputError(
            f"--validation_shards: {options.validation_shards} has no effect without "
            "--validation_fraction; accepted with a fraction above 0"
        )
    turns = options.context_turns
    if turns > MAX_CONTEXT_TURNS:
        raise InputError(f"--context_turns: {turns} is not 0 to {MAX_CONTEXT_TURNS}")
    for name, accepted in (("split_by", splits.SPLIT_BY), ("format", FORMATS)):
        value = getattr(options, name)
        if value not in accepted:
            raise InputError(f"--{name}: {value!r} is not one of {', '.join(accepted)}")
    if options.gzip and options.format == PARQUET:
        raise InputError(
            "--gzip: Parquet files are compressed already; accepted with --format tfrecord or jsonl"
        )


def _check_fractions(test: float, validation: float) -> None:
    if not 0 <= test <= 1:
        raise InputError(f"--test_fraction: {test} is not in [0, 1]")
    if not 0 <= validation < 1:
        raise InputError(f"--validation_fraction: {validation} is not in [0, 1)")
    if validation and test + validation >= 1:
        raise InputError(
            f"--validation_fraction: {validation} and a --test_fraction of {test} leave no pairs "
            "to train on; accepted: two fractions with a sum below 1"
        )


def _describe_storage(options: PairOptions, sharding: Sharding) -> dict[str, Any]:
    shards = {"train_shards": sharding.train_shards, "test_shards": sharding.test_shards}
    description = {name: getattr(options, name) for name in _STORAGE} | shards
    # Left out where it is off: outputs that were complete before the option existed stay complete.
    if options.pairs_of != REPLIES:
        description["pairs_of"] = options.pairs_of
    if options.validation_fraction:
        description["validation_fraction"] = options.validation_fraction
        description["validation_shards"] = sharding.validation_shards
    return description
