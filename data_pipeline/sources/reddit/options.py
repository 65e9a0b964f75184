"""The options of `reddit`: declared, and made into its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from common.command_line import option
from common.errors import reading
from data_pipeline.pairs.options import PairOptions
from data_pipeline.sources.rules import RuleOptions, rules_option, texts_of

_rule = partial(option, group="Reddit's own rules that drop comments, off by default")
_NAMES = "NAME[,NAME...]"
NAMED = ("subreddits", "exclude_subreddits", "bots")
"""Options of names, each with a rule of that name, in the order of the rules."""


@dataclass(frozen=True, kw_only=True)
class RedditOptions(PairOptions, RuleOptions):
    """Make input-response pairs from Reddit comment dumps."""

    submissions: tuple[str, ...] = option(
        (),
        help="dumps of submissions (RS_*): title and text are the input of top-level comments",
        metavar="GLOB[,GLOB...]",
    )
    rules: str = rules_option("paper")
    min_score: int | None = _rule(None, help="drop comments with a lower score or no score")
    subreddits: str | None = _rule(None, help="keep only these subreddits", metavar=_NAMES)
    exclude_subreddits: str | None = _rule(None, help="drop these subreddits", metavar=_NAMES)
    bots: str | None = _rule(None, help="drop these authors, one a line", metavar="FILE")

    @cached_property
    def named(self) -> dict[str, frozenset[str]]:
        """Option of `NAMED`, if it is given -> its names, in lower case."""
        given = {option: each for option in NAMED if (each := getattr(self, option)) is not None}
        if "bots" in given:
            given["bots"] = _lines_of(given["bots"])
        return {option: _names(option, each) for option, each in given.items()}

    @property
    def inputs(self) -> Sequence[str]:
        """Dumps of comments, then those of submissions."""
        return (*self.input, *(file.path for file in self._submission_files))

    @cached_property
    def _submission_files(self) -> list[Any]:
        from data_pipeline.storage.inputs import find_inputs

        return find_inputs(self.submissions, option="--submissions") if self.submissions else []

    def source(self, files: Any) -> Any:
        """A `RedditSource` of comments and submissions; a file named as both is of submissions."""
        from data_pipeline.sources.reddit.source import RedditSource

        known = {file.full_path for file in self._submission_files}
        submissions = frozenset(file.path for file in files if file.full_path in known)
        return RedditSource(self.message_rules(), self.min_score, self.named, submissions)

    def describe(self) -> dict[str, Any]:
        """The rules that drop comments, and whether there are submissions."""
        rules = self.message_rules()._replace(placeholders="reddit").describe()
        named = {option: sorted(self.named.get(option, ())) for option in NAMED}
        others = {"submissions": True} if self.submissions else {}
        return rules | {"min_score": self.min_score} | named | others


def _lines_of(path: str) -> str:
    """The lines of the file of `--bots`, with commas between."""
    from data_pipeline.storage.filesystem import read_bytes

    with reading(f"--bots: {path!r}"):
        return ",".join(read_bytes(path).decode("utf-8-sig").splitlines())


def _names(option: str, given: str) -> frozenset[str]:
    """Names between commas in lower case, without what Reddit's pages show first: `/r/`, `u/`."""
    shown = (name.strip().strip("/") for name in given.lower().split(","))
    bare = (name.removeprefix("r/").removeprefix("u/") for name in shown)
    return frozenset(texts_of(option, ",".join(bare)) or ())
