"""The options of `reddit`: declared, and made into its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from common.command_line import option
from common.errors import InputError
from data_pipeline.pairs.options import PairOptions
from data_pipeline.sources.rules import options as rules
from data_pipeline.sources.rules.options import RuleOptions, texts_of

if TYPE_CHECKING:
    from data_pipeline.sources.reddit.filters import Selection
    from data_pipeline.sources.source import Source
    from data_pipeline.storage.inputs import InputFile

_GROUP = "Reddit's own rules that drop comments, off by default"
_NAMES = "NAME[,NAME...]"


@dataclass(frozen=True, kw_only=True)
class RedditOptions(PairOptions, RuleOptions):
    """Which comments become pairs, and how they are stored."""

    rules: str = option(
        "paper", help=rules.RULES_HELP, choices=tuple(rules.RULES), group=rules.GROUP
    )
    min_score: int | None = option(
        None, help="drop comments with a lower score or no score", group=_GROUP
    )
    subreddits: str | None = option(
        None, help="keep only these subreddits", metavar=_NAMES, group=_GROUP
    )
    exclude_subreddits: str | None = option(
        None, help="drop these subreddits", metavar=_NAMES, group=_GROUP
    )
    bots: str | None = option(
        None, help="drop these authors, one a line", metavar="FILE", group=_GROUP
    )
    drop_over_18: bool = option(
        False, help="drop comments that the dump marks over_18", group=_GROUP
    )

    @cached_property
    def selection(self) -> "Selection":
        """The rules that drop comments.

        Raises:
          InputError: if a list of names is empty or cannot be read.
        """
        from data_pipeline.sources.reddit.filters import Selection

        return Selection(
            self.message_rules(),
            min_score=self.min_score,
            subreddits=_subreddits("subreddits", self.subreddits),
            exclude_subreddits=_subreddits("exclude_subreddits", self.exclude_subreddits),
            bots=_read_names(self.bots),
            drop_over_18=self.drop_over_18,
        )

    def source(self, files: "Sequence[InputFile]") -> "Source":
        """Reads dumps of comments."""
        from data_pipeline.sources.reddit.source import RedditSource

        del files
        return RedditSource(self.selection)

    def describe(self) -> dict[str, Any]:
        """The rules that drop comments."""
        return self.selection.describe()


def _subreddits(name: str, given: str | None) -> frozenset[str]:
    if given is None:
        return frozenset()
    names = (each.strip().lower().strip("/").removeprefix("r/") for each in given.split(","))
    return frozenset(texts_of(name, ",".join(names)))


def _read_names(path: str | None) -> frozenset[str]:
    from data_pipeline.storage.filesystem import read_bytes

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
