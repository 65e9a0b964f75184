"""Which comments are dropped, and by which rule.

The rules apply in a fixed order, and a comment counts for the first that holds. `deleted` comes
first, so that comments that the site removed are counted apart; then the rules of every kind of
message (`sources.rules`), which are the paper's by default; then Reddit's own, which are off
by default.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import values_of
from data_pipeline.sources.reddit.comment import Comment, Fields, whole_number
from data_pipeline.sources.rules.columns import masks
from data_pipeline.sources.rules.message_rules import PAPER, MessageRules

_NOTHING_LEFT = frozenset(("", "[deleted]", "[removed]"))


def is_deleted(comment: Comment) -> bool:
    """Its text is empty, [deleted] or [removed]."""
    return comment.text in _NOTHING_LEFT


class Selection(NamedTuple):
    """The settings of the rules; by default the paper's are on and Reddit's own off."""

    messages: MessageRules = PAPER
    min_score: int | None = None
    subreddits: frozenset[str] = frozenset()
    """Lower case; empty for all."""
    exclude_subreddits: frozenset[str] = frozenset()
    bots: frozenset[str] = frozenset()
    """Authors' names in lower case, besides those that contain "bot"."""
    drop_over_18: bool = False

    def describe(self) -> dict[str, Any]:
        """As JSON, the same for the same selection."""
        own = self._asdict()
        del own["messages"]
        return self.messages.describe() | {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in own.items()
        }


class Rules:
    """The rules that are on: `deleted`, those of every message, then Reddit's own."""

    def __init__(self, selection: Selection):
        self._selection = selection
        optional: dict[str, tuple[Any, Callable[[Comment], bool]]] = {
            "min_score": (
                selection.min_score is not None,
                lambda comment: _score(comment) < (selection.min_score or 0),
            ),
            "subreddits": (
                selection.subreddits,
                lambda comment: comment.subreddit.lower() not in selection.subreddits,
            ),
            "exclude_subreddits": (
                selection.exclude_subreddits,
                lambda comment: comment.subreddit.lower() in selection.exclude_subreddits,
            ),
            "bots": (
                selection.bots,
                lambda comment: comment.author.lower() in selection.bots,
            ),
            "over_18": (
                selection.drop_over_18,
                is_over_18,
            ),
        }
        rules: dict[str, Callable[[Comment], bool]] = {"deleted": is_deleted}
        rules |= selection.messages.predicates()
        rules |= {name: holds for name, (is_on, holds) in optional.items() if is_on}
        self._rules = list(rules.values())
        self.names = list(rules)
        """Names of the rules, in the order in which they apply."""

    def masks(self, comments: Sequence[Fields], texts: Any, subreddits: Any) -> list[np.ndarray]:
        """Whether each rule drops each comment: booleans [rows], in the order of `names`.

        Args:
          comments: as parsed.
          texts: unescaped and stripped, Arrow's large_string [rows].
          subreddits: Arrow's string [rows].
        """
        selection = self._selection
        authors = pa.array([comment.author for comment in comments], pa.string())
        nothing_left = pa.array(sorted(_NOTHING_LEFT), pa.large_string())
        found = {"deleted": values_of(pc.is_in(texts, value_set=nothing_left))}
        found |= masks(selection.messages, texts, authors)
        if "min_score" in self.names:
            least = selection.min_score or 0
            found["min_score"] = _booleans(_score(comment) < least for comment in comments)
        if selection.subreddits:
            found["subreddits"] = ~_lower_case_is_in(subreddits, selection.subreddits)
        if selection.exclude_subreddits:
            excluded = _lower_case_is_in(subreddits, selection.exclude_subreddits)
            found["exclude_subreddits"] = excluded
        if selection.bots:
            found["bots"] = _lower_case_is_in(authors, selection.bots)
        if selection.drop_over_18:
            found["over_18"] = _booleans(is_over_18(comment) for comment in comments)
        return [found[name] for name in self.names]

    def that_drops(self, comment: Comment) -> int | None:
        """The index of the first rule that holds, or None for a comment to keep."""
        for index, holds in enumerate(self._rules):
            if holds(comment):
                return index
        return None


def is_over_18(comment: Comment | Fields) -> bool:
    """Whether the dump marks it as for adults only."""
    return comment.over_18 in (True, "true")


def _booleans(values: Iterable[bool]) -> np.ndarray:
    return np.fromiter(values, bool)


def _lower_case_is_in(names: Any, wanted: frozenset[str]) -> np.ndarray:
    """Whether the lower case of each name is among the wanted [rows]."""
    encoded = names.dictionary_encode()
    is_wanted = [name.lower() in wanted for name in encoded.dictionary.to_pylist()]
    return np.array(is_wanted, bool)[encoded.indices.to_numpy()]


def _score(comment: Comment | Fields) -> float:
    """Its score; where the dump has none, less than any."""
    score = whole_number(comment.score)
    return -math.inf if score is None else score
