"""Discord: the JSON of DiscordChatExporter, a file for each channel or thread.

Its form: github.com/Tyrrrz/DiscordChatExporter, Core/Exporting/JsonMessageWriter.cs. It writes
mentions as `@name` and leaves other Markdown in the texts.
"""

from functools import partial

from data_pipeline.sources.exports.export import Export, json_items

EXPORT = Export(
    files=("*.json",),
    records=partial(
        json_items, path="messages", about={"channel": "channel.name", "channel_id": "channel.id"}
    ),
    fields={
        "id": "id",
        "parent": "parent",
        "author": "author.id",
        "group": "channel",
        "time": "timestamp",
        "text": "content",
    },
    channel="channel_id",
    skips={
        "by_bot": lambda message: message["author"]["isBot"],
        # Pins, calls, people who join: all that Discord itself says.
        "system": lambda message: message["type"] not in ("Default", "Reply"),
        "forwarded": lambda message: (message.get("reference") or {}).get("type") == "Forward",
    },
    # Announcements that are posted in several channels have a reference, too.
    messages=lambda message, _: [
        message
        | {"parent": message["reference"]["messageId"] if message["type"] == "Reply" else None}
    ],
    markup="markdown",
)
