"""Random sentences: questions about a meaning, replies to them, thanks.

All random numbers come from one `random.Random`, so that the seed determines every word.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from data_pipeline.sample.world import Core, Domain, Meaning, World

T = TypeVar("T")

RELATIONS = ("same", "thing", "aspect", "none")
"""What two meanings share: both thing and aspect, one of them, or neither."""
_EMPTY_REPLY_RATE = 0.08  # a forum's "following" and "ask someone else"


class Speaker:
    """Draws sentences, and pairs of sentences with a known relation."""

    def __init__(self, world: World, random: Random) -> None:
        self.world = world
        self.random = random

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, in half the time of `Random.choice`."""
        return options[int(self.random.random() * len(options))]

    def chance(self, rate: float) -> bool:
        """True at the given rate."""
        return self.random.random() < rate

    def say(self, core: Core, domain: Domain, before: str = "openers") -> str:
        """A core with an opener, or a bridge from a reply to it, and a closer."""
        opener, closer = self.pick(domain.words[before]), self.pick(domain.words["closers"])
        return frame(core.text, opener=opener, closer=closer)

    def reply(self, meaning: Meaning) -> str:
        """A reply that tells the aspect and, by a detail, the thing."""
        if self.chance(_EMPTY_REPLY_RATE):
            return self.fill(self.pick(self.world.words["talk"]["empty"]), meaning)
        said = self.fill(self.pick(meaning.replies), meaning)
        tail = self.pick(meaning.domain.words["tails"])
        if tail:
            tail = " " + capital(self.fill(tail, meaning).lstrip())
        return frame(said, opener=self.pick(meaning.domain.words["leads"]), closer=tail)

    def fill(self, template: str, meaning: Meaning) -> str:
        """Fills the slots of a reply: details are the thing's, all else is drawn freely."""
        part = self.pick(meaning.details)
        names = ("n", "age", "place", "who", "when", "first")
        drawn = {name: self.pick(self.world.words["slots"][name]) for name in names}
        return template.format(part=part, **drawn)

    def other(self, options: Sequence[T], but: T) -> T:
        """One of the options, not the one given."""
        return self.pick([option for option in options if option != but])

    def related(self, meaning: Meaning, relation: str) -> Meaning:
        """A meaning in one of `RELATIONS` to the given one."""
        domain, thing, aspect = meaning.domain, meaning.thing, meaning.aspect
        if relation in ("aspect", "none"):
            thing = self.other([*domain.names], thing)
        if relation in ("thing", "none"):
            aspect = self.other(domain.aspects, aspect)
        return domain.meanings[thing, aspect]

    def core_pair(self, domain: Domain, relation: str, *, part: str) -> tuple[Core, Core]:
        """Two held-out cores in the given relation, without a name or way in common.

        So no shared phrase tells the relation.
        """
        while True:
            first = self.pick(list(domain.meanings.values()))
            second = self.related(first, relation)
            one, two = self.pick(first.cores[part]), self.pick(second.cores[part])
            shares_name = first.thing == second.thing and one.name == two.name
            shares_way = first.aspect == second.aspect and one.way == two.way
            if not shares_name and not shares_way:
                return one, two


def frame(core: str, *, opener: str, closer: str) -> str:
    """Joins opener, core and closer into one text that starts with a capital letter."""
    if opener.endswith((". ", "! ")):
        core = capital(core)
    return capital(opener + core + closer)


def capital(text: str) -> str:
    """The text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]
