"""Two months of comments in the schema of Pushshift's dumps, thread by thread, in constant memory.

People ask under a post, others reply, and askers thank them or ask another question. A few replies
to January's comments are in February's file. As in real dumps, the pipeline's rules drop some
comments, some lines come twice and some are malformed.
"""

import html
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from backports import zstd
from tqdm import tqdm

from data_pipeline.sample.world import DUMP, Meaning, Speaker, capital, meanings, word_lists

MONTHS = ("RC_2020-01.zst", "RC_2020-02.zst")
_JANUARY, _FEBRUARY, _MARCH = 1_577_836_800, 1_580_515_200, 1_583_020_800  # 2020, UTC
_KINDS = ("forums",) * 9 + ("captions",) * 5 + ("news",) * 5 + ("chat",)
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
"""Shares of all comments that a rule drops."""

Comment = dict[str, Any]
"""The fields of a dump's line."""


def write(folder: Path, *, comments: int, seed: int) -> None:
    """Writes both months at once, as late replies to January's comments belong to February."""
    folder.mkdir(exist_ok=True)
    speaker = Speaker(f"dump {seed}")
    stream = islice(_Forum(speaker, comments=comments).stream(), comments)
    with ExitStack() as stack:
        files = [stack.enter_context(zstd.open(folder / name, "wb")) for name in MONTHS]
        for number, comment in enumerate(tqdm(stream, "sample", comments, unit=" comments")):
            comment.update(_spoiled(comment["body"], speaker))
            comment["body"] = html.escape(comment["body"], quote=False)  # as Reddit does it
            line = orjson.dumps(comment)
            lines = [line] * (1 + speaker.chance(_DUPLICATE_RATE))
            if number % _MALFORMED_EVERY == _MALFORMED_EVERY // 2:
                without_body = line.replace(b'"body"', b'"text"')
                cut, page = line[: len(line) // 2], b"<html>502 Bad Gateway</html>"
                lines.append(speaker.pick((cut, without_body, page)))
            month = files[comment["created_utc"] >= _FEBRUARY]
            month.write(b"\n".join([*lines, b""]))
        for file in files:
            file.write(b"")  # even a month without comments is a frame


def _spoiled(body: str, speaker: Speaker) -> dict[str, str]:
    """What of some comments is changed so that a rule drops them."""
    common, draw = word_lists("common"), speaker.random.random()
    for rule, rate in _RATES.items():
        draw -= rate
        if draw < 0:
            changes = {
                "deleted": {"author": "[deleted]", "body": speaker.pick(("[deleted]", ""))},
                "length": {"body": " I repeat: ".join([body] * 30)},
                "alphabetic": {"body": speaker.pick(common["noise"]["symbols"])},
                "prefix": {"body": speaker.pick(common["noise"]["prefixed"])},
                "bot": {"author": speaker.pick(common["authors"]["bots"])},
            }
            return changes[rule]
    return {}


class _Forum:
    """The stream of comments: its counters, and the thread that is written."""

    def __init__(self, speaker: Speaker, *, comments: int) -> None:
        self._speaker, self._comments, self._made = speaker, comments, 0
        self._ids, self._thread = count(int("fcl0000", 36)), dict[str, str]()

    def stream(self) -> Iterator[Comment]:
        """Yields comments without end, parents first; February ends after `comments`."""
        pick = self._speaker.pick
        for post in count(int("eia000", 36)):
            kind, name = pick(_KINDS), f"t3_{_base36(post)}"
            subreddit = pick(word_lists(kind)["subreddits"])
            self._thread = {"link_id": name, "subreddit": subreddit}
            for _ in range(pick(_CONVERSATIONS)):
                yield from self._asked(pick([*meanings(kind).values()]), name)

    def _asked(
        self, meaning: Meaning, parent: str, *, before: str = "openers", depth: int = 1
    ) -> Iterator[Comment]:
        """Yields a question, its replies, and the comments under those."""
        speaker = self._speaker
        said = speaker.say(speaker.pick(meaning.cores[DUMP]), meaning.words, before)
        question = self._comment(said, parent)
        yield question
        for _ in range(speaker.pick(_REPLIES)):
            reply = self._comment(speaker.reply(meaning), f"t1_{question['id']}")
            if speaker.chance(_LATE_RATE):
                reply["created_utc"] = max(reply["created_utc"], _FEBRUARY)
            yield reply
            parent = f"t1_{reply['id']}"
            if speaker.chance(_THANKS_RATE):
                thanks = speaker.pick(word_lists("common")["talk"]["thanks"])
                yield self._comment(capital(speaker.fill(thanks, meaning)), parent)
            elif depth < _MAX_DEPTH and speaker.chance(_NEXT_QUESTION_RATE):
                asked = speaker.related(meaning, "thing")
                yield from self._asked(asked, parent, before="bridges", depth=depth + 1)

    def _comment(self, body: str, parent: str) -> Comment:
        speaker, own_id = self._speaker, _base36(next(self._ids))
        created = _JANUARY + (_MARCH - _JANUARY) * self._made // self._comments
        self._made += 1
        if speaker.chance(_LOST_PARENT_RATE):
            parent = f"t1_e{own_id[1:]}"  # an id of the year before, in neither file
        number, names = int(speaker.random.random() * 1_000), word_lists("common")["authors"]
        return {
            "author": f"{speaker.pick(names['adjectives'])}_{speaker.pick(names['nouns'])}{number}",
            "body": body,
            "created_utc": created,
            "id": own_id,
            "parent_id": parent,
            "score": speaker.pick(_SCORES),
            **self._thread,
        }


def _base36(number: int) -> str:
    """A number as Reddit writes its ids."""
    return np.base_repr(number, 36).lower()
