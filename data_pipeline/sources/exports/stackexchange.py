"""Posts.xml of the Stack Exchange data dump: answers reply to their question.

https://meta.stackexchange.com/questions/2677 describes its fields; each row is a line. The text of
a question is its title, and its body below: what a model cuts is the end of a long body.
"""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any
from xml.etree import ElementTree

from common.tables import Row
from data_pipeline.sources.exports.export import Export, People, Record
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import read_line_batches

_QUESTION, _ANSWER = "1", "2"
_END = b"</posts>"


def _posts(file: InputFile, tap: Tap) -> Iterator[Row]:
    """The rows of a file; an accepted answer has the attribute `accepted`."""
    last = b""
    accepted: set[str | None] = set()  # those to come: a question is before its answers
    for batch in read_line_batches(file, tap):
        for number, content, fault in batch.numbered():
            line = content.strip()
            if not line or line.startswith(b"<?xml"):
                continue
            last = line
            if line in (b"<posts>", _END):
                continue
            try:
                post: dict[str, Any] = dict(ElementTree.fromstring(line).attrib)
            except ElementTree.ParseError as error:
                yield Row(number, {}, fault or f"{error}; accepted: a row a line", line)
                continue
            accepted.add(post.get("AcceptedAnswerId"))
            if (own_id := post.get("Id")) in accepted:
                accepted.remove(own_id)
                post["accepted"] = True
            yield Row(number, post)
    if last != _END:
        raise UnreadableFileError(f"{file.path}: truncated: it ends before </posts>")


def _messages(post: Record, people: People) -> Iterable[Record]:
    title, body = post.get("Title"), post["Body"]
    author = post.get("OwnerUserId") or post.get("OwnerDisplayName")
    text = f"<p>{escape(title)}</p>{body}" if title else body
    yield post | {"text": text, "author": author}


EXPORT = Export(
    files=("*Posts.xml", "*Posts.xml.*"),
    records=_posts,
    messages=_messages,
    fields={"id": "Id", "parent": "ParentId", "time": "CreationDate"}
    | {"author": "author", "text": "text"},
    skips={"other_post": lambda post: post["PostTypeId"] not in (_QUESTION, _ANSWER)},
    filters={
        "accepted_only": lambda _, post: post["PostTypeId"] == _ANSWER and "accepted" not in post,
        "min_score": lambda least, post: (
            post["PostTypeId"] == _ANSWER and int(post["Score"]) < least
        ),
    },
    markup="html",
)
