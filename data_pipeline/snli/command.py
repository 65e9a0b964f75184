"""SNLI's files -> TFRecords of premise, hypothesis and label.

    python -m data_pipeline snli --input snli_1.0_train.jsonl.gz --output nli/train/

A pair without a majority label has the label `-` and is left out. No Beam graph: the half million
pairs of SNLI take seconds.
"""

import argparse
import logging
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import orjson
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError
from data_pipeline.execution.acceptance import (
    Limits,
    add_limits,
    describe_limits,
    require_acceptable,
)
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
from data_pipeline.snli import lines as snli
from data_pipeline.storage.filesystem import Tap, as_json, reach_object_stores, write_file
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs, require_apart
from data_pipeline.storage.lines import MAX_LINE_BYTES
from data_pipeline.storage.malformed_lines import (
    KEPT_OF_TOO_LONG,
    MalformedLine,
    MalformedLineError,
)
from data_pipeline.storage.output_folder import DEAD_LETTERS, EXCLUDED, STATISTICS, OutputFolder
from data_pipeline.storage.synthetic import synthetic_flag

NO_LABEL = "-"
ALL = ["*"]
"""The patterns used without `--pair_ids`."""


_LOG = logging.getLogger(__name__)
_LIMITS = Limits()


class Read(NamedTuple):
    """The contents of all files."""

    rows: list[tuple[str, bytes]]
    """Pair id and framed record."""
    counts: Counter
    """`lines` = `malformed` + `other_ids` + `no_label` + `excluded` + `pairs`, and one of each of
    `LABELS`."""
    letters: list[bytes]
    """Lines of dead_letters-*.jsonl."""
    excluded: list[bytes]
    """Lines of excluded-*.jsonl."""
    inputs: dict[str, dict[str, Any]]
    """Full path -> the file's entry in COMPLETED."""


class Wanted(NamedTuple):
    """Which pairs are kept."""

    pair_ids: Sequence[str]
    """Shell patterns; a pair whose id matches none is left out."""
    texts: Excluded | None
    """A pair with a sentence of these is left out."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options."""
    parser.add_argument(
        "--shards",
        type=int,
        default=1,
        metavar="N",
        help="how many files to write; default: %(default)s",
    )
    parser.add_argument(
        "--pair_ids",
        action="extend",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="keep only pairs whose pairID matches a pattern, such as 'cad-*'; default: all",
    )
    parser.add_argument(
        "--exclude_texts",
        action="extend",
        nargs="+",
        default=[],
        metavar="GLOB",
        help="leave out pairs with a sentence of these evaluation sets (names or patterns): .txt, "
        ".csv, .tsv, .jsonl or .xml, plain or .gz",
    )
    add_limits(parser)


def run_snli(
    inputs: Sequence[str],
    output: str,
    *,
    shards: int = 1,
    pair_ids: Sequence[str] = (),
    exclude_texts: Sequence[str] = (),
    limits: Limits = _LIMITS,
    overwrite: bool = False,
) -> JobResult:
    """Converts SNLI's files into TFRecords of premise, hypothesis and label.

    Args:
      inputs: file names or patterns, .jsonl or .txt, plain or compressed.
      output: the folder to write.
      shards: how many files to write.
      pair_ids: shell patterns; only pairs with a matching id are kept; all pairs if empty.
      exclude_texts: files of evaluation sets whose sentences are left out.
      limits: what the input may hold.
      overwrite: whether to replace the output of another job.

    Raises:
      InputError: if an input, the output or an option is invalid, or no pair is found.
      ClaimedError: if another job works in the output folder.
    """
    if shards < 1:
        raise InputError(f"--shards: {shards} is not 1 or more")
    options = {"command": "snli", "shards": shards, **describe_limits(limits)}
    pair_ids = list(pair_ids) or ALL
    if pair_ids != ALL:
        options["pair_ids"] = pair_ids
    reach_object_stores()
    excluded = Excluded(exclude_texts) if exclude_texts else None
    if excluded is not None:
        options["exclude_texts"] = excluded.describe()
    files = find_inputs(inputs)
    _require_once(files)
    folder = OutputFolder(output)
    require_apart({"--output": output}, files)

    def work() -> dict[str, Any]:
        wanted = Wanted(pair_ids, excluded)
        read = read_files(files, wanted, max_dead_letters=limits.max_dead_letters)
        statistics = as_statistics(read.counts, wanted)
        _accept(read, wanted, statistics, limits)
        folder.start()
        outputs = _write(folder, read, shards=shards, excluded=excluded is not None)
        folder.publish(
            files={name: name for name in outputs},
            documents={STATISTICS: as_json(statistics)},
            marker={
                "inputs": read.inputs,
                "options": options,
                "outputs": outputs,
                **synthetic_flag(read.inputs),
            },
        )
        return statistics

    def accept(statistics: dict[str, Any]) -> None:
        require_acceptable(statistics, limits, pairs=statistics["pairs"])

    return run_job(*(folder, files, options), overwrite=overwrite, work=work, accept=accept)


