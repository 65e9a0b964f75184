"""Questions with related questions to rank, in the XML of SemEval's community question answering.

Each question has ten related ones, with one `OrgQuestion` element each, in the order of a poor
search engine. A PerfectMatch asks the same; a Relevant one asks another thing about the same
subject; an Irrelevant one shares at most the way of asking, or the opener. Threads have no
comments.
"""

import html
from collections.abc import Iterator

from data_pipeline.sample.speech import Speaker, capital
from data_pipeline.sample.world import DUMP, Meaning

QUESTIONS = {"dev": 40, "test": 60}
_RELATED = 10
_RELEVANCE = {
    "same": ("PerfectMatch", 0.35),
    "thing": ("Relevant", 0.2),
    "aspect": ("Irrelevant", 0.3),
    "none": ("Irrelevant", 0.0),
}
"""Relation -> its name, and what the search engine's ranking adds for it."""
_EMPTY_BODY_RATE = 0.15
_BODIES = (
    "{who} mentioned the {part} {when}.",
    "We moved to {place} {when} and nobody here could tell.",
    "I read a lot about the {part} but found nothing about this.",
    "{who} in {place} told me to ask here.",
)
_QUESTION = """\
<OrgQuestion ORGQ_ID="Q{number}">
	<OrgQSubject>{original[0]}</OrgQSubject>
	<OrgQBody>{original[1]}</OrgQBody>
	<Thread THREAD_SEQUENCE="Q{number}_R{rank}">
		<RelQuestion RELQ_ID="Q{number}_R{rank}" RELQ_RANKING_ORDER="{rank}" \
RELQ_RELEVANCE2ORGQ="{relevance}">
			<RelQSubject>{related[0]}</RelQSubject>
			<RelQBody>{related[1]}</RelQBody>
		</RelQuestion>
	</Thread>
</OrgQuestion>
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
            related = original
            while related[0] == original[0]:
                related = _question(asked, (part, DUMP), speaker)
            relevance, _ = _RELEVANCE[relation]
            about = {"original": original, "related": related, "relevance": relevance}
            yield _QUESTION.format(number=number, rank=rank, **about)
    yield "</xml>\n"


def _ranked(speaker: Speaker) -> list[str]:
    """Ten relations in the search engine's order: a little better than chance."""
    relations = ["same"] * speaker.pick((1, 2, 3)) + ["thing"] * speaker.pick((0, 1, 2))
    while len(relations) < _RELATED:
        relations.append(speaker.pick(("aspect", "none")))
    return sorted(relations, key=lambda each: -_RELEVANCE[each][1] - speaker.random.random())


def _question(meaning: Meaning, parts: tuple[str, ...], speaker: Speaker) -> tuple[str, str]:
    """A question as posted: a subject line and a body, which may be empty."""
    core = speaker.pick([core for part in parts for core in meaning.cores[part]])
    body, subject = "", speaker.say(core, meaning.domain)
    if not speaker.chance(_EMPTY_BODY_RATE):
        body = capital(speaker.fill(speaker.pick(_BODIES), meaning))
    return html.escape(subject, quote=False), html.escape(body, quote=False)
