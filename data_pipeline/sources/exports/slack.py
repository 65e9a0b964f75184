"""Slack: the export of a workspace, a folder for each channel with a file for each day.

Its form: slack.com/help/articles/220556107, messages as in docs.slack.dev/reference/events/message.
"""

import re
from collections.abc import Iterable

from data_pipeline.sources.exports.export import FOLDER, Export, People, Record, json_items
from data_pipeline.sources.source import Layout
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile

_MENTION = re.compile(r"<@(\w+)(?:\|[^<>]*)?>")
_WRITTEN = (None, "thread_broadcast", "file_share", "me_message")
"""Subtypes of messages that somebody wrote; the others tell who joined, what was renamed, ..."""


def _messages(message: Record, people: People) -> Iterable[Record]:
    def named(mention: re.Match[str]) -> str:
        name = people.get(mention[1])
        return f"<@{mention[1]}|{name}>" if name else mention[0]

    channel, root = message[FOLDER], message.get("thread_ts") or message["ts"]
    yield message | {
        "id": f"{channel}:{message['ts']}",
        "thread": f"{channel}:{root}",
        "text": _MENTION.sub(named, message.get("text") or ""),
    }


def _people(file: InputFile) -> People:
    return {
        user["id"]: user.get("profile", {}).get("display_name")
        or user.get("real_name")
        or user.get("name", "")
        for user in (row.fields for row in json_items(file, Tap()))
    }


EXPORT = Export(
    files=("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].json",),
    records=json_items,
    fields={
        "id": "id",
        "parent": "thread",
        "thread": "thread",
        "author": "user",
        "group": FOLDER,
        "time": "ts",
        "text": "text",
    },
    skips={
        "by_bot": lambda message: "bot_id" in message or message.get("subtype") == "bot_message",
        "system": lambda message: message.get("subtype") not in _WRITTEN,
    },
    messages=_messages,
    channel=FOLDER,
    replies_are_apart=True,
    layout=Layout.LINKED,
    markup="slack",
    people_files=("users.json", "org_users.json"),
    people=_people,
)
