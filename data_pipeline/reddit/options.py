"""The options of the Reddit job: declared, checked, and made into settings of the graph."""

import argparse
from functools import partial
from typing import Any, NamedTuple

from data_pipeline.errors import InputError
from data_pipeline.execution.acceptance import (
    Limits,
    add_limits,
    add_option,
    describe_limits,
    limits_of,
)
from data_pipeline.files.filesystem import read_bytes
from data_pipeline.pairs import splits
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.formats import FORMATS, PARQUET, TFRECORD, make_format
from data_pipeline.pairs.shards import Sharding, stored_columns
from data_pipeline.pairs.tfrecord import CONTEXT
from data_pipeline.reddit.filters import Selection
from data_pipeline.reddit.join import SUBPARTITIONS

_INPUT_BYTES_A_PARTITION = 32 << 20
"""Compressed input for one partition of the join and one train shard; some 300 MB of text."""
_MIN_PARTITIONS = 16
MAX_CONTEXT_TURNS = 100
"""Each turn is one more join."""
_LEAST = {
    "train_shards": 1,
    "validation_shards": 1,
    "test_shards": 1,
    "records_per_file": 1,
    "max_copies_of_pair": 1,
    "context_turns": 0,
    "min_characters": 0,
}
"""The least accepted value of each option."""
_STORAGE = (
    *("split_by", "test_fraction", "train_shards", "test_shards"),
    *("format", "gzip", "records_per_file", "context_turns"),
)
"""The options of storage that two jobs must share to be the same."""


class RedditOptions(NamedTuple):
    """The options as a user gives them; each has the name of its flag."""

    test_fraction: float = 0.1
    validation_fraction: float = 0.0
    split_by: str = splits.THREAD
    train_shards: int | None = None
    test_shards: int | None = None
    validation_shards: int = 1
    format: str = TFRECORD
    gzip: bool = False
    records_per_file: int | None = None
    context_turns: int = 0
    min_characters: int = 0
    min_score: int | None = None
    subreddits: str | None = None
    exclude_subreddits: str | None = None
    bots: str | None = None
    drop_over_18: bool = False
    max_copies_of_pair: int | None = None
    exclude_texts: list[str] = []
    limits: Limits = Limits()

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "RedditOptions":
        """The options that were parsed.

        Raises:
          InputError: if a limit is out of its range.
        """
        flags = {name: getattr(arguments, name) for name in cls._fields if name != "limits"}
        return cls(**flags, limits=limits_of(arguments))


