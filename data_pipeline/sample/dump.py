"""Two months of comments in the schema of Pushshift's dumps, compressed with Zstandard.

As in real dumps, some comments are such that the pipeline's rules drop them, some lines come twice
and some are malformed.
"""

import html
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import accumulate, islice
from pathlib import Path
from random import Random

import orjson
from backports import zstd
from tqdm import tqdm

from common.files import aside
from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.threads import FEBRUARY, MONTH_STARTS, Comment, Forum
from data_pipeline.sample.world import World

MONTHS = ("RC_2020-01.zst", "RC_2020-02.zst")
RATES = {"deleted": 0.04, "length": 0.025, "alphabetic": 0.025, "prefix": 0.01, "bot": 0.015}
"""Shares of all comments that a rule drops, in the order of the pipeline's rules."""
MALFORMED_EVERY = 1_000
_LIMITS = tuple(zip(RATES, accumulate(RATES.values()), strict=True))
_DUPLICATE_RATE = 0.004
_LONG = 350
_SCORES = (1, 1, 1, 1, 2, 2, 3, 4, 5, 8, 13, 34, 0, -1, -4)


def write(world: World, folder: Path, *, comments: int, seed: int) -> None:
    """Writes both months at once, as late replies to January's comments belong to February."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        written = [stack.enter_context(aside(folder / name)) for name in MONTHS]
        files = [stack.enter_context(zstd.open(path, "wb")) for path in written]
        made = lines(world, comments=comments, seed=seed)
        for month, line in tqdm(made, "sample", comments, unit=" comments"):
            files[month].write(line + b"\n")
        for file in files:
            file.write(b"")  # even a month without comments is a frame


def lines(world: World, *, comments: int, seed: int) -> Iterator[tuple[int, bytes]]:
    """Yields month and line of that many comments, plus a few duplicates and malformed lines."""
    speaker = Speaker(world, Random(f"dump {seed}"))
    stream = Forum(speaker, comments=comments).stream()
    for number, comment in enumerate(islice(stream, comments)):
        _spoil(comment, speaker)
        comment["body"] = html.escape(comment["body"], quote=False)  # as Reddit does it
        comment["score"] = speaker.pick(_SCORES)
        month = int(comment["created_utc"] >= MONTH_STARTS[FEBRUARY])
        line = orjson.dumps(comment)
        yield month, line
        if speaker.chance(_DUPLICATE_RATE):
            yield month, line
        if number % MALFORMED_EVERY == MALFORMED_EVERY // 2:
            yield month, malformed(comment, number // MALFORMED_EVERY)


def _spoil(comment: Comment, speaker: Speaker) -> None:
    """Changes some comments, in place, so that a rule drops them."""
    draw, words = speaker.random.random(), speaker.world.words
    match next((rule for rule, limit in _LIMITS if draw < limit), None):
        case "deleted":
            comment["body"] = speaker.pick(("[deleted]", "[removed]", ""))
            comment["author"] = "[deleted]"
        case "length":
            times = _LONG // len(comment["body"]) + 1
            comment["body"] = " I repeat: ".join([comment["body"]] * times)
        case "alphabetic":
            comment["body"] = speaker.pick(words["noise"]["symbols"])
        case "prefix":
            comment["body"] = speaker.pick(words["noise"]["prefixed"])
        case "bot":
            comment["author"] = speaker.pick(words["authors"]["bots"])


def malformed(comment: Comment, number: int) -> bytes:
    """A malformed line: cut short, without a required field, or no JSON."""
    line = orjson.dumps(comment)
    required = ("body", "id", "parent_id")
    kinds = (
        line[: len(line) // 2],
        *(orjson.dumps({key: comment[key] for key in comment if key != name}) for name in required),
        b"<html>502 Bad Gateway</html>",
    )
    return kinds[number % len(kinds)]
