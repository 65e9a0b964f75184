"""`--sample N`: the job on the first messages of each file, printed and not written.

The job is the whole one, in a temporary folder, so that what is printed is what it would write.
"""

import json
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from common.errors import InputError
from data_pipeline.card.data_card import cut
from data_pipeline.card.statistics import as_table
from data_pipeline.execution.runner import LOCAL_RUNNER
from data_pipeline.job.run import Prepare, make_pairs
from data_pipeline.sources.source import MessageBatch, Source
from data_pipeline.sources.wrapped import Wrapped
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs
from data_pipeline.storage.malformed_lines import MalformedLine
from data_pipeline.storage.output_folder import DATA_CARD

PAIRS = 3
DROPPED = 10
MALFORMED = 3
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

    def describe(self) -> Mapping[str, Any]:
        """The source, and how many messages."""
        return {**self.source.describe(), "first_messages": self.messages}

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


class Preview(NamedTuple):
    """What the first messages of each file give."""

    messages: int
    statistics: dict[str, Any]
    pairs: list[dict[str, Any]]
    dropped: list[tuple[str, str]]
    """Rule and text of messages that were dropped, of each rule some."""
    malformed: list[MalformedLine]

    def print(self) -> None:
        """Prints the statistics, some pairs, and what was left out.

        Raises:
          InputError: if there is no pair.
        """
        rows = as_table(self.statistics)
        _say(tabulate(rows, disable_numparse=True, colalign=("left", "right")))
        for pair in self.pairs:
            for turn in reversed(pair["context"]):
                _say(f"\nbefore    {_shown(turn)}", end="")
            _say(f"\ninput     {_shown(pair['input'])}\nresponse  {_shown(pair['response'])}")
        for title, rows in (
            ("dropped by", self.dropped),
            (
                "malformed",
                [
                    (line.reason, line.line.decode(errors="backslashreplace"))
                    for line in self.malformed
                ],
            ),
        ):
            if rows:
                _say()
            for reason, text in rows:
                _say(f"{title} {reason}: {_shown(text)}")
        _say(f"\nnothing written: the first {self.messages:,} messages of each file")
        if not self.pairs:
            raise InputError(
                f"--sample: no pairs among the first {self.messages:,} messages of each file"
            )


def preview(
    inputs: Sequence[str],
    *,
    messages: int,
    prepare: Prepare,
    beam_arguments: Sequence[str] = (),
) -> Preview:
    """Makes pairs of the first messages of each file, and writes nothing.

    Args:
      inputs: file names or patterns.
      messages: of each file, at least 1.
      prepare: as for `make_pairs`.
      beam_arguments: Beam's pipeline options.

    Raises:
      InputError: if an input or an option is invalid.
    """
    if messages < 1:
        raise InputError(f"--sample: {messages} is not 1 or more")
    sources: list[Source] = []

    def of_first(files: list[InputFile]) -> tuple[Source, Any]:
        source, settings = prepare(files)
        first = FirstMessages(source, messages)
        sources.append(first)
        limits = settings.limits._replace(allow_empty=True, max_malformed=1.0)
        return first, settings._replace(limits=limits)

    with tempfile.TemporaryDirectory(prefix="sample-") as folder:
        output = str(Path(folder) / "pairs")
        result = make_pairs(
            inputs,
            output,
            prepare=of_first,
            beam_arguments=[*beam_arguments, f"--runner={LOCAL_RUNNER}", "--direct_num_workers=1"],
            bytes_a_file=messages * _BYTES_A_MESSAGE,
        )
        card = json.loads((Path(output) / f"{DATA_CARD}.json").read_text())
    dropped, malformed = _left_out(sources[0], find_inputs(inputs))
    pairs = card["example_pairs"][:PAIRS]
    return Preview(messages, result.statistics, pairs, dropped, malformed)


def _left_out(
    source: Source, files: list[InputFile]
) -> tuple[list[tuple[str, str]], list[MalformedLine]]:
    """(rule, text) of some dropped messages, those of rare rules first; some malformed lines."""
    seen: Counter = Counter()
    dropped: list[tuple[int, int, str]] = []
    malformed: list[MalformedLine] = []
    for file in files:
        try:
            for batch in source.read(file, Tap()):
                malformed += batch.malformed[: MALFORMED - len(malformed)]
                rules = batch.messages.column("dropped_by").to_pylist()
                for row, rule in enumerate(rules):
                    if rule is not None and seen[rule] < DROPPED:
                        text = batch.messages.column("text")[row].as_py()
                        dropped.append((seen[rule], rule, text))
                        seen[rule] += 1
        except UnreadableFileError as error:
            raise InputError(str(error)) from error
    # The first of each rule, then the second of each, and so on.
    chosen = sorted(islice(sorted(dropped), DROPPED), key=lambda one: (one[1], one[0]))
    return [(source.rule_names[rule], text) for _, rule, text in chosen], malformed


def _shown(text: str) -> str:
    return _CONTROLS.sub("\ufffd", cut(text, _SHOWN_CHARACTERS))


def _say(text: str = "", *, end: str = "\n") -> None:
    """Prints a text; characters that the terminal's encoding lacks as backslash escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), end=end)
