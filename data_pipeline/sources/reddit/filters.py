"""Which comments are dropped, and by which rule.

The rules apply in a fixed order, and a comment counts for the first that holds. `deleted` comes
first, so that comments that the site removed are counted apart; then the rules of every kind of
message (`sources.rules`), which are the paper's by default; then Reddit's own, which are off by
default.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import values_of
from data_pipeline.sources.reddit.comment import Comment, whole_number
from data_pipeline.sources.rules import columns
from data_pipeline.sources.rules.message_rules import PAPER, MessageRules

_NOTHING_LEFT = ("", "[deleted]", "[removed]")
"""Texts of comments that are gone."""


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

    @property
    def rule_names(self) -> list[str]:
        """Names of the rules that are on, in the order in which they apply."""
        optional = {
            "min_score": self.min_score is not None,
            "subreddits": bool(self.subreddits),
            "exclude_subreddits": bool(self.exclude_subreddits),
            "bots": bool(self.bots),
            "over_18": self.drop_over_18,
        }
        own = [name for name, is_on in optional.items() if is_on]
        return ["deleted", *self.messages.names, *own]

    def masks(self, comments: Sequence[Comment], texts: Any, subreddits: Any) -> list[np.ndarray]:
        """Whether each rule drops each comment: booleans [rows], in the order of `rule_names`.

        Args:
          comments: as parsed.
          texts: unescaped and stripped, Arrow's large_string [rows].
          subreddits: Arrow's string [rows].
        """
        authors = pa.array([comment.author for comment in comments], pa.string())
        nothing_left = pa.array(_NOTHING_LEFT, pa.large_string())
        masks = {"deleted": values_of(pc.is_in(texts, value_set=nothing_left))}
        masks |= columns.masks(self.messages, texts, authors)
        if self.min_score is not None:
            masks["min_score"] = _booleans(_score(each) < self.min_score for each in comments)
        if self.subreddits:
            masks["subreddits"] = ~_lower_case_is_in(subreddits, self.subreddits)
        if self.exclude_subreddits:
            excluded = _lower_case_is_in(subreddits, self.exclude_subreddits)
            masks["exclude_subreddits"] = excluded
        if self.bots:
            masks["bots"] = _lower_case_is_in(authors, self.bots)
        if self.drop_over_18:
            masks["over_18"] = _booleans(each.over_18 in (True, "true") for each in comments)
        return [masks[name] for name in self.rule_names]


def _booleans(values: Iterable[bool]) -> np.ndarray:
    return np.fromiter(values, bool)


def _lower_case_is_in(names: Any, accepted: frozenset[str]) -> np.ndarray:
    """Whether the lower case of each name is among the accepted [rows]."""
    encoded = names.dictionary_encode()
    is_accepted = [name.lower() in accepted for name in encoded.dictionary.to_pylist()]
    return np.array(is_accepted, bool)[encoded.indices.to_numpy()]


def _score(comment: Comment) -> float:
    """Its score; where the dump has none, less than any."""
    score = whole_number(comment.score)
    return -math.inf if score is None else score
