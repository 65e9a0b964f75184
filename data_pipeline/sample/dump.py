"""Two months of comments in the schema of Pushshift's dumps, compressed with Zstandard."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from random import Random
from typing import BinaryIO, cast
from zlib import crc32

import orjson
from backports import zstd
from tqdm import tqdm

from data_pipeline.sample.noise import DUPLICATE_RATE, MALFORMED_EVERY, malformed, spoil
from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.threads import Comment, Forum
from data_pipeline.sample.world import World
from data_pipeline.storage.filesystem import NewFile

MONTHS = ("RC_2020-01.zst", "RC_2020-02.zst")
SCORES = (1, 1, 1, 1, 2, 2, 3, 4, 5, 8, 13, 34, 0, -1, -4)
CHUNK = 1 << 18  # bytes handed to the compressor at a time


def write(world: World, folder: Path, *, comments: int, seed: int) -> None:
    """Write both months at once, as late replies to January's comments belong to February."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        written = [stack.enter_context(NewFile(str(folder / name))) for name in MONTHS]
        files = [stack.enter_context(zstd.open(cast(BinaryIO, file), "wb")) for file in written]
        chunks = [bytearray() for _ in MONTHS]
        for month, line in tqdm(
            lines(world, comments=comments, seed=seed), "sample", comments, unit=" comments"
        ):
            chunks[month] += line + b"\n"
            if len(chunks[month]) > CHUNK:
                files[month].write(chunks[month])
                chunks[month].clear()
        for file, chunk in zip(files, chunks, strict=True):
            file.write(chunk)


def lines(world: World, *, comments: int, seed: int) -> Iterator[tuple[int, bytes]]:
    """Yield month and line of that many comments, plus a few duplicates and malformed lines."""
    speaker = Speaker(world, Random(f"dump {seed}"))
    forum = Forum(speaker, comments=comments)
    for number, comment in enumerate(islice(forum.stream(), comments)):
        spoil(comment, speaker)
        fields = _fields(comment, speaker)
        line = orjson.dumps(fields)
        yield comment.month, line
        if speaker.chance(DUPLICATE_RATE):
            yield comment.month, line
        if number % MALFORMED_EVERY == MALFORMED_EVERY // 2:
            yield comment.month, malformed(fields, number // MALFORMED_EVERY)


def _fields(comment: Comment, speaker: Speaker) -> dict:
    """Return the fields of a dump's line, with the body escaped as Reddit does it."""
    body = comment.body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {
        "author": comment.author,
        "author_flair_css_class": None,
        "author_flair_text": None,
        "body": body,
        "controversiality": 0,
        "created_utc": comment.created_utc,
        "distinguished": None,
        "edited": False,
        "gilded": 0,
        "id": comment.id,
        "is_submitter": False,
        "link_id": comment.link_id,
        "parent_id": comment.parent_id,
        "permalink": f"/r/{comment.subreddit}/comments/{comment.link_id[3:]}/_/{comment.id}/",
        "retrieved_on": comment.created_utc + 2_000_000,
        "score": speaker.pick(SCORES),
        "stickied": False,
        "subreddit": comment.subreddit,
        "subreddit_id": f"t5_{crc32(comment.subreddit.encode()) % 36**5:x}",
    }
