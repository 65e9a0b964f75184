"""Comments of a forum, thread by thread, as an endless stream in constant memory.

People ask under a post, others reply, and askers thank them or ask another question. A few replies
to January's comments are written in February, so that the join must look across files.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from data_pipeline.sample.speech import Speaker, capital
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
_UNUSED = {"author_flair_text": None, "edited": False, "gilded": 0, "stickied": False}
"""Fields of a dump that nobody reads."""

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
        """Yields comments without end, thread by thread, parents before their replies.

        The clock reaches the end of February at `comments`.
        """
        pick = self._speaker.pick
        while True:
            self._domain = self._speaker.world.domains[pick(_DOMAIN_TICKETS)]
            self._subreddit = pick(self._domain.words["subreddits"])
            self._month = JANUARY if 2 * self._made < self._comments else FEBRUARY
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
                reply["created_utc"] = self._time(FEBRUARY)
            yield reply
            parent = f"t1_{reply['id']}"
            if speaker.chance(_THANKS_RATE):
                thanks = speaker.pick(speaker.world.words["talk"]["thanks"])
                yield self._comment(capital(speaker.fill(thanks, meaning)), parent)
            elif depth < _MAX_DEPTH and speaker.chance(_NEXT_QUESTION_RATE):
                aspect = speaker.other(self._domain.aspects, meaning.aspect)
                asked = self._domain.meanings[meaning.thing, aspect]
                body = speaker.say(speaker.pick(asked.cores[DUMP]), self._domain, "bridges")
                yield from self._asked(asked, self._comment(body, parent), depth=depth + 1)

    def _time(self, month: int) -> int:
        """A time in the month, by the progress of the stream."""
        progress = (2 * self._made / self._comments) % 1.0
        return MONTH_STARTS[month] + int(progress * _MONTH_SECONDS[month])

    def _comment(self, body: str, parent_id: str) -> Comment:
        self._made += 1
        own_id, speaker = _base36(next(self._ids)), self._speaker
        if speaker.chance(_LOST_PARENT_RATE):
            parent_id = f"t1_e{own_id[1:]}"  # an id of the year before, in neither file
        number, names = int(speaker.random.random() * 1_000), speaker.world.words["authors"]
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
