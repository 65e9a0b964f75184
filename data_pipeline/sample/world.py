"""The topics of the sample world: domains of things and aspects, read from `words/*.toml`.

A meaning is one aspect of one thing ("the price of a sofa"). Each of its sentences, its cores,
combines a name of the thing with a way of asking about the aspect. Most cores occur in the dump;
the others only in the labelled sets, which therefore test generalization: training has the name
and the way, but never together.
"""

import tomllib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

DOMAINS = ("forums", "captions", "news", "chat")
LABELLED_PARTS = ("train", "dev", "test")
DUMP = "dump"
_WORDS = Path(__file__).parent / "words"
# Of the names with u, all but "used" and its like; SLR is spelled out when read.
_VOWEL_SOUNDS = ("a", "e", "i", "o", "slr", "ultra", "umbrella", "underwater", "upright")


class Core(NamedTuple):
    """A sentence without opener and closer, and the indices of its name and its way."""

    text: str
    name: int
    way: int


@dataclass(frozen=True, eq=False)
class Meaning:
    """One aspect of one thing: its sentences by part, and the parts of replies to them."""

    domain: "Domain"
    thing: str
    aspect: str
    opposite: str | None
    cores: dict[str, list[Core]]
    details: list[str]
    replies: list[str]


@dataclass(frozen=True, eq=False)
class Domain:
    """A kind of conversation."""

    genre: str
    source: str
    words: dict[str, list[str]]
    """Openers, closers and so on, which fit all of its sentences."""
    names: dict[str, list[str]]
    """Thing -> its names."""
    aspects: list[str]
    meanings: dict[tuple[str, str], Meaning]
    """(thing, aspect) -> what is said about them."""


class World(NamedTuple):
    """All domains, and the word lists that they share."""

    domains: dict[str, Domain]
    words: dict[str, dict[str, list[str]]]


def load() -> World:
    """Reads the word lists and combines them into meanings and sentences."""
    return World({name: _domain(name) for name in DOMAINS}, _read("common"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_WORDS / f"{name}.toml").read_text(encoding="utf-8"))


def _domain(name: str) -> Domain:
    lists = _read(name)
    genre, source, things, aspects = map(lists.pop, ("genre", "source", "things", "aspects"))
    names = {thing: of_thing["names"] for thing, of_thing in things.items()}
    domain = Domain(genre, source, lists, names, [*aspects], {})
    for thing, of_thing in things.items():
        for aspect, phrases in aspects.items():
            domain.meanings[thing, aspect] = Meaning(
                *(domain, thing, aspect, phrases.get("opposite")),
                cores=_cores(f"{name}/{thing}/{aspect}", names[thing], phrases["ways"]),
                details=of_thing["details"],
                replies=phrases["replies"],
            )
    return domain


def _cores(meaning: str, names: list[str], ways: list[str]) -> dict[str, list[Core]]:
    """Combines names and ways, and divides the combinations between dump and labelled sets.

    Each labelled set has one diagonal of the table of names and ways, shifted from meaning to
    meaning. Two cores on a diagonal share neither name nor way, so each labelled set gets
    paraphrases of every meaning, and the dump keeps every name and every way.
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
