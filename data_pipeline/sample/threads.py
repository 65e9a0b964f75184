"""Comments of a forum, thread by thread, as an endless stream in constant memory.

People ask under a post, others reply, and askers thank them or ask another question. A few replies
to January's comments are written in February, so that the join must look across files.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any
from zlib import crc32

import numpy as np

from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.world import DUMP, Meaning

JANUARY, FEBRUARY = 0, 1
MONTH_STARTS = (1_577_836_800, 1_580_515_200)
"""2020-01-01 and 2020-02-01, UTC."""
_MONTH_SECONDS = (31 * 86_400, 29 * 86_400)
_DOMAIN_TICKETS = ("forums",) * 9 + ("captions",) * 5 + ("news",) * 5 + ("chat",)
_CONVERSATIONS = (1, 1, 2, 3)
_REPLIES = (0, 1, 1, 2, 2, 3, 4)
_MAX_DEPTH = 3
_THANKS_RATE = 0.2
_NEXT_QUESTION_RATE = 0.12
_LATE_RATE = 0.02
_LOST_PARENT_RATE = 0.02

Comment = dict[str, Any]
"""The fields of a dump's line; the body is plain text and the score not drawn yet."""


class Forum:
    """The state of the stream: counters, the clock, and the thread that is written."""

    def __init__(self, speaker: Speaker, *, comments: int) -> None:
        self._speaker = speaker
        self._comments = comments
        self._made = 0
        self._ids = count(int("fcl0000", 36))
        self._posts = count(int("eia000", 36))

    def stream(self) -> Iterator[Comment]:
        """Yields comments without end; the clock reaches the end of February at `comments`."""
        while True:
            self._domain = self._speaker.world.domains[self._speaker.pick(_DOMAIN_TICKETS)]
            self._subreddit = self._speaker.pick(self._domain.subreddits)
            self._month = JANUARY if 2 * self._made < self._comments else FEBRUARY
            self._post = f"t3_{_base36(next(self._posts))}"
            yield from self._thread(list(self._domain.meanings.values()))

    def _thread(self, meanings: list[Meaning]) -> Iterator[Comment]:
        """Yields the conversations under one post, parents before their replies."""
        for _ in range(self._speaker.pick(_CONVERSATIONS)):
            meaning = self._speaker.pick(meanings)
            body = self._speaker.say(self._speaker.pick(meaning.cores[DUMP]), self._domain)
            yield from self._asked(meaning, self._comment(body, self._post), depth=1)

    def _asked(self, meaning: Meaning, question: Comment, *, depth: int) -> Iterator[Comment]:
        """Yields a question, its replies, and the comments under those."""
        speaker = self._speaker
        yield question
        for _ in range(speaker.pick(_REPLIES)):
            reply = self._comment(speaker.reply(meaning), f"t1_{question['id']}")
            if speaker.chance(_LATE_RATE):
                reply |= self._times(FEBRUARY)
            yield reply
            parent = f"t1_{reply['id']}"
            if speaker.chance(_THANKS_RATE):
                yield self._comment(speaker.thanks(meaning), parent)
            elif depth < _MAX_DEPTH and speaker.chance(_NEXT_QUESTION_RATE):
                aspect = speaker.other(self._domain.aspects, meaning.aspect)
                asked = self._domain.meanings[meaning.thing, aspect]
                body = speaker.go_on(speaker.pick(asked.cores[DUMP]), self._domain)
                yield from self._asked(asked, self._comment(body, parent), depth=depth + 1)

    def _times(self, month: int) -> dict[str, int]:
        """The fields that hold a time in the month, by the progress of the stream."""
        progress = (2 * self._made / self._comments) % 1.0
        created = MONTH_STARTS[month] + int(progress * _MONTH_SECONDS[month])
        return {"created_utc": created, "retrieved_on": created + 2_000_000}

    def _comment(self, body: str, parent_id: str) -> Comment:
        self._made += 1
        own_id = _base36(next(self._ids))
        if self._speaker.chance(_LOST_PARENT_RATE):
            parent_id = f"t1_e{own_id[1:]}"  # an id of the year before, in neither file
        times = self._times(self._month)
        return {
            "author": self._speaker.author(),
            "author_flair_css_class": None,
            "author_flair_text": None,
            "body": body,
            "controversiality": 0,
            "created_utc": times["created_utc"],
            "distinguished": None,
            "edited": False,
            "gilded": 0,
            "id": own_id,
            "is_submitter": False,
            "link_id": self._post,
            "parent_id": parent_id,
            "permalink": f"/r/{self._subreddit}/comments/{self._post[3:]}/_/{own_id}/",
            "retrieved_on": times["retrieved_on"],
            "score": 0,
            "stickied": False,
            "subreddit": self._subreddit,
            "subreddit_id": f"t5_{crc32(self._subreddit.encode()) % 36**5:x}",
        }


def _base36(number: int) -> str:
    """A number as Reddit writes its ids."""
    return np.base_repr(number, 36).lower()
