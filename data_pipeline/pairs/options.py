"""The options of all commands that make pairs: how pairs are split, stored and removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from common.command_line import option
from common.errors import InputError
from common.tfrecord import CONTEXT
from data_pipeline.options import LimitOptions

TFRECORD, PARQUET, _ = FORMATS = ("tfrecord", "parquet", "jsonl")
THREAD, PAIR, NEWEST = SPLIT_BY = ("thread", "pair", "newest")
"""`pair` is the paper's random split (section 4.1): pairs of one thread may be in several splits;
else all are in one."""
REPLIES, HALVES = PAIRS_OF = ("replies", "halves")
"""What becomes a pair: a message and a reply to it, or the halves of a message."""
FILE, FOLDER, ALL = "file", "folder", "all"
IDS_WITHIN = (THREAD, FILE, FOLDER, ALL)
"""Where an id names one message, and with turns the thread one conversation."""
_stored = partial(option, group="split and storage")


@dataclass(frozen=True, kw_only=True)
class PairOptions(LimitOptions):
    """How pairs are made, split and stored; the base of the options of commands that make pairs."""

    output: str = option("", help="the folder to write; required without --sample", metavar="DIR")
    sample: int | None = option(
        None,
        help="read only the first N messages of each file, print what they give, and write nothing",
        minimum=1,
    )

    test_fraction: float = _stored(
        0.1,
        help="fraction of the threads (of the pairs with --split_by pair) that is held out for "
        "tests",
        minimum=0,
        maximum=1,
    )
    validation_fraction: float = _stored(
        0.0, help="the same for model selection", minimum=0, below=1
    )
    split_by: str = _stored(
        THREAD,
        help="thread: all pairs of a thread in one split; pair: the paper's random split; newest: "
        "as thread, with the newest threads as test and those before them as validation",
        choices=SPLIT_BY,
    )
    train_shards: int | None = _stored(
        None, help="files of the train split; default: by the input's size, 16 or more", minimum=1
    )
    format: str = _stored(TFRECORD, help="tfrecord is what training reads", choices=FORMATS)
    gzip: bool = _stored(
        False, help="compress the files; not for Parquet, which is already compressed"
    )
    records_per_file: int | None = _stored(
        None, help="write more files if a shard has more; default: no limit", minimum=1
    )
    pairs_of: str = _stored(
        REPLIES,
        help="replies: a message and a reply to it; halves: the first and the second half of a "
        "message, more pairs to train on, from the same messages",
        choices=PAIRS_OF,
    )
    context_turns: int = _stored(
        0,
        help=f"store the N turns before the input as features {CONTEXT.format(0)} (the nearest), "
        "...; each is one more join",
        minimum=0,
        maximum=100,
    )
    max_copies_of_pair: int | None = option(
        None,
        help="keep at most N pairs with equal texts",
        minimum=1,
        group="rules that drop pairs, off by default",
    )

    def __post_init__(self) -> None:
        """Checks options that depend on each other."""
        super().__post_init__()
        if not self.output and self.sample is None:
            raise InputError("--output: is missing; accepted: the folder to write")
        if self.validation_fraction and self.test_fraction + self.validation_fraction >= 1:
            raise InputError(
                f"--validation_fraction: {self.validation_fraction} and a --test_fraction of "
                f"{self.test_fraction} leave no pairs to train on; accepted: a sum below 1"
            )
        if self.gzip and self.format == PARQUET:
            raise InputError("--gzip: Parquet files are compressed already")
        if self.pairs_of == HALVES and self.split_by != THREAD:
            raise InputError(
                f"--split_by: {self.split_by} with --pairs_of {HALVES} would train on messages "
                f"that are held out as replies; accepted: {THREAD}"
            )
        if self.split_by == NEWEST and "time" not in self.names:
            raise InputError(f"--split_by: {NEWEST} needs --time_field, the time of a message")
        if self.pairs_of == HALVES and self.context_turns:
            raise InputError(
                f"--context_turns: {self.context_turns}; accepted with --pairs_of {HALVES}: 0, as "
                "the first half of a message has no turn before it"
            )

    @property
    def names(self) -> Mapping[str, str]:
        """Role of a field, such as "time" or "author" -> its name."""
        return {"time": "created_utc"}

    @property
    def has_authors(self) -> bool:
        """Whether it is known of pairs if one person wrote both texts."""
        return "author" in self.names and self.pairs_of != HALVES

    @property
    def inputs(self) -> Sequence[str]:
        """File names and patterns."""
        return self.input

    def source(self, files: Any) -> Any:
        """Makes the `Source` of the input files; each command's options do."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """What of the source's options makes two jobs the same, as JSON; each command's do."""
        raise NotImplementedError
