"""`--sample N`: the job on the first messages of each file, printed and not written.

The job is the whole one, in a temporary folder, so that what is printed is what it would write.
"""

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tabulate import tabulate

from common.errors import InputError
from data_pipeline.card.data_card import cut
from data_pipeline.execution.job import as_table
from data_pipeline.execution.runner import LOCAL_RUNNER
from data_pipeline.job.run import make_pairs
from data_pipeline.pairs.options import PairOptions
from data_pipeline.storage.output_folder import DATA_CARD, DEAD_LETTERS

SHOWN = 3
"""Pairs and malformed lines."""
_SHOWN_CHARACTERS = 300
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys, or that turn the direction of what follows."""


def preview(options: PairOptions, *, beam_arguments: Sequence[str] = ()) -> None:
    """Prints what the first messages of each file give: counts, pairs, and what is left out.

    Args:
      options: `sample` is how many messages of each file are read.
      beam_arguments: Beam's pipeline options; the local runner is used whatever they say.

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
    _say(f"\nnothing written: the first {options.sample:,} messages of each file")
    if not card["example_pairs"]:
        raise InputError(
            f"--sample: no pairs among the first {options.sample:,} messages of each file"
        )


def _shown(text: str) -> str:
    return _CONTROLS.sub("\ufffd", cut(text, _SHOWN_CHARACTERS))


def _say(text: str = "") -> None:
    """Prints a text; characters that the terminal's encoding lacks as backslash escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))
