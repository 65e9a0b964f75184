"""The sample world: generated questions, paraphrases and replies, in the layout of real data.

It stands in for corpora that may not be redistributed: original text in the formats of a Pushshift
dump, SNLI, the STS Benchmark and SemEval's community question answering. Two paraphrases share few
or no content words and never reply to each other: only their replies show that they mean the same.
"""

from pathlib import Path
from random import Random

from common.errors import InputError
from common.files import claim
from data_pipeline.sample import cqa, dump, nli, sts
from data_pipeline.sample.options import SampleOptions
from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.world import load
from data_pipeline.storage.filesystem import is_remote
from data_pipeline.storage.synthetic import FIRST_WORDS, MARKER, is_marker

_LABELLED = {"stsb": sts, "nli": nli, "semeval_cqa": cqa}
"""Folder -> the module that makes its files."""


def main(options: SampleOptions) -> None:
    """Runs the command."""
    write_sample(options)
    folder = options.output.rstrip("/")
    print(f"written to {folder}; {folder}/{MARKER} describes it")


def write_sample(options: SampleOptions) -> None:
    """Writes the sample world into a folder; the same options give the same bytes.

    Raises:
      InputError: if the folder holds real data or is not local.
      ClaimedError: if another process works in the folder.
    """
    if not options.output or is_remote(options.output):
        raise InputError(f"--output: {options.output!r}: accepted: a local folder")
    output, comments, seed = Path(options.output), options.comments, options.seed
    marker = output / MARKER
    for name in (*_LABELLED, "reddit"):
        if (output / name).exists() and not is_marker(marker):
            raise InputError(
                f"--output: {str(output / name)!r} already exists and is not a sample "
                "world; name another folder"
            )
    with claim(output):
        marker.write_text(f"{FIRST_WORDS}unfinished. None of it is real.\n")
        world = load()
        for name, labelled in _LABELLED.items():
            (output / name).mkdir(exist_ok=True)
            for part, file in labelled.PARTS.items():
                kind = labelled.__name__.rpartition(".")[2]
                speaker = Speaker(world, Random(f"{kind} {part} {seed}"))
                content = "".join(labelled.content(speaker, part))
                (output / name / file).write_bytes(content.encode())
        dump.write(world, output / "reddit", comments=comments, seed=seed)
        marker.write_text(f"{FIRST_WORDS}{comments} comments, seed {seed}. None of it is real.\n")
