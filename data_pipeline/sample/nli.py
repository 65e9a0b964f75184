"""NLI pairs about pictures and headlines, with SNLI's fields.

Entailment: a paraphrase, or the thing without the aspect. Contradiction: the same activity in
another place, or the opposite of an event. Neutral: another aspect, or another thing.
"""

from collections.abc import Iterator

import orjson

from data_pipeline.sample.speech import Speaker, frame
from data_pipeline.sample.world import Domain, fill_name

ROWS = {"train": 3000, "dev": 300, "test": 300}
PARTS = {part: f"snli_1.0_{part}.jsonl" for part in ROWS}
"""Part -> the name of its file."""
_LABELS = ("entailment", "contradiction", "neutral")
_NO_MAJORITY_RATE = 0.02
_GENERAL_RATE = 0.3


def content(speaker: Speaker, part: str) -> Iterator[str]:
    """Yields the lines of a file."""
    domains = [each for each in speaker.world.domains.values() if "general" in each.words]
    for number in range(ROWS[part]):
        domain, label = speaker.pick(domains), speaker.pick(_LABELS)
        premise, hypothesis = _pair(domain, label, part=part, speaker=speaker)
        gold, votes = _votes(label, speaker)
        row = {
            "annotator_labels": votes,
            "gold_label": gold,
            "pairID": f"sample-{part}-{number}",
            "sentence1": premise,
            "sentence2": frame(hypothesis, opener="", closer="."),
        }
        yield orjson.dumps(row).decode() + "\n"


def _pair(domain: Domain, label: str, *, part: str, speaker: Speaker) -> tuple[str, str]:
    """A premise with opener and closer, and a hypothesis without."""
    pick = speaker.pick
    if label == "entailment" and not speaker.chance(_GENERAL_RATE):
        one, two = speaker.core_pair(domain, "same", part=part)
        return speaker.say(one, domain), two.text
    meaning = pick(list(domain.meanings.values()))
    if label == "entailment":
        hypothesis = fill_name(pick(domain.words["general"]), pick(domain.names[meaning.thing]))
    elif label == "contradiction":
        aspect = meaning.opposite or speaker.other(domain.aspects, meaning.aspect)
        hypothesis = pick(domain.meanings[meaning.thing, aspect].cores[part]).text
    else:
        relation = pick(("aspect", "none"))
        hypothesis = pick(speaker.related(meaning, relation).cores[part]).text
    return speaker.say(pick(meaning.cores[part]), domain), hypothesis


def _votes(label: str, speaker: Speaker) -> tuple[str, list[str]]:
    """The gold label and five annotators' labels; without a majority gold is `-`."""
    second, third = (choice for choice in _LABELS if choice != label)
    if speaker.chance(_NO_MAJORITY_RATE):
        return "-", [label, second, third, second, label]
    return label, [label, label, label, label, speaker.pick((label, label, second, third))]
