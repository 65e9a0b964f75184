"""Dialogues, each a row of JSON lines or Parquet, as sets of training data have them.

The turns are `messages` of a role and content (OpenAI's), `conversations` of `from` and `value`
(ShareGPT's), `conversation` (LMSYS's), `dialog` (DailyDialog's) or `data` (UltraChat's). Turns
may also be texts, or objects with a `text`.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from data_pipeline.pairs.options import FILE
from data_pipeline.sources.exports.export import NUMBER, Export, People, Record, row_items
from data_pipeline.sources.source import Layout

_NAMES = ("messages", "conversations", "conversation", "dialog", "data")
_SPOKEN = ("content", "value", "text")


def _turns(record: Record, _: People) -> Iterable[Record]:
    given = [name for name in _NAMES if record.get(name) is not None]
    if len(given) > 1:
        raise ValueError(f"has turns in {' and '.join(given)}; accepted: in one of them")
    turns = _first(record, _NAMES)
    if not isinstance(turns, list):  # a text would give its characters
        raise TypeError(f"turns are a list, but here {type(turns).__name__}")
    for order, turn in enumerate(turns):
        said = turn if isinstance(turn, dict) else {"text": turn}
        role = said.get("role", said.get("from"))
        text = _text(_first(said, _SPOKEN))
        yield {"thread": record[NUMBER], "order": order, "author": role, "text": text}


def _first(record: Record, names: Sequence[str]) -> Any:
    """The first of some fields that is there and not null."""
    there = [record[name] for name in names if name in record]
    if not there:
        raise KeyError(" or ".join(names))
    return next((value for value in there if value is not None), None)


def _text(content: Any) -> Any:
    """The text of a content, which may be a list of parts; none where a tool is called."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


EXPORT = Export(
    files=("*.json*", "*.ndjson*", "*.parquet"),
    records=partial(row_items, names=_NAMES),
    fields={"thread": "thread", "order": "order", "author": "author", "text": "text"},
    skips={
        "not_said": lambda turn: (
            turn["author"] in ("system", "developer", "tool", "function") or not turn["text"]
        )
    },
    messages=_turns,
    layout=Layout.ORDERED,
    ids_within=FILE,
)
