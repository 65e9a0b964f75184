"""SNLI's files -> TFRecords of premise, hypothesis and label.

    python -m data_pipeline snli --input snli_1.0_train.jsonl.gz --output nli/train/

A pair on whose label the annotators did not agree has the label `-` and is left out.
No Beam graph: the half million pairs of SNLI take seconds.
"""

import argparse
import zlib
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import google_crc32c
import orjson
from apache_beam.io.filesystems import FileSystems
from tabulate import tabulate

from data_pipeline.card.statistics import as_table
from data_pipeline.errors import InputError
from data_pipeline.execution.acceptance import (
    InputLines,
    Limits,
    add_limits,
    describe_limits,
    limits_of,
    require_pairs,
    warn_of_left_out,
)
from data_pipeline.execution.job import (
    add_common_arguments,
    describe_input,
    find_inputs,
    is_done,
    require_apart,
)
from data_pipeline.files.diagnosis import MalformedLine
from data_pipeline.files.inputs import (
    MAX_LINE_BYTES,
    Dump,
    Tap,
    UnreadableDumpError,
    full_path,
)
from data_pipeline.files.output_folder import (
    DEAD_LETTERS,
    EXCLUDED,
    STATISTICS,
    OutputFolder,
    as_json,
    write_file,
)
from data_pipeline.pairs.decontamination import Excluded
from data_pipeline.pairs.tfrecord import (
    HYPOTHESIS,
    LABEL,
    LABELS,
    PAIR_ID,
    PREMISE,
    checksum_of_frame,
    encode_example,
    frame,
)
from data_pipeline.reddit.comment import KEPT_OF_TOO_LONG, MalformedLineError, dead_letter
from data_pipeline.snli import lines as snli

NO_LABEL = "-"
ALL = ["*"]
"""Of `--pair_ids`."""


class Read(NamedTuple):
    """What was read, all files together."""

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
    """By full path, what COMPLETED says of a file."""
    first_malformed: list[MalformedLine]
    """The first malformed line, if there is one."""


class LeftOut(NamedTuple):
    """What is left out on request."""

    pair_ids: list[str]
    """Shells' patterns: pairs whose id is like none of them."""
    texts: Excluded | None
    """Pairs with a sentence of these."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options."""
    add_common_arguments(
        parser, inputs="SNLI's .jsonl or .txt files, plain, .gz, .bz2, .xz or .zst"
    )
    parser.add_argument(
        "--shards", type=int, default=1, metavar="N", help="files to write; default: %(default)s"
    )
    parser.add_argument(
        "--pair_ids",
        nargs="+",
        default=ALL,
        metavar="PATTERN",
        help="take only pairs with such a pairID, where a file is of several sources: 'cad-*'",
    )
    parser.add_argument(
        "--exclude_texts",
        nargs="+",
        default=[],
        metavar="FILE",
        help="leave out pairs of which a sentence stands in these evaluation sets: .txt, .csv, "
        ".tsv, .jsonl or .xml, plain or .gz",
    )
    add_limits(parser)


def run(arguments: argparse.Namespace) -> None:
    """Runs the command.

    Raises:
      InputError: if the input, the output or an option is not as it must be.
    """
    if arguments.shards < 1:
        raise InputError(f"--shards: {arguments.shards} is not 1 or more")
    limits = limits_of(arguments)
    options = {"command": "snli", "shards": arguments.shards, **describe_limits(limits)}
    if arguments.pair_ids != ALL:
        options["pair_ids"] = arguments.pair_ids
    excluded = Excluded(arguments.exclude_texts) if arguments.exclude_texts else None
    if excluded is not None:
        options["exclude_texts"] = [*excluded.paths, excluded.digest()]
    dumps = find_inputs(arguments.input)
    output = OutputFolder(arguments.output)
    require_apart({"--output": output.path}, dumps)
    with output.claimed():
        if not arguments.overwrite and is_done(output, dumps, options):
            print(f"{arguments.output} is complete already; nothing to do")
            return
        left_out = LeftOut(arguments.pair_ids, excluded)
        read = read_files(dumps, left_out, max_dead_letters=limits.max_dead_letters)
        statistics = as_statistics(read.counts, left_out)
        _accept(read, left_out, statistics, limits)
        output.start()
        outputs = _write(output, read, shards=arguments.shards, excluded=excluded is not None)
        output.publish(
            files={name: name for name in outputs},
            documents={STATISTICS: as_json(statistics)},
            marker={"inputs": read.inputs, "options": options, "outputs": outputs},
        )
    print(tabulate(as_table(statistics), disable_numparse=True, colalign=("left", "right")))
    print(f"written to {output.path}")


def read_files(dumps: list[Dump], left_out: LeftOut, *, max_dead_letters: int) -> Read:
    """Reads whole files into memory, but for what is left out.

    Args:
      dumps: the files.
      left_out: what is left out on request.
      max_dead_letters: how many malformed lines are kept; all are counted.

    Raises:
      InputError: if files cannot be read, naming all of them, or one is not of SNLI's form.
    """
    read = Read([], Counter(), [], [], {}, [])
    unreadable = []
    for dump in dumps:
        tap = Tap()
        try:
            _read_file(dump, tap, read, left_out, max_dead_letters=max_dead_letters)
        except UnreadableDumpError as error:
            unreadable.append(str(error))
        read.inputs[full_path(dump)] = describe_input(dump, tap)
    if unreadable:
        raise InputError("; ".join(unreadable))
    return read


