"""The options of `reddit`: declared, and made into its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from common.command_line import option
from data_pipeline.pairs.options import PairOptions
from data_pipeline.sources.rules import RuleOptions, rules_option, texts_of

if TYPE_CHECKING:
    from data_pipeline.sources.reddit.source import RedditSource, Selection
    from data_pipeline.storage.inputs import InputFile

_GROUP = "Reddit's own rules that drop comments, off by default"
_NAMES = "NAME[,NAME...]"


@dataclass(frozen=True, kw_only=True)
class RedditOptions(PairOptions, RuleOptions):
    """Which comments become pairs, and how they are stored."""

    rules: str = rules_option("paper")
    min_score: int | None = option(
        None, help="drop comments with a lower score or no score", group=_GROUP
    )
    subreddits: str | None = option(
        None, help="keep only these subreddits", metavar=_NAMES, group=_GROUP
    )
    exclude_subreddits: str | None = option(
        None, help="drop these subreddits", metavar=_NAMES, group=_GROUP
    )

    @cached_property
    def selection(self) -> "Selection":
        """The rules that drop comments.

        Raises:
          InputError: if a list of names is empty.
        """
        from data_pipeline.sources.reddit.source import Selection

        return Selection(
            self.message_rules(),
            min_score=self.min_score,
            subreddits=_subreddits("subreddits", self.subreddits),
            exclude_subreddits=_subreddits("exclude_subreddits", self.exclude_subreddits),
        )

    def source(self, files: "Sequence[InputFile]") -> "RedditSource":
        """Reads dumps of comments."""
        from data_pipeline.sources.reddit.source import RedditSource

        del files
        return RedditSource(self.selection)

    def describe(self) -> dict[str, Any]:
        """The rules that drop comments."""
        return self.selection.describe()


def _subreddits(name: str, given: str | None) -> frozenset[str]:
    names = given and ",".join(
        each.strip().lower().strip("/").removeprefix("r/") for each in given.split(",")
    )
    return frozenset(texts_of(name, names) or ())
