"""Comments of a forum, thread by thread, as an endless stream in constant memory.

People ask under a post, others reply, and askers thank them or ask another question. A few replies
to January's comments are written in February, so that the join must look across files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.world import DUMP, Domain, Meaning

JANUARY, FEBRUARY = 0, 1
MONTH_STARTS = (1_577_836_800, 1_580_515_200)  # 2020-01-01 and 2020-02-01, UTC
MONTH_SECONDS = (31 * 86_400, 29 * 86_400)
DOMAIN_TICKETS = ("forums",) * 9 + ("captions",) * 5 + ("news",) * 5 + ("chat",)
CONVERSATIONS = (1, 1, 2, 3)
REPLIES = (0, 1, 1, 2, 2, 3, 4)
MAX_DEPTH = 3
THANKS_RATE = 0.2
NEXT_QUESTION_RATE = 0.12
LATE_RATE = 0.02
LOST_PARENT_RATE = 0.02
FIRST_COMMENT = int("fcl0000", 36)
FIRST_POST = int("eia000", 36)


@dataclass(slots=True)
class Comment:
    """A comment before it becomes a line of a dump; the body is plain text."""

    month: int
    id: str
    link_id: str
    parent_id: str
    author: str
    subreddit: str
    created_utc: int
    body: str


class Forum:
    """The state of the stream: counters and the clock."""

    def __init__(self, speaker: Speaker, *, comments: int) -> None:
        self.speaker = speaker
        self.comments = comments
        self.made = 0
        self._ids = count(FIRST_COMMENT)
        self._posts = count(FIRST_POST)

    def stream(self) -> Iterator[Comment]:
        """Yield comments without end; the clock reaches the end of February at `comments`."""
        while True:
            domain = self.speaker.world.domains[self.speaker.pick(DOMAIN_TICKETS)]
            subreddit = self.speaker.pick(domain.subreddits)
            month = JANUARY if 2 * self.made < self.comments else FEBRUARY
            yield from Thread(self, domain, subreddit=subreddit, month=month).stream()

    def next_id(self) -> str:
        """Return the next comment id."""
        self.made += 1
        return base36(next(self._ids))

    def next_post(self) -> str:
        """Return the full name of the next post."""
        return f"t3_{base36(next(self._posts))}"

    def now(self, month: int) -> int:
        """Return a time in the month, in seconds since 1970, by the progress of the stream."""
        progress = (2 * self.made / self.comments) % 1.0
        return MONTH_STARTS[month] + int(progress * MONTH_SECONDS[month])


class Thread:
    """The comments under one post."""

    def __init__(self, forum: Forum, domain: Domain, *, subreddit: str, month: int) -> None:
        self.forum, self.domain, self.speaker = forum, domain, forum.speaker
        self.subreddit, self.month = subreddit, month
        self.link_id = forum.next_post()
        self.meanings = list(domain.meanings.values())

    def stream(self) -> Iterator[Comment]:
        """Yield the thread's conversations, parents before their replies."""
        for _ in range(self.speaker.pick(CONVERSATIONS)):
            meaning = self.speaker.pick(self.meanings)
            body = self.speaker.say(self.speaker.pick(meaning.cores[DUMP]), self.domain)
            yield from self._asked(meaning, self._comment(body, self.link_id), depth=1)

    def _asked(self, meaning: Meaning, question: Comment, *, depth: int) -> Iterator[Comment]:
        """Yield a question, its replies, and the comments under those."""
        yield question
        for _ in range(self.speaker.pick(REPLIES)):
            reply = self._comment(self.speaker.reply(meaning), f"t1_{question.id}")
            if self.speaker.chance(LATE_RATE):
                reply.month, reply.created_utc = FEBRUARY, self.forum.now(FEBRUARY)
            yield reply
            if self.speaker.chance(THANKS_RATE):
                yield self._comment(self.speaker.thanks(meaning), f"t1_{reply.id}")
            elif depth < MAX_DEPTH and self.speaker.chance(NEXT_QUESTION_RATE):
                yield from self._ask_on(meaning, reply, depth=depth + 1)

    def _ask_on(self, meaning: Meaning, reply: Comment, *, depth: int) -> Iterator[Comment]:
        """Yield a question about another aspect of the same thing, asked under a reply."""
        aspect = self.speaker.other(self.domain.aspects, meaning.aspect)
        asked = self.domain.meanings[meaning.thing, aspect]
        body = self.speaker.go_on(self.speaker.pick(asked.cores[DUMP]), self.domain)
        yield from self._asked(asked, self._comment(body, f"t1_{reply.id}"), depth=depth)

    def _comment(self, body: str, parent_id: str) -> Comment:
        identifier = self.forum.next_id()
        if self.speaker.chance(LOST_PARENT_RATE):
            parent_id = f"t1_e{identifier[1:]}"  # an id of the year before, in neither file
        return Comment(
            month=self.month,
            id=identifier,
            link_id=self.link_id,
            parent_id=parent_id,
            author=self.speaker.author(),
            subreddit=self.subreddit,
            created_utc=self.forum.now(self.month),
            body=body,
        )


def base36(number: int) -> str:
    """Return a number as Reddit writes its ids."""
    return np.base_repr(number, 36).lower()