def _accept(read: Read, left_out: LeftOut, statistics: dict[str, Any], limits: Limits) -> None:
    _require_pairs_of_ids(read, left_out)
    lines = InputLines(
        read.counts["lines"],
        read.counts["malformed"],
        lambda: next(iter(read.first_malformed), None),
    )
    pairs = read.counts["pairs"]
    require_pairs(statistics, [lines], limits, pairs=pairs, wanted=snli.FIELDS)
    warn_of_left_out(malformed=lines.malformed, dead_letters=len(read.letters))


def _letter(malformed: MalformedLine) -> bytes:
    path, number, line, reason = malformed
    return dead_letter(path=path, line_number=number, reason=reason, line=line)


def _require_pairs_of_ids(read: Read, left_out: LeftOut) -> None:
    others = read.counts["other_ids"]
    if others and others == read.counts["lines"] - read.counts["malformed"]:
        raise InputError(
            f"--pair_ids: {' '.join(map(repr, left_out.pair_ids))} fits the id of none of "
            f"{others:,} pairs; accepted are patterns of their pairID"
        )


def _read_file(
    dump: Dump, tap: Tap, read: Read, left_out: LeftOut, *, max_dead_letters: int
) -> None:
    with snli.open_file(dump, tap) as (parse, lines):
        for line in lines:
            read.counts["lines"] += 1
            try:
                _take(line, parse, read, left_out)
            except MalformedLineError as error:
                number, content, size = line
                raw = content if size <= MAX_LINE_BYTES else content[:KEPT_OF_TOO_LONG]
                read.counts["malformed"] += 1
                malformed = MalformedLine(dump.path, number, raw, str(error))
                if not read.first_malformed:
                    read.first_malformed.append(malformed)
                if len(read.letters) < max_dead_letters:
                    read.letters.append(_letter(malformed))


def _take(
    line: snli.Line,
    parse: Callable[[bytes], snli.Fields],
    read: Read,
    left_out: LeftOut,
) -> None:
    _, content, size = line
    if size > MAX_LINE_BYTES:
        raise MalformedLineError(f"{size} bytes; at most {MAX_LINE_BYTES} are read")
    label, premise, hypothesis, pair_id = parse(content)
    if not any(fnmatchcase(pair_id, pattern) for pattern in left_out.pair_ids):
        read.counts["other_ids"] += 1
        return
    if label == NO_LABEL:
        read.counts["no_label"] += 1
        return
    index = _index(label)
    texts = left_out.texts
    if texts and (file := texts.find(premise) or texts.find(hypothesis)):
        read.counts["excluded"] += 1
        found = {"file": file, PREMISE: premise, HYPOTHESIS: hypothesis, PAIR_ID: pair_id}
        read.excluded.append(orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE))
        return
    features: dict[str, str | int] = {
        PREMISE: premise,
        HYPOTHESIS: hypothesis,
        LABEL: index,
        PAIR_ID: pair_id,
    }
    read.rows.append((pair_id, frame(encode_example(features))))
    read.counts.update(("pairs", label))


def _index(label: str) -> int:
    if label not in LABELS:
        accepted = ", ".join((*LABELS, NO_LABEL))
        raise MalformedLineError(f"gold_label {label[: snli.SHOWN]!r} is none of {accepted}")
    return LABELS.index(label)


def _write(
    output: OutputFolder, read: Read, *, shards: int, excluded: bool
) -> dict[str, dict[str, Any]]:
    """Writes all files aside; returns what COMPLETED says of them.

    As `shards` does it, a pair's shard is a hash of its id and a shard's records stand in the
    order of their checksums, so that files hold the same however the input was cut.
    """
    by_shard: list[list[bytes]] = [[] for _ in range(shards)]
    for pair_id, row in read.rows:
        by_shard[zlib.crc32(pair_id.encode()) % shards].append(row)
    contents = {}
    for index, rows in enumerate(by_shard):
        rows.sort(key=lambda row: (checksum_of_frame(row), row))
        name = f"nli-{index:05d}-of-{shards:05d}.tfrecord"
        contents[name] = b"".join(rows), len(rows)
    contents[DEAD_LETTERS] = b"".join(read.letters), len(read.letters)
    if excluded:
        contents[EXCLUDED] = b"".join(read.excluded), len(read.excluded)
    outputs = {}
    for name, (content, records) in contents.items():
        write_file(FileSystems.join(output.incomplete, name), content)
        checksum = f"{google_crc32c.value(content):08x}"
        outputs[name] = {"bytes": len(content), "crc32c": checksum, "records": records}
    return outputs


def as_statistics(counts: Counter, left_out: LeftOut) -> dict[str, Any]:
    """The contents of `statistics.json`; what is left out on request is there where it was."""
    asked = {"other_ids": left_out.pair_ids != ALL, "excluded": left_out.texts is not None}
    names = ("lines", "malformed", "other_ids", "no_label", "excluded", "pairs")
    return {
        **{name: counts[name] for name in names if asked.get(name, True)},
        "labels": {label: counts[label] for label in LABELS},
    }
