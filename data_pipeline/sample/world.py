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
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

DUMP = "dump"
LABELLED_PARTS = ("train", "dev", "test")
RELATIONS = ("same", "thing", "aspect", "none")
"""What two meanings share: both thing and aspect, one of them, or neither."""
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
    """One aspect of one thing in a kind of conversation, and its sentences by part."""

    kind: str
    thing: str
    aspect: str
    cores: dict[str, list[Core]]

    @property
    def words(self) -> dict[str, Any]:
        """The lists of the kind of conversation."""
        return word_lists(self.kind)


@cache
def word_lists(name: str) -> dict[str, Any]:
    """The lists of one file."""
    return tomllib.loads((_WORDS / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def meanings(kind: str) -> dict[tuple[str, str], Meaning]:
    """(thing, aspect) -> what is said of it in a kind of conversation."""
    places = product(word_lists(kind)["things"], word_lists(kind)["aspects"])
    return {place: Meaning(kind, *place, _cores(kind, *place)) for place in places}


def _cores(kind: str, thing: str, aspect: str) -> dict[str, list[Core]]:
    """Combines names and ways, and divides the combinations between dump and labelled sets.

    Each labelled set has one diagonal of their table, shifted from meaning to meaning: paraphrases
    that share neither name nor way. The dump keeps every name and every way.
    """
    names = word_lists(kind)["things"][thing]["names"]
    shift = zlib.crc32(f"{kind}/{thing}/{aspect}".encode())
    cores: dict[str, list[Core]] = {part: [] for part in (DUMP, *LABELLED_PARTS)}
    for i, name in enumerate(names):
        for j, way in enumerate(word_lists(kind)["aspects"][aspect]["ways"]):
            diagonal = (i + 2 * j + shift) % 10
            held_out = len(names) > 1 and diagonal < len(LABELLED_PARTS)
            part = LABELLED_PARTS[diagonal] if held_out else DUMP
            article = "an" if name.lower().startswith(_VOWEL_SOUNDS) else "a"
            cores[part].append(Core(way.format(t=name, a=f"{article} {name}"), i, j))
    return cores


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

    def say(self, core: Core, words: dict[str, Any], before: str = "openers") -> str:
        """A core with an opener, or a bridge from a reply to it, and a closer."""
        return frame(core.text, opener=self.pick(words[before]), closer=self.pick(words["closers"]))

    def reply(self, meaning: Meaning) -> str:
        """A reply that tells the aspect and, by a detail, the thing."""
        words = meaning.words
        if self.chance(_EMPTY_REPLY_RATE):
            return self.fill(self.pick(word_lists("common")["talk"]["empty"]), meaning)
        said = self.fill(self.pick(words["aspects"][meaning.aspect]["replies"]), meaning)
        tail = self.pick(words["tails"])
        if tail:
            tail = " " + capital(self.fill(tail, meaning).lstrip())
        return frame(said, opener=self.pick(words["leads"]), closer=tail)

    def fill(self, template: str, meaning: Meaning) -> str:
        """Fills the slots of a reply: details are the thing's, all else is drawn freely."""
        part = self.pick(meaning.words["things"][meaning.thing]["details"])
        slots = {name: self.pick(some) for name, some in word_lists("common")["slots"].items()}
        return template.format(part=part, **slots)

    def related(self, meaning: Meaning, relation: str) -> Meaning:
        """A meaning in one of `RELATIONS` to the given one."""
        thing, aspect = meaning.thing, meaning.aspect
        if relation in ("aspect", "none"):
            thing = self.pick([each for each in meaning.words["things"] if each != thing])
        if relation in ("thing", "none"):
            aspect = self.pick([each for each in meaning.words["aspects"] if each != aspect])
        return meanings(meaning.kind)[thing, aspect]

    def core_pair(self, kind: str, relation: str, *, part: str) -> tuple[Core, Core]:
        """Two held-out cores in a relation, which no name or way in common tells."""
        while True:
            first = self.pick([*meanings(kind).values()])
            second = self.related(first, relation)
            one, two = self.pick(first.cores[part]), self.pick(second.cores[part])
            if one.name != two.name and one.way != two.way:
                return one, two
