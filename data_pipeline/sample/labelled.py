"""The labelled sets of the sample world, in the formats of real ones.

STS Benchmark: quotes are not escaped. SNLI, of captions: entailment is a paraphrase, contradiction
the same activity in another place, neutral another activity. SemEval's community question
answering: each question has ten related ones in the order of a poor search engine. A PerfectMatch
asks the same, a Relevant one another thing about the same subject.
"""

import html
from collections.abc import Iterator

import orjson

from data_pipeline.sample.world import (
    DUMP,
    RELATIONS,
    Meaning,
    Speaker,
    capital,
    frame,
    meanings,
    word_lists,
)

_SIMILARITIES = {"same": (4.4, 5.0), "thing": (2.2, 3.0), "aspect": (1.4, 2.2), "none": (0.0, 0.6)}
"""Relation -> the lowest and the highest similarity."""
_LABELS = {"same": "entailment", "thing": "contradiction", "aspect": "neutral"}
_NO_MAJORITY_RATE = 0.02
_RELATED = 10
_RELEVANCE = {"same": ("PerfectMatch", 0.35), "thing": ("Relevant", 0.2)}
_RELEVANCE |= {"aspect": ("Irrelevant", 0.3), "none": ("Irrelevant", 0.0)}
"""Relation -> its name, and what the search engine's ranking adds for it."""
_EMPTY_BODY_RATE = 0.15
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


def _sts(speaker: Speaker, part: str, pairs: int) -> Iterator[str]:
    """The rows of a file, genre by genre, with this number of pairs of each."""
    for kind in ("forums", "captions", "news"):
        words = word_lists(kind)
        for number in range(pairs):
            relation = speaker.pick(RELATIONS)
            cores = speaker.core_pair(kind, relation, part=part)
            gold = speaker.random.uniform(*_SIMILARITIES[relation])
            about = words["genre"], words["source"], "2020", f"{number:04}", f"{gold:.3f}"
            yield "\t".join([*about, *(speaker.say(core, words) for core in cores)]) + "\n"


def _nli(speaker: Speaker, part: str, rows: int) -> Iterator[str]:
    """The lines of a file; a label without a majority of annotators is `-`."""
    for number in range(rows):
        relation = speaker.pick(list(_LABELS))
        one, two = speaker.core_pair("captions", relation, part=part)
        label = "-" if speaker.chance(_NO_MAJORITY_RATE) else _LABELS[relation]
        row = {"gold_label": label, "pairID": f"sample-{part}-{number}"}
        row |= {"sentence1": speaker.say(one, word_lists("captions"))}
        row |= {"sentence2": frame(two.text, opener="", closer=".")}
        yield orjson.dumps(row).decode() + "\n"


def _cqa(speaker: Speaker, part: str, questions: int) -> Iterator[str]:
    """The lines of a file: ten elements for each question, which is not in the dump."""
    yield '<?xml version="1.0" encoding="utf-8"?>\n<xml version="1.0">\n'
    some = speaker.random.sample([*meanings("forums").values()], questions)
    for number, meaning in enumerate(some, start=1):
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
    relations = ["same", *speaker.random.choices(RELATIONS, (1, 1, 4, 4), k=_RELATED - 1)]
    return sorted(relations, key=lambda each: -_RELEVANCE[each][1] - speaker.random.random())


def _question(meaning: Meaning, parts: tuple[str, ...], speaker: Speaker) -> tuple[str, str]:
    """A question as posted: a subject line and a body, which may be empty."""
    core = speaker.pick([core for part in parts for core in meaning.cores[part]])
    body, subject = "", speaker.say(core, meaning.words)
    if not speaker.chance(_EMPTY_BODY_RATE):
        body = capital(speaker.fill(speaker.pick(word_lists("common")["talk"]["bodies"]), meaning))
    return html.escape(subject, quote=False), html.escape(body, quote=False)


_SETS = (
    ("sts", "stsb/sts-{}.csv", _sts, {"train": 600, "dev": 250, "test": 250}),
    ("nli", "nli/snli_1.0_{}.jsonl", _nli, {"train": 3000, "dev": 300, "test": 300}),
    ("cqa", "semeval_cqa/SemEval2016-Task3-CQA-QL-{}.xml", _cqa, {"dev": 40, "test": 60}),
)
FOLDERS = ("stsb", "nli", "semeval_cqa")


def files(seed: int) -> Iterator[tuple[str, str]]:
    """Yields the path and the content of each file."""
    for kind, path, content, sizes in _SETS:
        for part, size in sizes.items():
            speaker = Speaker(f"{kind} {part} {seed}")
            yield path.format(part), "".join(content(speaker, part, size))
