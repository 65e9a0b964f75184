"""Questions with related questions to rank, in the XML of SemEval's community question answering.

Each question has ten related ones, with one `OrgQuestion` element each, in the order of a poor
search engine. A PerfectMatch asks the same; a Relevant one asks another thing about the same
subject; an Irrelevant one shares at most the way of asking, or the opener.
"""

import html
from collections.abc import Iterator

from data_pipeline.sample.speech import Speaker, capital
from data_pipeline.sample.world import DUMP, Meaning

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
_QUESTION = """\
<OrgQuestion ORGQ_ID="{number}">
	<OrgQSubject>{original[0]}</OrgQSubject>
	<OrgQBody>{original[1]}</OrgQBody>
	<Thread THREAD_SEQUENCE="{name}">
		<RelQuestion RELQ_ID="{name}" RELQ_RANKING_ORDER="{rank}" RELQ_CATEGORY="Advice and Help" \
RELQ_DATE="2020-01-{day:02} 12:00:00" RELQ_USERID="U{rank}" RELQ_USERNAME="asker{rank}" \
RELQ_RELEVANCE2ORGQ="{relevance}">
			<RelQSubject>{related[0]}</RelQSubject>
			<RelQBody>{related[1]}</RelQBody>
		</RelQuestion>
{comments}	</Thread>
</OrgQuestion>
"""
_COMMENT = """\
		<RelComment RELC_ID="{name}_C{number}" RELC_DATE="2020-02-{number:02} 12:00:00" \
RELC_USERID="U{user}" RELC_USERNAME="helper{number}" RELC_RELEVANCE2ORGQ="{relevance}" \
RELC_RELEVANCE2RELQ="Good">
			<RelCText>{text}</RelCText>
		</RelComment>
"""
PARTS = {part: f"SemEval2016-Task3-CQA-QL-{part}.xml" for part in QUESTIONS}
"""Part -> the name of its file."""


def content(speaker: Speaker, part: str) -> Iterator[str]:
    """Yields the lines of a file: ten elements for each question, which is not in the dump."""
    yield '<?xml version="1.0" encoding="utf-8"?>\n<xml version="1.0">\n'
    meanings = list(speaker.world.domains["forums"].meanings.values())
    for number, meaning in enumerate(speaker.random.sample(meanings, QUESTIONS[part]), start=1):
        original = _question(meaning, (part,), speaker)
        for rank, relation in enumerate(_ranked(speaker), start=1):
            asked = speaker.related(meaning, relation)
            related = _question(asked, (part, DUMP), speaker)
            while related[0] == original[0]:
                related = _question(asked, (part, DUMP), speaker)
            name = f"Q{number}_R{rank}"
            comments = _comments(asked, name, speaker, is_same=relation == "same")
            yield _QUESTION.format(
                number=f"Q{number}",
                original=original,
                related=related,
                name=name,
                rank=rank,
                day=rank + 9,
                relevance=_RELEVANCE[relation],
                comments="".join(comments),
            )
    yield "</xml>\n"


def _ranked(speaker: Speaker) -> list[str]:
    """Ten relations in the search engine's order: a little better than chance."""
    relations = ["same"] * speaker.pick((1, 2, 3)) + ["thing"] * speaker.pick((0, 1, 2))
    while len(relations) < _RELATED:
        relations.append(speaker.pick(("aspect", "none")))
    return sorted(relations, key=lambda relation: -_GAIN[relation] - speaker.random.random())


def _question(meaning: Meaning, parts: tuple[str, ...], speaker: Speaker) -> tuple[str, str]:
    """A question as posted: a subject line and a body, which may be empty."""
    core = speaker.pick([core for part in parts for core in meaning.cores[part]])
    subject = _escaped(speaker.say(core, meaning.domain))
    if speaker.chance(_EMPTY_BODY_RATE):
        return subject, ""
    return subject, _escaped(capital(speaker.fill(speaker.pick(_BODIES), meaning)))


def _comments(meaning: Meaning, name: str, speaker: Speaker, *, is_same: bool) -> Iterator[str]:
    for number in range(1, speaker.pick((1, 2, 3, 4))):
        yield _COMMENT.format(
            name=name,
            number=number,
            user=number + 90,
            relevance="Good" if is_same else "Bad",
            text=_escaped(speaker.reply(meaning)),
        )


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)
