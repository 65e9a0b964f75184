"""The job's own options: declared, checked, and what of them makes two jobs the same."""

import argparse
from typing import Any, NamedTuple

from data_pipeline.errors import InputError
from data_pipeline.execution.acceptance import (
    Limits,
    add_limits,
    describe_limits,
    limits_of,
)
from data_pipeline.execution.job import add_common_arguments
from data_pipeline.files.output_folder import read_bytes
from data_pipeline.pairs import splits
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.formats import FORMATS, TFRECORD, make_format
from data_pipeline.pairs.shards import Sharding, stored_columns
from data_pipeline.pairs.tfrecord import CONTEXT
from data_pipeline.reddit.filters import Selection
from data_pipeline.reddit.join import SLOTS

_INPUT_BYTES_A_PART = 32 << 20
"""Compressed input for one bucket of the join and one train shard; some 300 MB of text."""
_MIN_PARTS = 16
MAX_CONTEXT_TURNS = 100
"""Each turn is one more join."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the job's own options; all others go to Beam."""
    add_common_arguments(
        parser,
        inputs="comment dumps, plain, .gz, .bz2, .xz or .zst, local or on a Beam filesystem",
    )
    parser.add_argument(
        "--months",
        metavar="DIR",
        help="where dumps that were read are kept, to be read once; default: _months in --output",
    )
    parser.add_argument(
        "--discard_months", action="store_true", help="remove them when the job is done"
    )
    _add_sharding(parser.add_argument_group("split and storage"))
    _add_selection(parser.add_argument_group("further filters, all off by default"))
    add_limits(parser.add_argument_group("when the job fails"))


def _add_sharding(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--test_fraction",
        type=float,
        default=0.1,
        help="part of the pairs held out, in [0, 1]; 1 for dumps that are to test on alone",
    )
    group.add_argument(
        "--validation_fraction",
        type=float,
        default=0.0,
        help="part held out besides, to choose models by, in [0, 1); default: none",
    )
    group.add_argument(
        "--split_by",
        choices=splits.SPLIT_BY,
        default=splits.THREAD,
        help="thread: all pairs of a thread on one side; pair: the paper's random split",
    )
    group.add_argument("--train_shards", type=int, help="default: by the input's size, 16 or more")
    group.add_argument("--test_shards", type=int, help="default: by the input's size, 1 or more")
    group.add_argument("--validation_shards", type=int, default=1, help="default: %(default)s")
    group.add_argument("--format", choices=FORMATS, default=TFRECORD, help="default: %(default)s")
    group.add_argument("--gzip", action="store_true", help="compress the files with gzip")
    group.add_argument(
        "--records_per_file", type=int, metavar="N", help="a shard with more becomes several files"
    )
    group.add_argument(
        "--bytes_per_file", type=int, metavar="N", help="the same by bytes, before compression"
    )
    group.add_argument(
        "--context_turns",
        type=int,
        default=0,
        metavar="N",
        help=f"add the turns before the input as features {CONTEXT.format(0)}, ...",
    )


