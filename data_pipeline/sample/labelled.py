"""The labelled sets of the sample world, in the formats of real ones.

STS Benchmark: quotes are not escaped, and some rows have two more columns, of licences. SNLI:
entailment is a paraphrase, or the thing without the aspect; contradiction the same activity in
another place, or the opposite of an event; neutral another aspect, or another thing. SemEval's
community question answering: each question has ten related ones in the order of a poor search
engine. A PerfectMatch asks the same, a Relevant one another thing about the same subject.
"""

import html
from collections.abc import Iterator

import orjson

from data_pipeline.sample import world
from data_pipeline.sample.world import DUMP, RELATIONS, Domain, Meaning, Speaker, frame

_SIMILARITIES = {"same": (4.4, 5.0), "thing": (2.2, 3.0), "aspect": (1.4, 2.2), "none": (0.0, 0.6)}
"""Relation -> the lowest and the highest similarity."""
_SHARED_FRAME_RATE, _LICENCE_RATE = 0.25, 0.05
_LICENCE = "Sample world (Apache-2.0)"
_LABELS = ("entailment", "contradiction", "neutral")
_NO_MAJORITY_RATE, _GENERAL_RATE = 0.02, 0.3
_RELATED = 10
_RELEVANCE = {"same": ("PerfectMatch", 0.35), "thing": ("Relevant", 0.2)}
_RELEVANCE |= {"aspect": ("Irrelevant", 0.3), "none": ("Irrelevant", 0.0)}
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


def _sts(speaker: Speaker, part: str, pairs: int) -> Iterator[str]:
    """The rows of a file, genre by genre, with this number of pairs of each."""
    for domain in world.domains().values():
        if not domain.words["genre"].startswith("main-"):
            continue
        words = domain.words["openers"], domain.words["closers"]
        for number in range(pairs):
            relation = speaker.pick(RELATIONS)
            one, two = speaker.core_pair(domain, relation, part=part)
            opener, closer = map(speaker.pick, words)
            first = frame(one.text, opener=opener, closer=closer)
            if not speaker.chance(_SHARED_FRAME_RATE):
                opener, closer = map(speaker.pick, words)
            second = frame(two.text, opener=opener, closer=closer)
            gold = f"{speaker.random.uniform(*_SIMILARITIES[relation]):.3f}"
            about = domain.words["genre"], domain.words["source"], "2020", f"{number:04}"
            licences = [_LICENCE] * 2 * speaker.chance(_LICENCE_RATE)
            yield "\t".join([*about, gold, first, second, *licences]) + "\n"


def _nli(speaker: Speaker, part: str, rows: int) -> Iterator[str]:
    """The lines of a file; without a majority of the five annotators its label is `-`."""
    with_general = [each for each in world.domains().values() if "general" in each.words]
    for number in range(rows):
        domain, label = speaker.pick(with_general), speaker.pick(_LABELS)
        premise, hypothesis = _nli_pair(domain, label, part=part, speaker=speaker)
        second, third = (choice for choice in _LABELS if choice != label)
        gold, votes = "-", [label, second, third, second, label]
        if not speaker.chance(_NO_MAJORITY_RATE):
            gold, votes = label, [label] * 4 + [speaker.pick((label, label, second, third))]
        row = {"annotator_labels": votes, "gold_label": gold, "pairID": f"sample-{part}-{number}"}
        row |= {"sentence1": premise, "sentence2": frame(hypothesis, opener="", closer=".")}
        yield orjson.dumps(row).decode() + "\n"


def _nli_pair(domain: Domain, label: str, *, part: str, speaker: Speaker) -> tuple[str, str]:
    """A premise with opener and closer, and a hypothesis without."""
    pick, words = speaker.pick, domain.words
    if label == "entailment" and not speaker.chance(_GENERAL_RATE):
        one, two = speaker.core_pair(domain, "same", part=part)
        return speaker.say(one, domain), two.text
    meaning = pick(list(domain.meanings.values()))
    if label == "entailment":
        general = pick(words["general"])
        hypothesis = world.fill_name(general, pick(words["things"][meaning.thing]["names"]))
    elif label == "contradiction":
        opposite = words["aspects"][meaning.aspect].get("opposite")
        aspect = opposite or speaker.other([*words["aspects"]], meaning.aspect)
        hypothesis = pick(domain.meanings[meaning.thing, aspect].cores[part]).text
    else:
        relation = pick(("aspect", "none"))
        hypothesis = pick(speaker.related(meaning, relation).cores[part]).text
    return speaker.say(pick(meaning.cores[part]), domain), hypothesis


def _cqa(speaker: Speaker, part: str, questions: int) -> Iterator[str]:
    """The lines of a file: ten elements for each question, which is not in the dump."""
    yield '<?xml version="1.0" encoding="utf-8"?>\n<xml version="1.0">\n'
    meanings = list(world.domains()["forums"].meanings.values())
    for number, meaning in enumerate(speaker.random.sample(meanings, questions), start=1):
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
        body = world.capital(speaker.fill(speaker.pick(_BODIES), meaning))
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
