"""NLI pairs about pictures and headlines, with SNLI's fields.

Entailment: a paraphrase, or the thing without the aspect. Contradiction: the same activity in
another place, or the opposite of an event. Neutral: another aspect, or another thing.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import orjson

from data_pipeline.sample.speech import Speaker, frame
from data_pipeline.sample.world import Domain, Meaning, World, fill_name
from data_pipeline.storage.filesystem import write_file

ROWS = {"train": 3000, "dev": 300, "test": 300}
LABELS = ("entailment", "contradiction", "neutral")
NO_MAJORITY_RATE = 0.02
GENERAL_RATE = 0.3


def write(world: World, folder: Path, *, seed: int) -> None:
    """Write snli_1.0_train.jsonl, snli_1.0_dev.jsonl and snli_1.0_test.jsonl."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ROWS:
        speaker = Speaker(world, Random(f"nli {part} {seed}"))
        content = b"".join(orjson.dumps(row) + b"\n" for row in rows(speaker, part))
        write_file(str(folder / f"snli_1.0_{part}.jsonl"), content)


def rows(speaker: Speaker, part: str) -> Iterator[dict]:
    """Yield the rows of one file as dictionaries."""
    domains = [domain for domain in speaker.world.domains.values() if domain.general]
    for number in range(ROWS[part]):
        domain, label = speaker.pick(domains), speaker.pick(LABELS)
        premise, hypothesis = _pair(domain, label, part=part, speaker=speaker)
        gold, votes = _votes(label, speaker)
        yield {
            "annotator_labels": votes,
            "gold_label": gold,
            "pairID": f"sample-{part}-{number}",
            "sentence1": premise,
            "sentence2": hypothesis,
        }


def _pair(domain: Domain, label: str, *, part: str, speaker: Speaker) -> tuple[str, str]:
    """Return a premise with opener and closer, and a hypothesis without."""
    if label == "entailment" and not speaker.chance(GENERAL_RATE):
        one, two = speaker.core_pair(domain, "same", part=part)
        return speaker.say(one, domain), frame(two.text, opener="", closer=".")
    meaning = speaker.pick(list(domain.meanings.values()))
    if label == "entailment":
        hypothesis = fill_name(
            speaker.pick(domain.general), speaker.pick(domain.names[meaning.thing])
        )
    elif label == "contradiction":
        hypothesis = speaker.pick(_opposite(meaning, speaker).cores[part]).text
    else:
        relation = speaker.pick(("aspect", "none"))
        hypothesis = speaker.pick(speaker.related(meaning, relation).cores[part]).text
    premise = speaker.say(speaker.pick(meaning.cores[part]), domain)
    return premise, frame(hypothesis, opener="", closer=".")


def _opposite(meaning: Meaning, speaker: Speaker) -> Meaning:
    domain = meaning.domain
    aspect = meaning.opposite or speaker.other(domain.aspects, meaning.aspect)
    return domain.meanings[meaning.thing, aspect]


def _votes(label: str, speaker: Speaker) -> tuple[str, list[str]]:
    """Return the gold label and five annotators' labels; without a majority gold is `-`."""
    second, third = (choice for choice in LABELS if choice != label)
    if speaker.chance(NO_MAJORITY_RATE):
        return "-", [label, second, third, second, label]
    return label, [label, label, label, label, speaker.pick((label, label, second, third))]
