"""The sample world: generated questions, paraphrases and replies, in the layout of real data.

It stands in for corpora that may not be redistributed. Two paraphrases share few or no content
words and never reply to each other: only their replies show that they mean the same.
"""

from pathlib import Path

from common.errors import InputError
from common.files import claim
from common.origin import FIRST_WORDS, MARKER, is_marker
from data_pipeline.options import SampleOptions
from data_pipeline.sample import dump, labelled
from data_pipeline.storage.filesystem import is_remote

_REDDIT = "reddit"


def main(options: SampleOptions) -> None:
    """Runs the command."""
    write_sample(options)
    folder = options.output.rstrip("/")
    print(f"written to {folder}; {folder}/{MARKER} describes it")


def write_sample(options: SampleOptions) -> None:
    """Writes the sample world into a folder; the same options give the same bytes.

    An InputError if the folder holds real data or is not local, or another process works in it.
    """
    if not options.output or is_remote(options.output):
        raise InputError(f"--output: {options.output!r}: accepted: a local folder")
    output, comments, seed = Path(options.output), options.comments, options.seed
    marker = output / MARKER
    with claim(output):
        for name in (*labelled.FOLDERS, _REDDIT):
            if (output / name).exists() and not is_marker(marker):
                said = "already exists and is not a sample world; name another folder"
                raise InputError(f"--output: {str(output / name)!r} {said}")
        marker.write_text(f"{FIRST_WORDS}unfinished. None of it is real.\n")
        for name, content in labelled.files(seed):
            (output / name).parent.mkdir(exist_ok=True)
            (output / name).write_bytes(content.encode())
        dump.write(output / _REDDIT, comments=comments, seed=seed)
        marker.write_text(f"{FIRST_WORDS}{comments} comments, seed {seed}. None of it is real.\n")
