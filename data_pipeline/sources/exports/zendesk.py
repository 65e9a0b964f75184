"""Zendesk: comments of tickets, JSON lines.

A line is a comment with `ticket_id`, a ticket with its `comments` (the account's export), what the
API answers for one ticket (`comments`; the ticket is the file), or ticket events of an incremental
export with the sideload `comment_events`.

Their form: developer.zendesk.com/api-reference/ticketing, "Ticket Comments", "Incremental Exports".
"""

from collections.abc import Iterable
from functools import partial

from data_pipeline.sources.exports.export import PATH, Export, People, Record, row_items
from data_pipeline.sources.source import Layout

_LISTS = ("ticket_events", "child_events", "comments")
_NAMES = ("id", "ticket_id", *_LISTS, "author_id", "public", "plain_body", "body", "created_at")


def _comments(record: Record, people: People) -> Iterable[Record]:
    lists = [name for name in _LISTS if name in record]
    ticket = record.get("ticket_id", record.get("id") if "comments" in record else None)
    for each in record[lists[0]] if lists else ():
        if lists[0] != "child_events" or each["event_type"] == "Comment":
            path = record[PATH]
            of = {"ticket_id": path if ticket is None else ticket, PATH: path}
            yield from _comments(of | each, people)
    if not lists:
        yield record | {"text": record.get("plain_body") or record["body"]}


EXPORT = Export(
    files=("*.json*", "*.ndjson*"),
    records=partial(row_items, names=_NAMES),
    fields={
        "thread": "ticket_id",
        "order": "created_at",
        "author": "author_id",
        "time": "created_at",
        "text": "text",
    },
    skips={"not_public": lambda comment: comment["public"] is not True},
    messages=_comments,
    layout=Layout.ORDERED,
)
