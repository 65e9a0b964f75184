"""The sample world: people asking and answering in paraphrases, in the layout of real data.

It stands in for corpora that may not be redistributed: original text, made here, in the formats
of a Pushshift dump, SNLI, the STS Benchmark and SemEval's community question answering. Two
paraphrases share few or no content words and never meet as comment and reply; only the replies
that they draw tell that they mean the same.

    python -m data_pipeline sample --output data/sample --comments 80000 --seed 1
"""

from pathlib import Path

from data_pipeline.errors import InputError
from data_pipeline.sample import cqa, dump, nli, sts
from data_pipeline.sample.world import load

DEFAULT_COMMENTS = 80_000


def write(output: Path, *, comments: int = DEFAULT_COMMENTS, seed: int = 0) -> None:
    """Write the sample world under `output`; the same arguments give the same bytes."""
    if comments < 1:
        raise InputError(f"comments must be at least 1, but is {comments}")
    world = load()
    sts.write(world, output / "stsb", seed=seed)
    nli.write(world, output / "nli", seed=seed)
    cqa.write(world, output / "semeval_cqa", seed=seed)
    dump.write(world, output / "reddit", comments=comments, seed=seed)