def read_files(files: list[InputFile], wanted: Wanted, *, max_dead_letters: int) -> Read:
    """Reads the wanted pairs of whole files into memory.

    Raises:
      InputError: if files cannot be read, naming all of them, or are of another kind.
    """
    read = Read([], Counter(), [], [], {})
    unreadable = []
    for file in files:
        tap = Tap()
        try:
            _read_file(file, tap, read, wanted, max_dead_letters=max_dead_letters)
        except UnreadableFileError as error:
            unreadable.append(str(error))
        read.inputs[file.full_path] = file.describe(tap)
    if unreadable:
        raise InputError("; ".join(unreadable))
    return read


def _accept(read: Read, wanted: Wanted, statistics: dict[str, Any], limits: Limits) -> None:
    others = read.counts["other_ids"]
    if others and others == read.counts["lines"] - read.counts["malformed"]:
        raise InputError(
            f"--pair_ids: {' '.join(map(repr, wanted.pair_ids))} matches no id of the "
            f"{others:,} pairs; accepted: patterns of their pairID"
        )
    pairs = read.counts["pairs"]
    require_acceptable(statistics, limits, pairs=pairs, dead_letters=read.letters)
    if wanted.texts is not None and pairs and not read.counts["excluded"]:
        _LOG.warning("warning: %s", wanted.texts.no_match())


def _read_file(
    file: InputFile, tap: Tap, read: Read, wanted: Wanted, *, max_dead_letters: int
) -> None:
    with snli.open_file(file, tap) as (parse, lines):
        for line in lines:
            read.counts["lines"] += 1
            try:
                _add(line, parse, read, wanted)
            except MalformedLineError as error:
                number, content, size = line
                raw = content if size <= MAX_LINE_BYTES else content[:KEPT_OF_TOO_LONG]
                read.counts["malformed"] += 1
                malformed = MalformedLine(file.path, number, raw, str(error))
                if len(read.letters) < max_dead_letters:
                    read.letters.append(malformed.as_dead_letter())


def _require_once(files: Sequence[InputFile]) -> None:
    """Checks that no corpus is there in two formats, as SNLI's archive has it."""
    seen: dict[str, str] = {}
    for file in files:
        other = seen.setdefault(snli.corpus_of(file.path), file.path)
        if other != file.path:
            raise InputError(
                f"--input: {file.path!r} has the pairs of {other!r}; accepted: one of the two"
            )


def _add(
    line: snli.Line,
    parse: Callable[[bytes], snli.Fields],
    read: Read,
    wanted: Wanted,
) -> None:
    _, content, size = line
    if size > MAX_LINE_BYTES:
        raise MalformedLineError(f"{size} bytes; at most {MAX_LINE_BYTES} are read")
    label, premise, hypothesis, pair_id = parse(content)
    if not any(fnmatchcase(pair_id, pattern) for pattern in wanted.pair_ids):
        read.counts["other_ids"] += 1
        return
    if label == NO_LABEL:
        read.counts["no_label"] += 1
        return
    if label not in LABELS:
        accepted = ", ".join((*LABELS, NO_LABEL))
        raise MalformedLineError(f"gold_label {label[: snli.SHOWN]!r} is none of {accepted}")
    texts = wanted.texts
    if texts and (file := texts.find(premise) or texts.find(hypothesis)):
        read.counts["excluded"] += 1
        found = {"file": file, PREMISE: premise, HYPOTHESIS: hypothesis, PAIR_ID: pair_id}
        read.excluded.append(orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE))
        return
    features: dict[str, str | int] = {
        PREMISE: premise,
        HYPOTHESIS: hypothesis,
        LABEL: LABELS.index(label),
        PAIR_ID: pair_id,
    }
    read.rows.append((pair_id, frame(encode_example(features))))
    read.counts.update(("pairs", label))


def _write(
    output: OutputFolder, read: Read, *, shards: int, excluded: bool
) -> dict[str, dict[str, Any]]:
    """Writes all files aside; returns their entries in COMPLETED.

    As in `pairs.shards`, a pair's shard is a hash of its id, and a shard's records are ordered by
    their checksums, so that the files are the same however the input was divided.
    """
    by_shard: list[list[bytes]] = [[] for _ in range(shards)]
    for pair_id, row in read.rows:
        by_shard[zlib.crc32(pair_id.encode()) % shards].append(row)
    contents = {}
    for index, rows in enumerate(by_shard):
        rows.sort(key=frame_key)
        name = f"nli-{index:05d}-of-{shards:05d}.tfrecord"
        contents[name] = b"".join(rows), len(rows)
    contents[DEAD_LETTERS] = b"".join(read.letters), len(read.letters)
    if excluded:
        contents[EXCLUDED] = b"".join(read.excluded), len(read.excluded)
    outputs = {}
    for name, (content, records) in contents.items():
        file = write_file(FileSystems.join(output.incomplete, name), content)
        outputs[name] = {"bytes": file.size, "crc32c": file.crc32c, "records": records}
    return outputs


def as_statistics(counts: Counter, wanted: Wanted) -> dict[str, Any]:
    """The contents of `statistics.json`; some counts are there only if an option asks for them."""
    asked = {"other_ids": list(wanted.pair_ids) != ALL, "excluded": wanted.texts is not None}
    names = ("lines", "malformed", "other_ids", "no_label", "excluded", "pairs")
    return {
        **{name: counts[name] for name in names if asked.get(name, True)},
        "labels": {label: counts[label] for label in LABELS},
    }
