"""The options of the Reddit job: declared, checked, and made into settings of the graph."""

import argparse
from typing import Any, NamedTuple

from data_pipeline.errors import InputError
from data_pipeline.execution.acceptance import (
    Limits,
    add_limits,
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
    default = RedditOptions()
    group.add_argument(
        "--test_fraction",
        type=float,
        default=default.test_fraction,
        help="fraction of the pairs held out, in [0, 1]; default: %(default)s",
    )
    group.add_argument(
        "--validation_fraction",
        type=float,
        default=default.validation_fraction,
        help="fraction held out for model selection, in [0, 1); default: none",
    )
    group.add_argument(
        "--split_by",
        choices=splits.SPLIT_BY,
        default=default.split_by,
        help="thread: all pairs of a thread in one split; pair: the paper's random split; "
        "default: %(default)s",
    )
    group.add_argument("--train_shards", type=int, help="default: by the input's size, 16 or more")
    group.add_argument("--test_shards", type=int, help="default: by the input's size, 1 or more")
    group.add_argument(
        "--validation_shards",
        type=int,
        default=default.validation_shards,
        help="default: %(default)s",
    )
    group.add_argument(
        "--format", choices=FORMATS, default=default.format, help="default: %(default)s"
    )
    group.add_argument(
        "--gzip", action="store_true", help="compress the files; not for Parquet, which is already"
    )
    group.add_argument(
        "--records_per_file",
        type=int,
        metavar="N",
        help="split shards with more into several files",
    )
    group.add_argument(
        "--context_turns",
        type=int,
        default=default.context_turns,
        metavar="N",
        help=f"add the N turns before the input as features {CONTEXT.format(0)}, ...",
    )


def _add_selection(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--min_characters", type=int, default=0, metavar="N")
    group.add_argument(
        "--min_score", type=int, metavar="N", help="drop comments with a lower score, or none"
    )
    group.add_argument("--subreddits", metavar="NAME[,NAME...]", help="keep only these")
    group.add_argument("--exclude_subreddits", metavar="NAME[,NAME...]")
    group.add_argument("--bots", metavar="FILE", help="authors to drop, one a line")
    group.add_argument(
        "--drop_over_18", action="store_true", help="drop comments that the dump marks over_18"
    )
    group.add_argument(
        "--max_copies_of_pair", type=int, metavar="N", help="keep N of pairs with equal texts"
    )
    group.add_argument(
        "--exclude_texts",
        nargs="+",
        default=[],
        metavar="FILE",
        help="drop pairs whose input or response occurs in these evaluation sets: .txt, .csv, "
        ".tsv, .jsonl or .xml, plain or .gz",
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
    if options.context_turns > MAX_CONTEXT_TURNS:
        raise InputError(
            f"--context_turns: {options.context_turns} is not 0 to {MAX_CONTEXT_TURNS}"
        )
    least = {"context_turns": 0, "min_characters": 0}
    shards = ("train_shards", "validation_shards", "test_shards")
    for name in (*shards, "records_per_file", "max_copies_of_pair", *least):
        value = getattr(options, name)
        if value is not None and value < least.get(name, 1):
            raise InputError(f"--{name}: {value} is not {least.get(name, 1)} or more")
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
    description = {
        "split_by": sharding.split_by,
        "test_fraction": sharding.test_fraction,
        "train_shards": sharding.train_shards,
        "test_shards": sharding.test_shards,
        "format": options.format,
        "gzip": options.gzip,
        "records_per_file": options.records_per_file,
        "context_turns": options.context_turns,
    }
    # Left out where it is off: outputs that were complete before the option existed stay complete.
    if sharding.validation_fraction:
        description["validation_fraction"] = sharding.validation_fraction
        description["validation_shards"] = sharding.validation_shards
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
