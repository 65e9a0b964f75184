"""Hacker News: items of its API, or rows of the table in BigQuery; both have the same fields.

Their form: github.com/HackerNews/API, and bigquery-public-data.hacker_news.full.
"""

import re
from functools import partial

from data_pipeline.sources.exports.export import Export, row_items

_NAMES = ("id", "parent", "by", "title", "text", "time", "type", "dead", "deleted")
_QUOTE = re.compile(r"(?:^|(?<=<p>)|(?<=\n))(?:<i>)?(?:&gt;|>)(?:(?!<p>).)*")
"""The site has no markup for quotes; people write `>` before them."""

EXPORT = Export(
    files=("*.json*", "*.ndjson*", "*.parquet"),
    records=partial(row_items, names=_NAMES),
    fields={"id": "id", "parent": "parent", "author": "by", "time": "time", "text": "text"},
    skips={
        "deleted": lambda item: item.get("deleted"),
        "dead": lambda item: item.get("dead"),
        "not_written": lambda item: item["type"] not in ("story", "comment", "poll"),
    },
    # Who comments on a story answers its title, and its text where there is one.
    messages=lambda item, _: [
        item
        | {"text": _QUOTE.sub("", "<p>".join(filter(None, [item.get("title"), item.get("text")])))}
    ],
    markup="html",
)
