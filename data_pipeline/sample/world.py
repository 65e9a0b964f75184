"""The topics of the sample world, read from `words/*.toml`, and random sentences about them.

A meaning is one aspect of one thing ("the price of a sofa"). Each of its sentences, its cores,
combines a name of the thing with a way of asking about the aspect. Most cores occur in the dump;
the others only in the labelled sets, which therefore test generalization: training has the name
and the way, but never together.
"""

import tomllib
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

DUMP = "dump"
LABELLED_PARTS = ("train", "dev", "test")
RELATIONS = ("same", "thing", "aspect", "none")
"""What two meanings share: both thing and aspect, one of them, or neither."""
_DOMAINS = ("forums", "captions", "news", "chat")
_WORDS = Path(__file__).parent / "words"
# Of the names with u, all but "used" and its like; SLR is spelled out when read.
_VOWEL_SOUNDS = ("a", "e", "i", "o", "slr", "ultra", "umbrella", "underwater", "upright")
_EMPTY_REPLY_RATE = 0.08  # a forum's "following" and "ask someone else"
T = TypeVar("T")


class Core(NamedTuple):
    """A sentence without opener and closer, and the indices of its name and its way."""

    text: str
    name: int
    way: int


class Meaning(NamedTuple):
    """One aspect of one thing: its sentences by part, and what replies to them are made of."""

    domain: "Domain"
    thing: str
    aspect: str
    cores: dict[str, list[Core]]
    details: list[str]
    replies: list[str]


class Domain(NamedTuple):
    """A kind of conversation: the lists of its file, and (thing, aspect) -> what is said of it."""

    words: dict[str, Any]
    meanings: dict[tuple[str, str], Meaning]


@cache
def word_lists(name: str) -> dict[str, Any]:
    """The lists of one file."""
    return tomllib.loads((_WORDS / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def domains() -> dict[str, Domain]:
    """All kinds of conversations, with their meanings and sentences."""
    found = {name: Domain(word_lists(name), {}) for name in _DOMAINS}
    for name, domain in found.items():
        for thing, of_thing in domain.words["things"].items():
            for aspect, phrases in domain.words["aspects"].items():
                cores = _cores(f"{name}/{thing}/{aspect}", of_thing["names"], phrases["ways"])
                about = cores, of_thing["details"], phrases["replies"]
                domain.meanings[thing, aspect] = Meaning(domain, thing, aspect, *about)
    return found


def _cores(meaning: str, names: list[str], ways: list[str]) -> dict[str, list[Core]]:
    """Combines names and ways, and divides the combinations between dump and labelled sets.

    Each labelled set has one diagonal of their table, shifted from meaning to meaning: paraphrases
    that share neither name nor way. The dump keeps every name and every way.
    """
    shift = zlib.crc32(meaning.encode())
    cores: dict[str, list[Core]] = {part: [] for part in (DUMP, *LABELLED_PARTS)}
    for i, name in enumerate(names):
        for j, way in enumerate(ways):
            diagonal = (i + 2 * j + shift) % 10
            held_out = len(names) > 1 and diagonal < len(LABELLED_PARTS)
            part = LABELLED_PARTS[diagonal] if held_out else DUMP
            cores[part].append(Core(fill_name(way, name), i, j))
    return cores


def fill_name(way: str, name: str) -> str:
    """Puts a thing's name into a phrase: `{t}` bare, `{a}` with the indefinite article."""
    article = "an" if name.lower().startswith(_VOWEL_SOUNDS) else "a"
    return way.format(t=name, a=f"{article} {name}")


def frame(core: str, *, opener: str, closer: str) -> str:
    """Joins opener, core and closer into one text that starts with a capital letter."""
    if opener.endswith((". ", "! ")):
        core = capital(core)
    return capital(opener + core + closer)


def capital(text: str) -> str:
    """The text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]


class Speaker:
    """Draws sentences, and pairs of sentences with a known relation; the seed says every word."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

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
            return self.fill(self.pick(word_lists("common")["talk"]["empty"]), meaning)
        said = self.fill(self.pick(meaning.replies), meaning)
        tail = self.pick(meaning.domain.words["tails"])
        if tail:
            tail = " " + capital(self.fill(tail, meaning).lstrip())
        return frame(said, opener=self.pick(meaning.domain.words["leads"]), closer=tail)

    def fill(self, template: str, meaning: Meaning) -> str:
        """Fills the slots of a reply: details are the thing's, all else is drawn freely."""
        part, slots = self.pick(meaning.details), word_lists("common")["slots"]
        names = ("n", "age", "place", "who", "when", "first")
        return template.format(part=part, **{name: self.pick(slots[name]) for name in names})

    def other(self, options: Sequence[T], but: T) -> T:
        """One of the options, not the one given."""
        return self.pick([option for option in options if option != but])

    def related(self, meaning: Meaning, relation: str) -> Meaning:
        """A meaning in one of `RELATIONS` to the given one."""
        domain, thing, aspect = meaning.domain, meaning.thing, meaning.aspect
        if relation in ("aspect", "none"):
            thing = self.other([*domain.words["things"]], thing)
        if relation in ("thing", "none"):
            aspect = self.other([*domain.words["aspects"]], aspect)
        return domain.meanings[thing, aspect]

    def core_pair(self, domain: Domain, relation: str, *, part: str) -> tuple[Core, Core]:
        """Two held-out cores in a relation, which no name or way in common tells."""
        while True:
            first = self.pick(list(domain.meanings.values()))
            second = self.related(first, relation)
            one, two = self.pick(first.cores[part]), self.pick(second.cores[part])
            shares_name = first.thing == second.thing and one.name == two.name
            shares_way = first.aspect == second.aspect and one.way == two.way
            if not shares_name and not shares_way:
                return one, two
