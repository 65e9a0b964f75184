"""Questions with related questions to rank, in the XML of SemEval's community question answering.

Each question has ten related ones, with one `OrgQuestion` element each, in the order of a poor
search engine. A PerfectMatch asks the same; a Relevant one asks another thing about the same
subject; an Irrelevant one shares at most the way of asking, or the opener.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.world import DUMP, Meaning, World
from data_pipeline.storage.filesystem import write_file

GROUPS = {"dev": 40, "test": 60}
RELATED = 10
RELEVANCE = {
    "same": "PerfectMatch",
    "thing": "Relevant",
    "aspect": "Irrelevant",
    "none": "Irrelevant",
}
GAIN = {
    "same": 0.35,
    "thing": 0.2,
    "aspect": 0.3,
    "none": 0.0,
}  # in the engine's ranking
EMPTY_BODY_RATE = 0.15
BODIES = (
    "{who} mentioned the {part} {when}.",
    "We moved to {place} {when} and nobody here could tell.",
    "I read a lot about the {part} but found nothing about this.",
    "{who} in {place} told me to ask here.",
)


class Question(NamedTuple):
    """A question as posted: a subject line and a body, which may be empty."""

    subject: str
    body: str


def write(world: World, folder: Path, *, seed: int) -> None:
    """Write the dev and the test file."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in GROUPS:
        speaker = Speaker(world, Random(f"cqa {part} {seed}"))
        content = "\n".join(_document(speaker, part)) + "\n"
        write_file(str(folder / f"SemEval2016-Task3-CQA-QL-{part}.xml"), content.encode())


def _document(speaker: Speaker, part: str) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield '<xml version="1.0">'
    meanings = list(speaker.world.domains["forums"].meanings.values())
    for number, meaning in enumerate(speaker.random.sample(meanings, GROUPS[part]), start=1):
        yield from _group(meaning, name=f"Q{number}", part=part, speaker=speaker)
    yield "</xml>"


def _group(meaning: Meaning, *, name: str, part: str, speaker: Speaker) -> Iterator[str]:
    """Yield the ten elements of one question, which is not in the dump."""
    original = _question(meaning, (part,), speaker)
    for rank, relation in enumerate(_ranked(speaker), start=1):
        asked = speaker.related(meaning, relation)
        question = _question(asked, (part, DUMP), speaker)
        while question.subject == original.subject:
            question = _question(asked, (part, DUMP), speaker)
        related_name = f"{name}_R{rank}"
        yield f"<OrgQuestion ORGQ_ID={quoteattr(name)}>"
        yield f"\t<OrgQSubject>{escape(original.subject)}</OrgQSubject>"
        yield f"\t<OrgQBody>{escape(original.body)}</OrgQBody>"
        yield f"\t<Thread THREAD_SEQUENCE={quoteattr(related_name)}>"
        yield from _related_question(question, name=related_name, rank=rank, relation=relation)
        yield from _comments(asked, name=related_name, relation=relation, speaker=speaker)
        yield "\t</Thread>"
        yield "</OrgQuestion>"


def _ranked(speaker: Speaker) -> list[str]:
    """Return ten relations in the search engine's order: a little better than chance."""
    relations = ["same"] * speaker.pick((1, 2, 3)) + ["thing"] * speaker.pick((0, 1, 2))
    while len(relations) < RELATED:
        relations.append(speaker.pick(("aspect", "none")))
    return sorted(relations, key=lambda relation: -GAIN[relation] - speaker.random.random())


def _question(meaning: Meaning, parts: tuple[str, ...], speaker: Speaker) -> Question:
    core = speaker.pick([core for part in parts for core in meaning.cores[part]])
    subject = speaker.say(core, meaning.domain)
    if speaker.chance(EMPTY_BODY_RATE):
        return Question(subject, "")
    body = speaker.fill(speaker.pick(BODIES), meaning)
    return Question(subject, body[0].upper() + body[1:])


def _related_question(question: Question, *, name: str, rank: int, relation: str) -> Iterator[str]:
    yield (
        f'\t\t<RelQuestion RELQ_ID={quoteattr(name)} RELQ_RANKING_ORDER="{rank}"'
        f' RELQ_CATEGORY="Advice and Help" RELQ_DATE="2020-01-{rank + 9} 12:00:00"'
        f' RELQ_USERID="U{rank}" RELQ_USERNAME="asker{rank}"'
        f' RELQ_RELEVANCE2ORGQ="{RELEVANCE[relation]}">'
    )
    yield f"\t\t\t<RelQSubject>{escape(question.subject)}</RelQSubject>"
    yield f"\t\t\t<RelQBody>{escape(question.body)}</RelQBody>"
    yield "\t\t</RelQuestion>"


def _comments(meaning: Meaning, *, name: str, relation: str, speaker: Speaker) -> Iterator[str]:
    good_here = "Good" if relation == "same" else "Bad"
    for number in range(1, speaker.pick((1, 2, 3, 4))):
        yield (
            f'\t\t<RelComment RELC_ID="{name}_C{number}" RELC_DATE="2020-02-0{number} 12:00:00"'
            f' RELC_USERID="U{number + 90}" RELC_USERNAME="helper{number}"'
            f' RELC_RELEVANCE2ORGQ="{good_here}" RELC_RELEVANCE2RELQ="Good">'
        )
        yield f"\t\t\t<RelCText>{escape(speaker.reply(meaning))}</RelCText>"
        yield "\t\t</RelComment>"
