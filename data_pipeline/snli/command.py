"""SNLI's files -> TFRecords of premise, hypothesis and label.

    python -m data_pipeline snli --input snli_1.0_train.jsonl.gz --output nli/train/

The files come in two forms with the same fields: JSON lines (`.jsonl`) and tab-separated columns
under a header (`.txt`), each plain or compressed. MultiNLI has the same forms. A pair without a
majority label has the label `-` and is left out. No Beam graph: the half million pairs of SNLI
take seconds.
"""

import logging
import zlib
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

import orjson
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError
from data_pipeline.execution.acceptance import require_acceptable
from data_pipeline.execution.job import JobResult, run_job
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
from data_pipeline.sources.tables.reader import read_rows
from data_pipeline.sources.tables.rows import TableFormat
from data_pipeline.storage.filesystem import Tap, as_json, reach_object_stores, write_file
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs, require_apart
from data_pipeline.storage.lines import KEPT_OF_TOO_LONG, MalformedLine
from data_pipeline.storage.output_folder import DEAD_LETTERS, EXCLUDED, STATISTICS, OutputFolder
from data_pipeline.storage.synthetic import synthetic_flag

FIELDS = ("gold_label", "sentence1", "sentence2", "pairID")
NO_LABEL = "-"
_COLUMNS = TableFormat(delimiter="\t", quotes=False)
_ALL = ((), ("*",))
"""Patterns that keep every pair."""
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
    described = {"command": "snli", "shards": options.shards, **options.describe_limits()}
    if options.pair_ids not in _ALL:
        described["pair_ids"] = list(options.pair_ids)
    reach_object_stores()
    excluded = Excluded(options.exclude_texts) if options.exclude_texts else None
    if excluded is not None:
        described["exclude_texts"] = excluded.describe()
    files = find_inputs(options.input)
    _require_once(files)
    folder = OutputFolder(options.output)
    require_apart({"--output": options.output}, files)

    def work() -> dict[str, Any]:
        read = _Pairs(options, excluded)
        inputs = read.add_all(files)
        statistics = read.statistics()
        require_acceptable(
            statistics, options, pairs=read.counts["pairs"], dead_letters=read.dead_letters
        )
        if excluded is not None and not read.counts["excluded"]:
            _LOG.warning("warning: %s", excluded.no_match())
        folder.start()
        outputs = {}
        for name, lines in read.contents().items():
            file = write_file(FileSystems.join(folder.incomplete, name), b"".join(lines))
            outputs[name] = {"bytes": file.size, "crc32c": file.crc32c, "records": len(lines)}
        folder.publish(
            files={name: name for name in outputs},
            documents={STATISTICS: as_json(statistics)},
            marker={
                "inputs": inputs,
                "options": described,
                "outputs": outputs,
                **synthetic_flag(inputs),
            },
        )
        return statistics

    def accept(statistics: dict[str, Any]) -> None:
        require_acceptable(statistics, options, pairs=statistics["pairs"])

    job = folder, files, described
    return run_job(*job, overwrite=options.overwrite, work=work, accept=accept)


def _require_once(files: list[InputFile]) -> None:
    """Checks that no corpus is there in two formats, as SNLI's archive has it."""
    seen: dict[str, str] = {}
    for file in files:
        stem = PurePath(file.path).name.partition(".jsonl")[0].partition(".txt")[0]
        other = seen.setdefault(str(PurePath(file.path).with_name(stem)), file.path)
        if other != file.path:
            raise InputError(
                f"--input: {file.path!r} has the pairs of {other!r}; accepted: one of the two"
            )


class _Pairs:
    """The wanted pairs of files, and what became of the others."""

    def __init__(self, options: SnliOptions, excluded: Excluded | None):
        self._options = options
        self._excluded = excluded
        self._shards: list[list[bytes]] = [[] for _ in range(options.shards)]
        self._excluded_lines: list[bytes] = []
        self.dead_letters: list[bytes] = []
        self.counts: Counter = Counter()
        """`lines` = `malformed` + `other_ids` + `no_label` + `excluded` + `pairs`, and of each of
        `LABELS`."""

    def add_all(self, files: list[InputFile]) -> dict[str, dict[str, Any]]:
        """Reads files; returns their entries in COMPLETED by full path.

        Raises:
          InputError: if files cannot be read; names all of them.
        """
        inputs, unreadable = {}, []
        for file in files:
            tap = Tap()
            try:
                for rows in read_rows(file, FIELDS, tap=tap, form=_COLUMNS):
                    malformed = list(rows.malformed)
                    for number, values in zip(rows.numbers, rows.values, strict=True):
                        if reason := self._add(*values):
                            raw = repr(values).encode()[:KEPT_OF_TOO_LONG]
                            malformed.append(MalformedLine(file.path, number, raw, reason))
                    malformed.sort(key=lambda line: line.number)
                    self.counts.update(lines=rows.total, malformed=len(malformed))
                    left = self._options.max_dead_letters - len(self.dead_letters)
                    self.dead_letters += [line.as_dead_letter() for line in malformed[:left]]
            except UnreadableFileError as error:
                unreadable.append(str(error))
            inputs[file.full_path] = file.describe(tap)
        if unreadable:
            raise InputError("; ".join(unreadable))
        return inputs

    def _add(self, label: Any, premise: Any, hypothesis: Any, pair_id: Any) -> str:
        """Adds a row to its shard; returns why it cannot be parsed, if so.

        As in `pairs.shards`, a pair's shard is a hash of its id.
        """
        for name, value in zip(FIELDS, (label, premise, hypothesis, pair_id), strict=True):
            if not isinstance(value, str):
                return f"{name} is missing or no string"
        if not any(fnmatchcase(pair_id, pattern) for pattern in self._options.pair_ids or "*"):
            self.counts["other_ids"] += 1
        elif label == NO_LABEL:
            self.counts["no_label"] += 1
        elif label not in LABELS:
            return f"gold_label is none of {', '.join((*LABELS, NO_LABEL))}"
        elif file := self._excluded and self._excluded.find_pair(premise, hypothesis):
            self.counts["excluded"] += 1
            found = {"file": file, PREMISE: premise, HYPOTHESIS: hypothesis, PAIR_ID: pair_id}
            self._excluded_lines.append(orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE))
        else:
            texts = {PREMISE: premise, HYPOTHESIS: hypothesis}
            record = encode_example({**texts, LABEL: LABELS.index(label), PAIR_ID: pair_id})
            shard = zlib.crc32(pair_id.encode()) % len(self._shards)
            self._shards[shard].append(frame(record))
            self.counts.update(("pairs", label))
        return ""

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
        """The contents of `statistics.json`; some counts only where they are asked for."""
        names = ["lines", "malformed"]
        names += ["other_ids"] if self._options.pair_ids not in _ALL else []
        names += ["no_label"]
        names += ["excluded"] if self._excluded is not None else []
        counts = {name: self.counts[name] for name in (*names, "pairs")}
        return {**counts, "labels": {label: self.counts[label] for label in LABELS}}
