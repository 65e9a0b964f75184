"""Pairs of held-out sentences with a known relation, for the labelled sets."""

from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.world import Core, Domain, Meaning

RELATIONS = ("same", "thing", "aspect", "none")


def related(meaning: Meaning, relation: str, speaker: Speaker) -> Meaning:
    """Return a meaning that shares the thing, the aspect, both or neither with the given one."""
    domain = meaning.domain
    thing, aspect = meaning.thing, meaning.aspect
    if relation in ("aspect", "none"):
        thing = other(domain.things, thing, speaker)
    if relation in ("thing", "none"):
        aspect = other(domain.aspects, aspect, speaker)
    return domain.meanings[thing, aspect]


def other(options: list[str], but: str, speaker: Speaker) -> str:
    """Return one of the options, not the one given."""
    return speaker.pick([option for option in options if option != but])


def core_pair(domain: Domain, relation: str, *, part: str, speaker: Speaker) -> tuple[Core, Core]:
    """Return two cores of a part in the given relation, which share neither name nor way.

    So a paraphrase is never a matter of a shared phrase, nor is sharing only thing or aspect.
    """
    while True:
        first = speaker.pick(list(domain.meanings.values()))
        second = related(first, relation, speaker)
        one, two = speaker.pick(first.cores[part]), speaker.pick(second.cores[part])
        shares_name = first.thing == second.thing and one.name == two.name
        shares_way = first.aspect == second.aspect and one.way == two.way
        if not shares_name and not shares_way:
            return one, two
