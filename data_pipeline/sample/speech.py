"""Say things at random: questions about a meaning, replies to them, small courtesies.

Everything here draws from one `random.Random`, so that a seed fixes each word.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from data_pipeline.sample.world import Core, Domain, Meaning, World

T = TypeVar("T")

EMPTY_REPLY_RATE = 0.08  # a forum's "following" and "ask someone else"


class Speaker:
    """Whoever says the sentences of the sample world."""

    def __init__(self, world: World, random: Random) -> None:
        self.world = world
        self.random = random
        self._draw = random.random

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; twice as fast as `Random.choice`, which load tests feel."""
        return options[int(self._draw() * len(options))]

    def chance(self, rate: float) -> bool:
        """Return True at the given rate."""
        return self._draw() < rate

    def say(self, core: Core, domain: Domain) -> str:
        """Return a core as someone says it: with an opener, with a closer."""
        return frame(core.text, opener=self.pick(domain.openers), closer=self.pick(domain.closers))

    def reply(self, meaning: Meaning) -> str:
        """Return a reply that shows both the aspect and, by a detail, the thing."""
        if self.chance(EMPTY_REPLY_RATE):
            return self.fill(self.pick(self.world.talk["empty"]), meaning)
        said = self.fill(self.pick(meaning.replies), meaning)
        tail = self.pick(meaning.domain.tails)
        if tail:
            tail = " " + capital(self.fill(tail, meaning).lstrip())
        return frame(said, opener=self.pick(meaning.domain.leads), closer=tail)

    def author(self) -> str:
        """Return a made-up user name."""
        words = self.world.authors
        number = int(self._draw() * 1_000)
        return f"{self.pick(words['adjectives'])}_{self.pick(words['nouns'])}{number}"

    def thanks(self, meaning: Meaning) -> str:
        """Return what an asker answers to a reply."""
        return capital(self.fill(self.pick(self.world.talk["thanks"]), meaning))

    def go_on(self, core: Core, domain: Domain) -> str:
        """Return a core as someone says it who goes on from a reply."""
        return frame(core.text, opener=self.pick(domain.bridges), closer=self.pick(domain.closers))

    def fill(self, template: str, meaning: Meaning) -> str:
        """Fill the slots of a reply; details come from the thing, all else is free."""
        slots, pick = self.world.slots, self.pick
        return template.format(
            part=pick(meaning.details),
            n=pick(slots["n"]),
            age=pick(slots["age"]),
            place=pick(slots["place"]),
            who=pick(slots["who"]),
            when=pick(slots["when"]),
            first=pick(slots["first"]),
        )


def frame(core: str, *, opener: str, closer: str) -> str:
    """Join opener, core and closer into one text that starts with a capital letter."""
    if opener.endswith((". ", "! ")):
        core = capital(core)
    return capital(opener + core + closer)


def capital(text: str) -> str:
    """Return the text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]
