"""The sample world: generated questions, paraphrases and replies, in the layout of real data.

It stands in for corpora that may not be redistributed: original text in the formats of a Pushshift
dump, SNLI, the STS Benchmark and SemEval's community question answering. Two paraphrases share few
or no content words and never reply to each other: only their replies show that they mean the same.

    python -m data_pipeline sample --output data/sample --comments 80000 --seed 1
"""

import logging
from pathlib import Path

from common.errors import InputError
from common.files import claim
from data_pipeline.sample import cqa, dump, nli, sts
from data_pipeline.sample.world import load
from data_pipeline.storage.filesystem import is_remote
from data_pipeline.storage.synthetic import FIRST_WORDS, MARKER, is_marker

DEFAULT_COMMENTS = 80_000
_LOG = logging.getLogger(__name__)


def write_sample(output: str | Path, *, comments: int = DEFAULT_COMMENTS, seed: int = 0) -> None:
    """Writes the sample world into a folder; the same arguments give the same bytes.

    Args:
      output: the folder.
      comments: in the dump, at least 1.
      seed: of everything that is drawn at random.

    Raises:
      InputError: if `comments` is less than 1, or the folder holds real data or is not local.
      ClaimedError: if another process works in the folder.
    """
    if is_remote(str(output)):
        raise InputError(f"--output: {str(output)!r}: accepted: a local folder")
    if comments < 1:
        raise InputError(f"--comments: {comments} is not 1 or more")
    output = Path(output)
    marker = output / MARKER
    for name in ("stsb", "nli", "semeval_cqa", "reddit"):
        if (output / name).exists() and not is_marker(marker):
            raise InputError(
                f"--output: {str(output / name)!r} already exists and is not a sample "
                "world; name another folder"
            )
    with claim(output):
        if is_marker(marker):
            _LOG.info("replacing an earlier sample world in %s", output)
        marker.write_text(f"{FIRST_WORDS}unfinished. None of it is real.\n")
        world = load()
        sts.write(world, output / "stsb", seed=seed)
        nli.write(world, output / "nli", seed=seed)
        cqa.write(world, output / "semeval_cqa", seed=seed)
        dump.write(world, output / "reddit", comments=comments, seed=seed)
        marker.write_text(f"{FIRST_WORDS}{comments} comments, seed {seed}. None of it is real.\n")
