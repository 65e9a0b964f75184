"""Questions with related questions to rank, in the XML of SemEval's community question answering.

Each question has ten related ones, with one `OrgQuestion` element each, in the order of a poor
search engine. A PerfectMatch asks the same; a Relevant one asks another thing about the same
subject; an Irrelevant one shares at most the way of asking, or the opener.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from random import Random

from data_pipeline.sample.speech import Speaker, capital
from data_pipeline.sample.world import DUMP, Meaning, World

QUESTIONS = {"dev": 40, "test": 60}
_RELATED = 10
_RELEVANCE = {
    "same": "PerfectMatch",
    "thing": "Relevant",
    "aspect": "Irrelevant",
    "none": "Irrelevant",
}
_GAIN = {"same": 0.35, "thing": 0.2, "aspect": 0.3, "none": 0.0}
"""Relation -> what the search engine's ranking adds for it."""
_EMPTY_BODY_RATE = 0.15
_BODIES = (
    "{who} mentioned the {part} {when}.",
    "We moved to {place} {when} and nobody here could tell.",
    "I read a lot about the {part} but found nothing about this.",
    "{who} in {place} told me to ask here.",
)
_CATEGORY, _ASKED, _REPLIED = "Advice and Help", "2020-01-{:02} 12:00:00", "2020-02-{:02} 12:00:00"


def files(world: World, *, seed: int) -> Iterator[tuple[str, str]]:
    """Yields the names and contents of the dev and the test file."""
    for part in QUESTIONS:
        lines = ['<?xml version="1.0" encoding="utf-8"?>', '<xml version="1.0">']
        for element in _elements(Speaker(world, Random(f"cqa {part} {seed}")), part):
            ET.indent(element, "\t")
            lines.append(ET.tostring(element, "unicode", short_empty_elements=False))
        yield f"SemEval2016-Task3-CQA-QL-{part}.xml", "\n".join([*lines, "</xml>", ""])


def _elements(speaker: Speaker, part: str) -> Iterator[ET.Element]:
    """Yields ten elements for each question, which is not in the dump."""
    meanings = list(speaker.world.domains["forums"].meanings.values())
    for number, meaning in enumerate(speaker.random.sample(meanings, QUESTIONS[part]), start=1):
        original = _question(meaning, (part,), speaker)
        for rank, relation in enumerate(_ranked(speaker), start=1):
            asked = speaker.related(meaning, relation)
            related = _question(asked, (part, DUMP), speaker)
            while related[0] == original[0]:
                related = _question(asked, (part, DUMP), speaker)
            element = ET.Element("OrgQuestion", ORGQ_ID=f"Q{number}")
            _add_texts(element, OrgQSubject=original[0], OrgQBody=original[1])
            name = f"Q{number}_R{rank}"
            thread = ET.SubElement(element, "Thread", THREAD_SEQUENCE=name)
            question = ET.SubElement(
                thread,
                "RelQuestion",
                RELQ_ID=name,
                RELQ_RANKING_ORDER=str(rank),
                RELQ_CATEGORY=_CATEGORY,
                RELQ_DATE=_ASKED.format(rank + 9),
                RELQ_USERID=f"U{rank}",
                RELQ_USERNAME=f"asker{rank}",
                RELQ_RELEVANCE2ORGQ=_RELEVANCE[relation],
            )
            _add_texts(question, RelQSubject=related[0], RelQBody=related[1])
            _add_comments(thread, asked, name, speaker, is_same=relation == "same")
            yield element


def _ranked(speaker: Speaker) -> list[str]:
    """Ten relations in the search engine's order: a little better than chance."""
    relations = ["same"] * speaker.pick((1, 2, 3)) + ["thing"] * speaker.pick((0, 1, 2))
    while len(relations) < _RELATED:
        relations.append(speaker.pick(("aspect", "none")))
    return sorted(relations, key=lambda relation: -_GAIN[relation] - speaker.random.random())


def _question(meaning: Meaning, parts: tuple[str, ...], speaker: Speaker) -> tuple[str, str]:
    """A question as posted: a subject line and a body, which may be empty."""
    core = speaker.pick([core for part in parts for core in meaning.cores[part]])
    subject = speaker.say(core, meaning.domain)
    if speaker.chance(_EMPTY_BODY_RATE):
        return subject, ""
    return subject, capital(speaker.fill(speaker.pick(_BODIES), meaning))


def _add_comments(
    thread: ET.Element, meaning: Meaning, name: str, speaker: Speaker, *, is_same: bool
) -> None:
    for number in range(1, speaker.pick((1, 2, 3, 4))):
        comment = ET.SubElement(
            thread,
            "RelComment",
            RELC_ID=f"{name}_C{number}",
            RELC_DATE=_REPLIED.format(number),
            RELC_USERID=f"U{number + 90}",
            RELC_USERNAME=f"helper{number}",
            RELC_RELEVANCE2ORGQ="Good" if is_same else "Bad",
            RELC_RELEVANCE2RELQ="Good",
        )
        _add_texts(comment, RelCText=speaker.reply(meaning))


def _add_texts(parent: ET.Element, **texts: str) -> None:
    for tag, text in texts.items():
        ET.SubElement(parent, tag).text = text