def _add_selection(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--min_characters", type=int, default=0, metavar="N")
    group.add_argument(
        "--min_score", type=int, metavar="N", help="drop comments with a lower score, or without"
    )
    group.add_argument("--subreddits", metavar="NAME[,NAME...]", help="keep only these")
    group.add_argument("--exclude_subreddits", metavar="NAME[,NAME...]")
    group.add_argument("--bots", metavar="FILE", help="authors to drop, one a line")
    group.add_argument(
        "--drop_over_18", action="store_true", help="drop comments that the dump marks over_18"
    )
    group.add_argument(
        "--max_copies_of_pair", type=int, metavar="N", help="of pairs with equal words keep N"
    )
    group.add_argument(
        "--exclude_texts",
        nargs="+",
        default=[],
        metavar="FILE",
        help="drop pairs whose input or response stands in these evaluation sets: .txt, .csv, "
        ".tsv, .jsonl or .xml, plain or .gz",
    )


class Options(NamedTuple):
    """The options, checked."""

    sharding: Sharding
    buckets: int
    selection: Selection
    max_copies_of_pair: int | None
    excluded: Excluded | None
    limits: Limits
    description: dict[str, Any]
    """What of them makes two jobs the same, as JSON."""


def check(arguments: argparse.Namespace, *, stored_bytes: int) -> Options:
    """Makes the options of what was given, and of the input's size where nothing was.

    Raises:
      InputError: if a value is not as it must be.
    """
    _check_numbers(arguments)
    parts = max(_MIN_PARTS, stored_bytes // _INPUT_BYTES_A_PART)
    sharding = _sharding(arguments, parts)
    selection = _selection(arguments)
    excluded = Excluded(arguments.exclude_texts) if arguments.exclude_texts else None
    limits = limits_of(arguments)
    return Options(
        sharding,
        buckets=min(parts, SLOTS),
        selection=selection,
        max_copies_of_pair=arguments.max_copies_of_pair,
        excluded=excluded,
        limits=limits,
        description={
            **_describe_storage(arguments, sharding),
            **selection.describe(),
            "max_copies_of_pair": arguments.max_copies_of_pair,
            "exclude_texts": None if excluded is None else [*excluded.paths, excluded.digest()],
            **describe_limits(limits),
        },
    )


def _check_numbers(arguments: argparse.Namespace) -> None:
    _check_fractions(arguments.test_fraction, arguments.validation_fraction)
    lowest = {"context_turns": 0, "min_characters": 0}
    shards = ("train_shards", "validation_shards", "test_shards")
    if arguments.context_turns > MAX_CONTEXT_TURNS:
        raise InputError(
            f"--context_turns: {arguments.context_turns} is not 0 to {MAX_CONTEXT_TURNS}"
        )
    for name in (*shards, "records_per_file", "bytes_per_file", "max_copies_of_pair", *lowest):
        value = getattr(arguments, name)
        if value is not None and value < lowest.get(name, 1):
            raise InputError(f"--{name}: {value} is not {lowest.get(name, 1)} or more")


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


def _sharding(arguments: argparse.Namespace, parts: int) -> Sharding:
    names = stored_columns(arguments.context_turns)
    return Sharding(
        split_by=arguments.split_by,
        test_fraction=arguments.test_fraction,
        train_shards=arguments.train_shards or parts,
        test_shards=arguments.test_shards or max(1, round(parts * arguments.test_fraction)),
        format=make_format(arguments.format, names=names, gzipped=arguments.gzip),
        context_turns=arguments.context_turns,
        records_a_file=arguments.records_per_file,
        bytes_a_file=arguments.bytes_per_file,
        validation_fraction=arguments.validation_fraction,
        validation_shards=arguments.validation_shards,
    )


def _describe_storage(arguments: argparse.Namespace, sharding: Sharding) -> dict[str, Any]:
    description = {
        "split_by": sharding.split_by,
        "test_fraction": sharding.test_fraction,
        "train_shards": sharding.train_shards,
        "test_shards": sharding.test_shards,
        "format": arguments.format,
        "gzip": arguments.gzip,
        "records_per_file": arguments.records_per_file,
        "bytes_per_file": arguments.bytes_per_file,
        "context_turns": arguments.context_turns,
    }
    # Not stated where it is off: what was complete before there was the option stays complete.
    if sharding.validation_fraction:
        description["validation_fraction"] = sharding.validation_fraction
        description["validation_shards"] = sharding.validation_shards
    return description


def _selection(arguments: argparse.Namespace) -> Selection:
    return Selection(
        min_characters=arguments.min_characters,
        min_score=arguments.min_score,
        subreddits=_subreddits(arguments, "subreddits"),
        exclude_subreddits=_subreddits(arguments, "exclude_subreddits"),
        bots=_read_names(arguments.bots),
        drop_over_18=arguments.drop_over_18,
    )


def _subreddits(arguments: argparse.Namespace, option: str) -> frozenset[str]:
    given = getattr(arguments, option)
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
