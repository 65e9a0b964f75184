"""Sentence pairs with graded similarity, in the format of the STS Benchmark.

Tab-separated, with unescaped quotes in the sentences; as in the real files, some rows have two
more columns, of licences.
"""

from collections.abc import Iterator

from data_pipeline.sample.speech import RELATIONS, Speaker, frame

PAIRS_PER_GENRE = {"train": 600, "dev": 250, "test": 250}
_LICENCE_RATE = 0.05
_LICENCE = "Sample world (Apache-2.0)"
_SHARED_FRAME_RATE = 0.25
_GOLD = {"same": (4.4, 5.0), "thing": (2.2, 3.0), "aspect": (1.4, 2.2), "none": (0.0, 0.6)}
"""Relation -> the lowest and the highest similarity."""
PARTS = {part: f"sts-{part}.csv" for part in PAIRS_PER_GENRE}
"""Part -> the name of its file."""


def content(speaker: Speaker, part: str) -> Iterator[str]:
    """Yields the rows of a file, genre by genre."""
    for domain in speaker.world.domains.values():
        if not domain.genre.startswith("main-"):
            continue
        words = domain.words["openers"], domain.words["closers"]
        for number in range(PAIRS_PER_GENRE[part]):
            relation = speaker.pick(RELATIONS)
            one, two = speaker.core_pair(domain, relation, part=part)
            opener, closer = map(speaker.pick, words)
            first = frame(one.text, opener=opener, closer=closer)
            if not speaker.chance(_SHARED_FRAME_RATE):
                opener, closer = map(speaker.pick, words)
            second = frame(two.text, opener=opener, closer=closer)
            gold = f"{speaker.random.uniform(*_GOLD[relation]):.3f}"
            columns = [domain.genre, domain.source, "2020", f"{number:04}", gold, first, second]
            if speaker.chance(_LICENCE_RATE):
                columns += [_LICENCE, _LICENCE]
            yield "\t".join(columns) + "\n"
