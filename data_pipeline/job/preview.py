"""`--sample N`: the job on the first messages of each file, printed and not written.

The job is the whole one, in a temporary folder, so that what is printed is what it would write.
"""

import json
import math
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from common.errors import InputError
from data_pipeline.card.data_card import cut
from data_pipeline.execution.job import as_table
from data_pipeline.execution.runner import LOCAL_RUNNER
from data_pipeline.job.run import Prepare, make_pairs
from data_pipeline.sources.source import MessageBatch, Source
from data_pipeline.sources.wrapped import Wrapped
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.output_folder import DATA_CARD, DEAD_LETTERS

SHOWN = 3
"""Pairs and malformed lines."""
_SHOWN_CHARACTERS = 300
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys, or that turn the direction of what follows."""
_MALFORMED_LINES = 10_000
"""How many end the search for messages, at least."""
_BYTES_A_MESSAGE = 1000
"""Stored bytes, at most: the long comments of a dump take 1,073 before compression."""


@dataclass(frozen=True)
class FirstMessages(Wrapped):
    """A source that ends after the first messages of each file."""

    messages: int

    def reads_parts(self, file: InputFile) -> bool:
        """False: the first messages are in one place."""
        return False

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the first messages, and of their batches' malformed lines the same share."""
        left, malformed_left = self.messages, max(self.messages, _MALFORMED_LINES)
        for batch in self.source.read(file, tap):
            messages = batch.messages.slice(0, left)
            left -= messages.num_rows
            malformed = batch.malformed
            if rows := batch.messages.num_rows:
                malformed = malformed[: math.ceil(len(malformed) * messages.num_rows / rows)]
            lines = messages.num_rows + len(malformed)
            yield batch._replace(messages=messages, lines=lines, malformed=malformed)
            malformed_left -= len(batch.malformed)
            if not left or malformed_left <= 0:
                return


def preview(
    inputs: Sequence[str],
    *,
    messages: int,
    prepare: Prepare,
    beam_arguments: Sequence[str] = (),
) -> None:
    """Prints what the first messages of each file give: counts, pairs, and what is left out.

    Args:
      inputs: file names or patterns.
      messages: of each file, at least 1.
      prepare: as for `make_pairs`.
      beam_arguments: Beam's pipeline options.

    Raises:
      InputError: if an input or an option is invalid, or there is no pair.
    """
    if messages < 1:
        raise InputError(f"--sample: {messages} is not 1 or more")

    def of_first(files: list[InputFile]) -> tuple[Source, Any]:
        source, settings = prepare(files)
        limits = settings.limits._replace(allow_empty=True, max_malformed=1.0)
        return FirstMessages(source, messages), settings._replace(limits=limits)

    with tempfile.TemporaryDirectory(prefix="sample-") as folder:
        output = Path(folder) / "pairs"
        result = make_pairs(
            inputs,
            str(output),
            prepare=of_first,
            beam_arguments=[*beam_arguments, f"--runner={LOCAL_RUNNER}", "--direct_num_workers=1"],
            bytes_a_file=messages * _BYTES_A_MESSAGE,
        )
        card = json.loads((output / f"{DATA_CARD}.json").read_text())
        with (output / DEAD_LETTERS).open("rb") as stream:
            letters = [json.loads(line) for line, _ in zip(stream, range(SHOWN), strict=False)]
    _say(tabulate(as_table(result.statistics), disable_numparse=True, colalign=("left", "right")))
    for pair in card["example_pairs"][:SHOWN]:
        before = [("before", turn) for turn in reversed(pair["context"])]
        _say()
        for name, text in [*before, ("input", pair["input"]), ("response", pair["response"])]:
            _say(f"{name:9} {_shown(text)}")
    dropped = card["dropped_examples"].items()
    left_out = [(f"dropped by {rule}", text) for rule, texts in dropped for text in texts]
    left_out += [(f"malformed {letter['reason']}", letter["raw"]) for letter in letters]
    _say()
    for reason, text in left_out:
        _say(f"{reason}: {_shown(text)}")
    _say(f"\nnothing written: the first {messages:,} messages of each file")
    if not card["example_pairs"]:
        raise InputError(f"--sample: no pairs among the first {messages:,} messages of each file")


def _shown(text: str) -> str:
    return _CONTROLS.sub("\ufffd", cut(text, _SHOWN_CHARACTERS))


def _say(text: str = "") -> None:
    """Prints a text; characters that the terminal's encoding lacks as backslash escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))
