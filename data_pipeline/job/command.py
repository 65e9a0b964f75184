"""The commands that make pairs: Reddit's dumps, tables of messages, or tables of pairs in.

With `--sample N` the whole job runs on the first messages of each file, in a temporary folder, so
that what is printed is what it would write.
"""

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from common.errors import InputError
from data_pipeline.card.data_card import cut
from data_pipeline.execution.job import SHOWN, table
from data_pipeline.execution.runner import LOCAL_RUNNER
from data_pipeline.job.run import make_pairs
from data_pipeline.pairs.options import PairOptions
from data_pipeline.storage.output_folder import DATA_CARD, DEAD_LETTERS

_SHOWN_CHARACTERS = 300
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys, or that turn the direction of what follows."""


def main(options: PairOptions, beam_arguments: Sequence[str]) -> None:
    """Runs one of the commands, or shows what the first messages give."""
    if options.sample is not None:
        _preview(options, beam_arguments)
        return
    result = make_pairs(options, beam_arguments=beam_arguments)
    result.print(more=f"; {result.folder.rstrip('/')}/data_card.html describes it")


def _preview(options: PairOptions, beam_arguments: Sequence[str]) -> None:
    """Prints what the first messages of each file give: counts, pairs, and what is left out.

    The local runner is used whatever Beam's options say.

    Raises:
      InputError: if an input or an option is invalid, or there is no pair.
    """
    with tempfile.TemporaryDirectory(prefix="sample-") as folder:
        output = Path(folder) / "pairs"
        result = make_pairs(
            replace(options, output=str(output), allow_empty=True, max_malformed=1.0),
            beam_arguments=[*beam_arguments, f"--runner={LOCAL_RUNNER}", "--direct_num_workers=1"],
        )
        card = json.loads((output / f"{DATA_CARD}.json").read_text())
        with (output / DEAD_LETTERS).open("rb") as stream:
            letters = list(map(json.loads, islice(stream, SHOWN)))
    print(table(result.statistics))
    if about := card["repeated"]:
        rows = [("texts looked at", "texts"), ("begin or end alike", "repeated")]
        rows.append(("have markup", "markup"))
        print(table({name: about[key] for name, key in rows}))
        for line in about["lines"]:
            print(f"repeated  {_shown(line)}")
    for pair in card["example_pairs"][:SHOWN]:
        before = [("before", turn) for turn in reversed(pair["context"])]
        print()
        for name, text in [*before, ("input", pair["input"]), ("response", pair["response"])]:
            print(f"{name:9} {_shown(text)}")
    print()
    for rule, texts in card["dropped_examples"].items():
        for text in texts:
            print(f"dropped by {rule}: {_shown(text)}")
    for letter in letters:
        print(f"malformed {letter['reason']}: {_shown(letter['raw'])}")
    print(f"\nnothing written: the first {options.sample:,} messages of each file")
    if not card["example_pairs"]:
        raise InputError(
            f"--sample: no pairs among the first {options.sample:,} messages of each file"
        )


def _shown(text: str) -> str:
    return _CONTROLS.sub("\ufffd", cut(text, _SHOWN_CHARACTERS))
