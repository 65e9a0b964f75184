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

FOLDER = Path(__file__).parent / "words"
DOMAINS = ("forums", "captions", "news", "chat")
LABELLED_PARTS = ("train", "dev", "test")
DUMP = "dump"
# Of the names with u, all but "used" and its like; SLR is spelled out when read.
VOWEL_SOUNDS = ("a", "e", "i", "o", "slr", "ultra", "umbrella", "underwater", "upright")


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
    """A kind of conversation, with openers and closers that fit all of its sentences."""

    name: str
    genre: str
    source: str
    subreddits: list[str]
    openers: list[str]
    bridges: list[str]
    closers: list[str]
    leads: list[str]
    tails: list[str]
    general: list[str]
    names: dict[str, list[str]]
    meanings: dict[tuple[str, str], Meaning]

    @property
    def things(self) -> list[str]:
        """Return the names under which `meanings` knows the things."""
        return list(dict.fromkeys(thing for thing, _ in self.meanings))

    @property
    def aspects(self) -> list[str]:
        """Return the names under which `meanings` knows the aspects."""
        return list(dict.fromkeys(aspect for _, aspect in self.meanings))


@dataclass(frozen=True)
class World:
    """All domains, and the word lists that they share."""

    domains: dict[str, Domain]
    slots: dict[str, list[str]]
    talk: dict[str, list[str]]
    authors: dict[str, list[str]]
    noise: dict[str, list[str]]


def load(folder: Path = FOLDER) -> World:
    """Read the word lists and combine them into meanings and sentences."""
    common = _read(folder / "common.toml")
    return World(
        domains={name: _domain(name, _read(folder / f"{name}.toml")) for name in DOMAINS}, **common
    )


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _domain(name: str, spec: dict[str, Any]) -> Domain:
    things, aspects = spec.pop("things"), spec.pop("aspects")
    domain = Domain(
        name=name,
        general=spec.pop("general", []),
        names={thing: lists["names"] for thing, lists in things.items()},
        meanings={},
        **spec,
    )
    for thing, lists in things.items():
        for aspect, phrases in aspects.items():
            domain.meanings[thing, aspect] = Meaning(
                domain=domain,
                thing=thing,
                aspect=aspect,
                opposite=phrases.get("opposite"),
                cores=_cores(
                    f"{name}/{thing}/{aspect}", names=lists["names"], ways=phrases["ways"]
                ),
                details=lists["details"],
                replies=phrases["replies"],
            )
    return domain


def _cores(meaning: str, *, names: list[str], ways: list[str]) -> dict[str, list[Core]]:
    """Combine names and ways, and divide the combinations between dump and labelled sets.

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
    """Put a thing's name into a phrase: `{t}` bare, `{a}` with the indefinite article."""
    article = "an" if name.lower().startswith(VOWEL_SOUNDS) else "a"
    return way.format(t=name, a=f"{article} {name}")
