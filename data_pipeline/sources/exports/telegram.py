"""Telegram Desktop: `result.json`, of one chat or of all.

Its form: core.telegram.org/import-export, and export/output/export_output_json.cpp of the program.
"""

import re
from collections.abc import Iterable
from functools import partial

from data_pipeline.sources.exports.export import Export, People, Record, json_items

_CHATS = "chats.list.item."
_DIGITS = re.compile(r"\d+")


def _messages(message: Record, _: People) -> Iterable[Record]:
    pieces, chat = message.get("text", ""), message["chat_id"]
    pieces = [pieces] if isinstance(pieces, str) else pieces
    parent, elsewhere = message.get("reply_to_message_id"), message.get("reply_to_peer_id")
    # Ids restart in each chat, and a message may answer one of another chat.
    of_parent = _DIGITS.findall(elsewhere)[0] if elsewhere else chat
    yield message | {
        "id": f"{chat}:{message['id']}",
        "parent": parent and f"{of_parent}:{parent}",
        "text": "".join(
            each if isinstance(each, str) else each["text"] * (each.get("type") != "blockquote")
            for each in pieces
        ),
    }


EXPORT = Export(
    files=("result.json",),
    records=partial(
        json_items, path="messages", about={"chat_id": "id", "chat": "name"}, inside=_CHATS
    ),
    fields={
        "id": "id",
        "parent": "parent",
        "author": "from_id",
        "group": "chat",
        "time": "date_unixtime",
        "text": "text",
    },
    skips={
        "system": lambda message: message["type"] != "message",
        "forwarded": lambda message: "forwarded_from" in message,
        "by_bot": lambda message: "via_bot" in message,
    },
    messages=_messages,
    channel="chat_id",
)
