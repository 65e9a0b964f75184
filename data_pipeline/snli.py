"""Files of SNLI and of other NLI data -> TFRecords of premise, hypothesis and label.

JSON lines (`.jsonl`), tab-separated columns under a header (`.txt`, `.tsv`), each plain or
compressed, or Parquet, with the fields of SNLI and MultiNLI or those of Hugging Face, whose labels
are numbers. A pair without a majority label, `-` or -1, is left out. No Beam graph: the half
million pairs of SNLI take seconds.
"""

import logging
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

import orjson

from common import tfrecord
from common.errors import InputError, reading
from common.tables import TAB, Dialect, column_of
from common.tfrecord import CRC, HYPOTHESIS, LABEL, LABELS, NO_LABEL, PAIR_ID, PREMISE
from data_pipeline.execution.job import JobResult, require_acceptable, run_job
from data_pipeline.options import SnliOptions
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.sources.tables.reader import as_raw, rows_of
from data_pipeline.storage.filesystem import Tap, reach_object_stores
from data_pipeline.storage.inputs import InputFile, find_inputs
from data_pipeline.storage.lines import MOST_DEAD_LETTERS, MalformedLine
from data_pipeline.storage.output_folder import DEAD_LETTERS, EXCLUDED, OutputFolder, write_aside

FIELDS = (
    ("gold_label", "label"),
    ("sentence1", "premise"),
    ("sentence2", "hypothesis"),
    ("pairID", "idx"),
)
"""What each field may be called; a pair without an id is known by its file and line."""
_COUNTED = ("lines", "malformed", "other_ids", "no_label", "excluded", "pairs")
_LOG = logging.getLogger(__name__)


def main(options: SnliOptions) -> None:
    """Runs the command."""
    run_snli(options).print()


def run_snli(options: SnliOptions) -> JobResult:
    """Converts SNLI's files into labelled pairs as TFRecords; raises as `run_job`."""
    reach_object_stores()
    excluded = Excluded(options.exclude_texts) if options.exclude_texts else None
    described = {
        "command": "snli",
        "shards": options.shards,
        "pair_ids": list(options.pair_ids),
        "exclude_texts": excluded and excluded.describe(),
    }
    files = find_inputs(options.input)
    _require_once(files)

    def work(output: OutputFolder) -> dict[str, Any]:
        pairs = _Pairs(options, excluded)
        inputs = {file.full_path: pairs.read(file) for file in files}
        statistics: dict[str, Any] = {name: pairs.counts[name] for name in _COUNTED}
        statistics["labels"] = {label: pairs.counts[label] for label in LABELS}
        letters = pairs.contents[DEAD_LETTERS]
        require_acceptable(statistics, options, pairs=statistics["pairs"], dead_letters=letters)
        if excluded is not None and not statistics["excluded"]:
            _LOG.warning("warning: %s", excluded.no_match())
        output.start()
        for name in pairs.shards:  # by checksum: the same however the input was divided
            pairs.contents[name].sort(key=lambda framed: (framed[-CRC.itemsize :], framed))
        written = {
            name: write_aside(output.incomplete, name, b"".join(lines), records=len(lines))
            for name, lines in pairs.contents.items()
        }
        output.publish(written, inputs=inputs, options=described, statistics=statistics)
        return statistics

    return run_job(options, files, described, work)


def _require_once(files: list[InputFile]) -> None:
    """Checks that no corpus is there in both forms, as SNLI's archive has it."""
    seen: dict[str, str] = {}
    for file in files:
        stem = re.split(r"\.(?:jsonl|txt|tsv|parquet)\b", file.path)[0]
        if (other := seen.setdefault(stem, file.path)) != file.path:
            raise InputError(
                f"--input: {file.path!r} has the pairs of {other!r}; accepted: one of the two"
            )


def _columns(there: Sequence[str]) -> list[str]:
    """The columns of a table with the `FIELDS`."""
    ids = [name for name in FIELDS[-1] if name in there]
    return [*(column_of(names, there) for names in FIELDS[:-1]), *ids[:1]]


class _Pairs:
    """The wanted pairs of files, and what became of the others."""

    def __init__(self, options: SnliOptions, excluded: Excluded | None):
        self._patterns, self._excluded = options.pair_ids or "*", excluded
        numbers = range(options.shards)
        self.shards = [f"nli-{n:05d}-of-{options.shards:05d}.tfrecord" for n in numbers]
        others = [DEAD_LETTERS, *([EXCLUDED] if excluded else [])]
        self.contents: dict[str, list[bytes]] = {name: [] for name in (*self.shards, *others)}
        """File name -> its lines or records."""
        self.counts: Counter = Counter()
        """Of `_COUNTED`, of which the first is the sum of the others, and of `LABELS`."""

    def read(self, file: InputFile) -> dict[str, Any]:
        """Adds the pairs of a file; returns its entry in COMPLETED."""
        tap = Tap()
        letters = self.contents[DEAD_LETTERS]
        with reading("--input"):
            for number, fields, fault, raw in rows_of(file, _columns, tap=tap, form=Dialect(TAB)):
                self.counts["lines"] += 1
                try:
                    if fault:
                        raise ValueError(fault)
                    self.counts.update(self._add(fields, f"{PurePath(file.path).name}:{number}"))
                except ValueError as error:
                    self.counts["malformed"] += 1
                    letter = MalformedLine(file.path, number, raw or as_raw(fields), str(error))
                    letters += [letter.as_dead_letter()] * (len(letters) < MOST_DEAD_LETTERS)
        return file.describe(tap)

    def _add(self, row: dict[str, Any], own_id: str) -> tuple[str, ...]:
        """Adds a row to its shard, a hash of its id; returns what it counts as.

        `own_id` stands in for a missing id. Raises a ValueError if the row cannot be parsed.
        """
        found: list[Any]
        found = [next((row[name] for name in of if name in row), None) for of in FIELDS]
        label, premise, hypothesis, pair_id = found
        pair_id = own_id if pair_id is None else pair_id
        label, pair_id = (str(one) if isinstance(one, int) else one for one in (label, pair_id))
        for names, value in zip(FIELDS, (label, premise, hypothesis, pair_id), strict=True):
            if not isinstance(value, str):
                raise ValueError(f"{' or '.join(names)} is missing or no string")
        if not any(fnmatchcase(pair_id, pattern) for pattern in self._patterns):
            return ("other_ids",)
        if (label := tfrecord.label_of(label)) == NO_LABEL:
            return ("no_label",)
        pair = {PREMISE: premise, HYPOTHESIS: hypothesis}
        if file := self._excluded and self._excluded.find_pair(premise, hypothesis):
            line = orjson.dumps({"file": file, **pair, PAIR_ID: pair_id})
            self.contents[EXCLUDED].append(line + b"\n")
            return ("excluded",)
        pair |= {LABEL: LABELS.index(label), PAIR_ID: pair_id}
        shard = self.shards[zlib.crc32(pair_id.encode()) % len(self.shards)]
        self.contents[shard].append(tfrecord.frame(tfrecord.encode_example(pair)))
        return "pairs", label
