"""The options of the Reddit job: declared, checked, and made into source and settings."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from common.errors import InputError
from data_pipeline.execution.acceptance import add_option
from data_pipeline.job import options as pair_options
from data_pipeline.job.options import PairOptions
from data_pipeline.job.settings import Settings
from data_pipeline.sources.reddit.filters import Selection
from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.sources.rules.options import message_rules
from data_pipeline.sources.source import Source
from data_pipeline.storage.filesystem import read_bytes
from data_pipeline.storage.inputs import InputFile


@dataclass(frozen=True, kw_only=True)
class RedditOptions(PairOptions):
    """The options as a user gives them; each has the name of its flag."""

    rules: str = "paper"
    min_score: int | None = None
    subreddits: str | None = None
    exclude_subreddits: str | None = None
    bots: str | None = None
    drop_over_18: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options; all others go to Beam."""
    pair_options.add_arguments(parser, RedditOptions())
    group = parser.add_argument_group("Reddit's own rules that drop comments, off by default")
    add = partial(add_option, group, RedditOptions())
    add("min_score", "drop comments with a lower score or no score", int)
    add("subreddits", "keep only these subreddits", metavar="NAME[,NAME...]")
    add("exclude_subreddits", "drop these subreddits", metavar="NAME[,NAME...]")
    add("bots", "drop these authors, one a line", metavar="FILE")
    add("drop_over_18", "drop comments that the dump marks over_18", action="store_true")


def check(options: RedditOptions, files: Sequence[InputFile]) -> tuple[Source, Settings]:
    """Checks the options; the input's size gives what they leave open.

    Raises:
      InputError: if a value is invalid; names the flag, the value and the accepted values.
    """
    selection = _selection(options)
    settings = pair_options.check(
        options, stored_bytes=sum(file.size for file in files), described=selection.describe()
    )
    return pair_options.pairing_source(options, RedditSource(selection)), settings


def _selection(options: RedditOptions) -> Selection:
    return Selection(
        message_rules(options),
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
        raise InputError(f"--{option}: {given!r} names none; accepted: names, as in news,aww")
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
        raise InputError(f"--bots: {path!r} names nobody; accepted: one author a line")
    return names
