"""Two months of comments in the schema of Pushshift's dumps, thread by thread, in constant memory.

People ask under a post, others reply, and askers thank them or ask another question. A few replies
to January's comments are in February's file. As in real dumps, the pipeline's rules drop some
comments, some lines come twice and some are malformed.
"""

import html
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import accumulate, count, islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from backports import zstd
from tqdm import tqdm

from data_pipeline.sample.world import DUMP, Meaning, Speaker, capital, domains, word_lists

MONTHS = ("RC_2020-01.zst", "RC_2020-02.zst")
_MONTH_STARTS = (1_577_836_800, 1_580_515_200)  # 2020-01-01 and 2020-02-01, UTC
_MONTH_SECONDS = (31 * 86_400, 29 * 86_400)
_DOMAIN_TICKETS = ("forums",) * 9 + ("captions",) * 5 + ("news",) * 5 + ("chat",)
_CONVERSATIONS = (1, 1, 2, 3)
_REPLIES = (0, 1, 1, 2, 2, 3, 4)
_SCORES = (1, 1, 1, 1, 2, 2, 3, 4, 5, 8, 13, 34, 0, -1, -4)
_MAX_DEPTH = 3
_THANKS_RATE = 0.2
_NEXT_QUESTION_RATE = 0.12
_LATE_RATE = 0.02
_LOST_PARENT_RATE = 0.02
_DUPLICATE_RATE = 0.004
_MALFORMED_EVERY = 1_000
_RATES = {"deleted": 0.04, "length": 0.025, "alphabetic": 0.025, "prefix": 0.01, "bot": 0.015}
"""Shares of all comments that a rule drops, in the order of the pipeline's rules."""
_LIMITS = tuple(zip(_RATES, accumulate(_RATES.values()), strict=True))
_LONG = 350
_UNUSED = {"author_flair_text": None, "edited": False, "gilded": 0, "stickied": False}
"""Fields of a dump that nobody reads."""

Comment = dict[str, Any]
"""The fields of a dump's line; the body is plain text and the score not drawn yet."""


def write(folder: Path, *, comments: int, seed: int) -> None:
    """Writes both months at once, as late replies to January's comments belong to February."""
    folder.mkdir(exist_ok=True)
    with ExitStack() as stack:
        files = [stack.enter_context(zstd.open(folder / name, "wb")) for name in MONTHS]
        for month, line in tqdm(_lines(comments, seed), "sample", comments, unit=" comments"):
            files[month].write(line + b"\n")
        for file in files:
            file.write(b"")  # even a month without comments is a frame


def _lines(comments: int, seed: int) -> Iterator[tuple[int, bytes]]:
    """Month and line of that many comments, plus a few duplicates and malformed lines."""
    speaker = Speaker(f"dump {seed}")
    stream = _Forum(speaker, comments=comments).stream()
    for number, comment in enumerate(islice(stream, comments)):
        _spoil(comment, speaker)
        comment["body"] = html.escape(comment["body"], quote=False)  # as Reddit does it
        comment["score"] = speaker.pick(_SCORES)
        month = int(comment["created_utc"] >= _MONTH_STARTS[1])
        line = orjson.dumps(comment)
        yield month, line
        if speaker.chance(_DUPLICATE_RATE):
            yield month, line
        if number % _MALFORMED_EVERY == _MALFORMED_EVERY // 2:
            yield month, _malformed(comment, number // _MALFORMED_EVERY)


def _spoil(comment: Comment, speaker: Speaker) -> None:
    """Changes some comments, in place, so that a rule drops them."""
    draw, words = speaker.random.random(), word_lists("common")
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


def _malformed(comment: Comment, number: int) -> bytes:
    """A malformed line: cut short, without a required field, or no JSON."""
    line = orjson.dumps(comment)
    required = ("body", "id", "parent_id")
    kinds = (
        line[: len(line) // 2],
        *(orjson.dumps({key: comment[key] for key in comment if key != name}) for name in required),
        b"<html>502 Bad Gateway</html>",
    )
    return kinds[number % len(kinds)]


class _Forum:
    """The state of the stream: counters, the clock, and the thread that is written."""

    def __init__(self, speaker: Speaker, *, comments: int) -> None:
        self._speaker, self._comments, self._made = speaker, comments, 0
        self._ids, self._posts = count(int("fcl0000", 36)), count(int("eia000", 36))

    def stream(self) -> Iterator[Comment]:
        """Yields comments without end, parents first; February ends after `comments`."""
        pick = self._speaker.pick
        while True:
            self._domain = domains()[pick(_DOMAIN_TICKETS)]
            self._subreddit = pick(self._domain.words["subreddits"])
            self._month = int(2 * self._made >= self._comments)
            self._post = f"t3_{_base36(next(self._posts))}"
            for _ in range(pick(_CONVERSATIONS)):
                meaning = pick(list(self._domain.meanings.values()))
                body = self._speaker.say(pick(meaning.cores[DUMP]), self._domain)
                yield from self._asked(meaning, self._comment(body, self._post), depth=1)

    def _asked(self, meaning: Meaning, question: Comment, *, depth: int) -> Iterator[Comment]:
        """Yields a question, its replies, and the comments under those."""
        speaker = self._speaker
        yield question
        for _ in range(speaker.pick(_REPLIES)):
            reply = self._comment(speaker.reply(meaning), f"t1_{question['id']}")
            if speaker.chance(_LATE_RATE):
                reply["created_utc"] = self._time(1)
            yield reply
            parent = f"t1_{reply['id']}"
            if speaker.chance(_THANKS_RATE):
                thanks = speaker.pick(word_lists("common")["talk"]["thanks"])
                yield self._comment(capital(speaker.fill(thanks, meaning)), parent)
            elif depth < _MAX_DEPTH and speaker.chance(_NEXT_QUESTION_RATE):
                asked = speaker.related(meaning, "thing")
                body = speaker.say(speaker.pick(asked.cores[DUMP]), self._domain, "bridges")
                yield from self._asked(asked, self._comment(body, parent), depth=depth + 1)

    def _time(self, month: int) -> int:
        """A time in the month, by the progress of the stream."""
        progress = (2 * self._made / self._comments) % 1.0
        return _MONTH_STARTS[month] + int(progress * _MONTH_SECONDS[month])

    def _comment(self, body: str, parent_id: str) -> Comment:
        self._made += 1
        own_id, speaker = _base36(next(self._ids)), self._speaker
        if speaker.chance(_LOST_PARENT_RATE):
            parent_id = f"t1_e{own_id[1:]}"  # an id of the year before, in neither file
        number, names = int(speaker.random.random() * 1_000), word_lists("common")["authors"]
        author = f"{speaker.pick(names['adjectives'])}_{speaker.pick(names['nouns'])}{number}"
        return {
            "author": author,
            "body": body,
            "created_utc": self._time(self._month),
            "id": own_id,
            "link_id": self._post,
            "parent_id": parent_id,
            "score": 0,
            "subreddit": self._subreddit,
            **_UNUSED,
        }


def _base36(number: int) -> str:
    """A number as Reddit writes its ids."""
    return np.base_repr(number, 36).lower()
