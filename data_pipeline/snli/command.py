"""Files of SNLI and of other NLI data -> TFRecords of premise, hypothesis and label.

    python -m data_pipeline snli --input snli_1.0_train.jsonl.gz --output nli/train/

JSON lines (`.jsonl`), tab-separated columns under a header (`.txt`, `.tsv`), each plain or
compressed, or Parquet, with the fields of SNLI and MultiNLI or those of Hugging Face, whose labels
are numbers. A pair without a majority label, `-` or -1, is left out. No Beam graph: the half
million pairs of SNLI take seconds.
"""

import logging
import re
import zlib
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

import orjson

from common.errors import InputError, reading
from common.tables.delimited import TAB, Dialect
from data_pipeline.execution.job import JobResult, require_acceptable, run_job
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.tfrecord import (
    HYPOTHESIS,
    LABEL,
    LABELS,
    PAIR_ID,
    PREMISE,
    encode_example,
    frame,
    frame_key,
)
from data_pipeline.snli.options import SnliOptions
from data_pipeline.sources.tables.reader import field_names, read_rows
from data_pipeline.sources.tables.rows import Rows
from data_pipeline.storage.filesystem import Tap, reach_object_stores
from data_pipeline.storage.inputs import InputFile, find_inputs
from data_pipeline.storage.lines import KEPT_OF_TOO_LONG, MOST_DEAD_LETTERS, MalformedLine
from data_pipeline.storage.output_folder import (
    DEAD_LETTERS,
    EXCLUDED,
    OutputFolder,
    write_aside,
)

FIELDS = (
    ("gold_label", "label"),
    ("sentence1", "premise"),
    ("sentence2", "hypothesis"),
    ("pairID", "idx"),
)
"""What each field may be called; a pair without an id is known by its file and line."""
NO_LABEL = "-"
_NUMBERS = {"-1": NO_LABEL} | {str(number): label for number, label in enumerate(LABELS)}
_COLUMNS = Dialect(TAB)
_LOG = logging.getLogger(__name__)


def main(options: SnliOptions) -> None:
    """Runs the command."""
    run_snli(options).print()


def run_snli(options: SnliOptions) -> JobResult:
    """Converts SNLI's files into TFRecords of premise, hypothesis and label.

    Raises:
      InputError: if an input, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
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
        inputs = _read(files, pairs)
        statistics = pairs.statistics()
        require_acceptable(
            statistics, options, pairs=statistics["pairs"], dead_letters=pairs.dead_letters
        )
        if excluded is not None and not statistics["excluded"]:
            _LOG.warning("warning: %s", excluded.no_match())
        output.start()
        written = {
            name: write_aside(output.incomplete, name, b"".join(lines), records=len(lines))
            for name, lines in pairs.contents().items()
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


def _read(files: list[InputFile], pairs: "_Pairs") -> dict[str, dict[str, Any]]:
    """Adds the pairs of files; returns the files' entries in COMPLETED by full path.

    Raises:
      InputError: if a file cannot be read.
    """
    inputs = {}
    for file in files:
        tap = Tap()
        with reading("--input"):
            there = field_names(file, form=_COLUMNS)
            names = [next((name for name in of if name in there), of[0]) for of in FIELDS]
            names = names if names[-1] in there else names[:-1]
            for rows in read_rows(file, names, tap=tap, form=_COLUMNS):
                pairs.add(file.path, rows)
        inputs[file.full_path] = file.describe(tap)
    return inputs


class _Pairs:
    """The wanted pairs of files, and what became of the others."""

    def __init__(self, options: SnliOptions, excluded: Excluded | None):
        self._options = options
        self._excluded = excluded
        self._shards: list[list[bytes]] = [[] for _ in range(options.shards)]
        self._excluded_lines: list[bytes] = []
        self.dead_letters: list[bytes] = []
        self._counts: Counter = Counter()
        """`lines` = `malformed` + `other_ids` + `no_label` + `excluded` + `pairs`, and of each of
        `LABELS`."""

    def add(self, path: str, rows: Rows) -> None:
        """Adds the pairs of some rows of a file."""
        malformed = list(rows.malformed)
        for number, values in zip(rows.numbers, rows.values, strict=True):
            try:
                label, premise, hypothesis, *ids = values
                pair_id = ids[0] if ids else f"{PurePath(path).name}:{number}"
                self._counts.update(self._add(label, premise, hypothesis, pair_id))
            except ValueError as error:
                raw = repr(values).encode()[:KEPT_OF_TOO_LONG]
                malformed.append(MalformedLine(path, number, raw, str(error)))
        self._counts.update(lines=rows.total, malformed=len(malformed))
        left = MOST_DEAD_LETTERS - len(self.dead_letters)
        in_order = sorted(malformed, key=lambda line: line.number)
        self.dead_letters += [line.as_dead_letter() for line in in_order[:left]]

    def _add(self, label: Any, premise: Any, hypothesis: Any, pair_id: Any) -> tuple[str, ...]:
        """Adds a row to its shard, a hash of its id; returns what it counts as.

        Raises:
          ValueError: if it cannot be parsed.
        """
        label, pair_id = (str(one) if isinstance(one, int) else one for one in (label, pair_id))
        for names, value in zip(FIELDS, (label, premise, hypothesis, pair_id), strict=True):
            if not isinstance(value, str):
                raise ValueError(f"{' or '.join(names)} is missing or no string")
        label = _NUMBERS.get(label, label)
        if not any(fnmatchcase(pair_id, pattern) for pattern in self._options.pair_ids or "*"):
            return ("other_ids",)
        if label == NO_LABEL:
            return ("no_label",)
        if label not in LABELS:
            accepted = ", ".join((*LABELS, NO_LABEL))
            raise ValueError(f"the gold_label is {label!r}; accepted: {accepted}, or -1 to 2")
        pair = {PREMISE: premise, HYPOTHESIS: hypothesis}
        if file := self._excluded and self._excluded.find_pair(premise, hypothesis):
            line = orjson.dumps({"file": file, **pair, PAIR_ID: pair_id})
            self._excluded_lines.append(line + b"\n")
            return ("excluded",)
        record = encode_example({**pair, LABEL: LABELS.index(label), PAIR_ID: pair_id})
        self._shards[zlib.crc32(pair_id.encode()) % len(self._shards)].append(frame(record))
        return "pairs", label

    def contents(self) -> dict[str, list[bytes]]:
        """File name -> its lines or records, the same however the input was divided."""
        number = len(self._shards)
        files = {
            f"nli-{index:05d}-of-{number:05d}.tfrecord": sorted(records, key=frame_key)
            for index, records in enumerate(self._shards)
        }
        files[DEAD_LETTERS] = self.dead_letters
        return files if self._excluded is None else {**files, EXCLUDED: self._excluded_lines}

    def statistics(self) -> dict[str, Any]:
        """The contents of `statistics.json`."""
        names = ("lines", "malformed", "other_ids", "no_label", "excluded", "pairs")
        return {
            **{name: self._counts[name] for name in names},
            "labels": {label: self._counts[label] for label in LABELS},
        }
