"""Noise of real dumps: comments that the pipeline's rules drop, and malformed lines."""

from itertools import accumulate

import orjson

from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.threads import Comment

# Shares of all comments, in the order of the pipeline's rules.
RATES = {"deleted": 0.04, "length": 0.025, "alphabetic": 0.025, "prefix": 0.01, "bot": 0.015}
LIMITS = tuple(zip(RATES, accumulate(RATES.values()), strict=True))
DELETED = ("[deleted]", "[removed]", "")
LONG = 350
DUPLICATE_RATE = 0.004
MALFORMED_EVERY = 1_000
REQUIRED_FIELDS = ("body", "id", "parent_id")


def spoil(comment: Comment, speaker: Speaker) -> None:
    """Change some comments, in place, so that a rule drops them."""
    draw = speaker.random.random()
    if draw >= LIMITS[-1][1]:
        return
    kind = next(kind for kind, limit in LIMITS if draw < limit)
    noise = speaker.world.noise
    if kind == "deleted":
        comment.body, comment.author = speaker.pick(DELETED), "[deleted]"
    elif kind == "length":
        comment.body = _at_length(comment.body)
    elif kind == "alphabetic":
        comment.body = speaker.pick(noise["symbols"])
    elif kind == "prefix":
        comment.body = speaker.pick(noise["prefixed"])
    else:
        comment.author = speaker.pick(speaker.world.authors["bots"])


def _at_length(body: str) -> str:
    """Return the text repeated until it is too long."""
    return " I repeat: ".join([body] * (LONG // len(body) + 1))


def malformed(fields: dict, number: int) -> bytes:
    """Return a malformed line: cut short, without a required field, or no JSON."""
    line = orjson.dumps(fields)
    kinds = (
        line[: len(line) // 2],
        *(_without(fields, field) for field in REQUIRED_FIELDS),
        b"<html>502 Bad Gateway</html>",
    )
    return kinds[number % len(kinds)]


def _without(fields: dict, field: str) -> bytes:
    return orjson.dumps({key: value for key, value in fields.items() if key != field})
