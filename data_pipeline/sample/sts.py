"""Sentence pairs with graded similarity, in the format of the STS Benchmark.

Tab-separated, with unescaped quotes in the sentences; as in the real files, some rows have two
more columns, of licences.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from data_pipeline.sample.speech import RELATIONS, Speaker, frame
from data_pipeline.sample.world import Domain, World
from data_pipeline.storage.filesystem import write_file

PAIRS_PER_GENRE = {"train": 600, "dev": 250, "test": 250}
LICENCE_RATE = 0.05
LICENCE = "Sample world (Apache-2.0)"
SHARED_FRAME_RATE = 0.25
GOLD = {"same": (4.4, 5.0), "thing": (2.2, 3.0), "aspect": (1.4, 2.2), "none": (0.0, 0.6)}


def write(world: World, folder: Path, *, seed: int) -> None:
    """Write sts-train.csv, sts-dev.csv and sts-test.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PAIRS_PER_GENRE:
        speaker = Speaker(world, Random(f"sts {part} {seed}"))
        content = "".join(f"{row}\n" for row in rows(speaker, part))
        write_file(str(folder / f"sts-{part}.csv"), content.encode())


def rows(speaker: Speaker, part: str) -> Iterator[str]:
    """Yield the rows of one file, genre by genre."""
    for domain in speaker.world.domains.values():
        if not domain.genre.startswith("main-"):
            continue
        for number in range(PAIRS_PER_GENRE[part]):
            relation = speaker.pick(RELATIONS)
            first, second = _sentences(domain, relation, part=part, speaker=speaker)
            low, high = GOLD[relation]
            gold = f"{speaker.random.uniform(low, high):.3f}"
            columns = [domain.genre, domain.source, "2020", f"{number:04}", gold, first, second]
            if speaker.chance(LICENCE_RATE):
                columns += [LICENCE, LICENCE]
            yield "\t".join(columns)


def _sentences(domain: Domain, relation: str, *, part: str, speaker: Speaker) -> tuple[str, str]:
    one, two = speaker.core_pair(domain, relation, part=part)
    opener, closer = speaker.pick(domain.openers), speaker.pick(domain.closers)
    first = frame(one.text, opener=opener, closer=closer)
    if not speaker.chance(SHARED_FRAME_RATE):
        opener, closer = speaker.pick(domain.openers), speaker.pick(domain.closers)
    return first, frame(two.text, opener=opener, closer=closer)