class Settings(NamedTuple):
    """What the graph depends on, made of the options and the input's size."""

    sharding: Sharding
    partitions: int
    """Of the join; each worker holds one in memory."""
    selection: Selection = Selection()
    max_copies_of_pair: int | None = None
    excluded: Excluded | None = None
    limits: Limits = Limits()
    description: dict[str, Any] = {}
    """What of the options makes two jobs the same, as JSON."""

    def describe_partitions(self) -> str:
        """How many partitions there are, and why."""
        return (
            f"{self.partitions} partitions (one for each {_INPUT_BYTES_A_PARTITION >> 20} MiB of "
            f"input, {_MIN_PARTITIONS} to {SUBPARTITIONS:,})"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the job's own options; all others go to Beam."""
    parser.add_argument(
        "--cache",
        metavar="DIR",
        help="keep the parsed dumps in this folder, for later jobs to reuse; default: not kept",
    )
    _add_storage(parser.add_argument_group("split and storage"))
    _add_selection(parser.add_argument_group("further filters, all off by default"))
    add_limits(parser.add_argument_group("when the job fails"))


def _add_storage(group: argparse._ArgumentGroup) -> None:
    add = partial(add_option, group, RedditOptions)
    add("test_fraction", "fraction of the pairs held out, in [0, 1]; default: %(default)s", float)
    add("validation_fraction", "held out for model selection, in [0, 1); default: none", float)
    add(
        "split_by",
        "thread: all pairs of a thread in one split; pair: the paper's random split; "
        "default: %(default)s",
        choices=splits.SPLIT_BY,
    )
    add("train_shards", "default: by the input's size, 16 or more", int)
    add("test_shards", "default: by the input's size, 1 or more", int)
    add("validation_shards", "default: %(default)s", int)
    add("format", "default: %(default)s", choices=FORMATS)
    add("gzip", "compress the files; not for Parquet, which is already", action="store_true")
    add("records_per_file", "split shards with more into several files", int, metavar="N")
    turns = f"add the N turns before the input as features {CONTEXT.format(0)}, ..."
    add("context_turns", turns, int, metavar="N")


def _add_selection(group: argparse._ArgumentGroup) -> None:
    add = partial(add_option, group, RedditOptions)
    add("min_characters", "drop comments with fewer", int, metavar="N")
    add("min_score", "drop comments with a lower score, or none", int, metavar="N")
    add("subreddits", "keep only these", metavar="NAME[,NAME...]")
    add("exclude_subreddits", "drop these", metavar="NAME[,NAME...]")
    add("bots", "authors to drop, one a line", metavar="FILE")
    add("drop_over_18", "drop comments that the dump marks over_18", action="store_true")
    add("max_copies_of_pair", "keep N of pairs with equal texts", int, metavar="N")
    add(
        "exclude_texts",
        "drop pairs whose input or response occurs in these evaluation sets: .txt, .csv, "
        ".tsv, .jsonl or .xml, plain or .gz",
        nargs="+",
        metavar="FILE",
    )


def check(options: RedditOptions, *, stored_bytes: int) -> Settings:
    """Checks the options; the input's size gives what they leave open.

    Raises:
      InputError: if a value is invalid; names the flag, the value and the accepted values.
    """
    _check_values(options)
    partitions = max(_MIN_PARTITIONS, stored_bytes // _INPUT_BYTES_A_PARTITION)
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
        validation_shards=options.validation_shards,
    )
    selection = _selection(options)
    excluded = Excluded(options.exclude_texts) if options.exclude_texts else None
    return Settings(
        sharding,
        partitions=min(partitions, SUBPARTITIONS),
        selection=selection,
        max_copies_of_pair=options.max_copies_of_pair,
        excluded=excluded,
        limits=options.limits,
        description={
            **_describe_storage(options, sharding),
            **selection.describe(),
            "max_copies_of_pair": options.max_copies_of_pair,
            "exclude_texts": None if excluded is None else [*excluded.paths, excluded.digest()],
            **describe_limits(options.limits),
        },
    )


def _check_values(options: RedditOptions) -> None:
    _check_fractions(options.test_fraction, options.validation_fraction)
    for name, least in _LEAST.items():
        value = getattr(options, name)
        if value is not None and value < least:
            raise InputError(f"--{name}: {value} is not {least} or more")
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
            "to train on; accepted are two fractions with a sum below 1"
        )


def _describe_storage(options: RedditOptions, sharding: Sharding) -> dict[str, Any]:
    shards = {"train_shards": sharding.train_shards, "test_shards": sharding.test_shards}
    description = {name: getattr(options, name) for name in _STORAGE} | shards
    # Left out where it is off: outputs that were complete before the option existed stay complete.
    if options.validation_fraction:
        description["validation_fraction"] = options.validation_fraction
        description["validation_shards"] = options.validation_shards
    return description


def _selection(options: RedditOptions) -> Selection:
    return Selection(
        min_characters=options.min_characters,
        min_score=options.min_score,
        subreddits=_subreddits("subreddits", options.subreddits),
        exclude_subreddits=_subreddits("exclude_subreddits", options.exclude_subreddits),
        bots=_read_names(options.bots),
        drop_over_18=options.drop_over_18,
    )


def _subreddits(option: str, given: str | None) -> frozenset[str]:
    if given is None:
        return frozenset()
    names = (name.strip().lower().strip("/").removeprefix("r/") for name in given.split(","))
    subreddits = frozenset(filter(None, names))
    if not subreddits:
        raise InputError(f"--{option}: {given!r} names none; accepted are names, as in news,aww")
    return subreddits


def _read_names(path: str | None) -> frozenset[str]:
    if path is None:
        return frozenset()
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--bots: {path!r} cannot be read: {error}") from error
    names = frozenset(filter(None, (line.strip().lower() for line in lines)))
    if not names:
        raise InputError(f"--bots: {path!r} names nobody; accepted is one author a line")
    return names
