"""What every job does around its work: take arguments, find inputs, see if it is done, run."""

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import apache_beam as beam

from data_pipeline.cache.input_cache import is_as_before
from data_pipeline.errors import InputError
from data_pipeline.execution.blocks import DamagedFileError
from data_pipeline.execution.engine import cause_of
from data_pipeline.files.inputs import (
    Dump,
    Tap,
    find_dumps,
    full_path,
    match_files,
)
from data_pipeline.files.output_folder import OutputFolder, is_remote

_DAMAGED = re.compile(
    rf"\b{DamagedFileError.__name__}: (.+?)(?: \[while running .*)?$", re.MULTILINE
)
"""How a runner's account of a failure names the file."""


def add_common_arguments(parser: argparse.ArgumentParser, *, inputs: str) -> None:
    """Declares what every job is asked: what to read, where to write, whether to replace.

    Args:
      parser: of the command.
      inputs: what it reads, as its help says it.
    """
    parser.add_argument(
        "--input",
        required=True,
        nargs="+",  # for a pattern that the shell has already expanded
        metavar="GLOB[,GLOB...]",
        help=inputs,
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the output of another job"
    )


def find_inputs(given: list[str]) -> list[Dump]:
    """The files that the values of `--input` name, each a pattern or several with commas.

    Raises:
      InputError: if there is none, or a pattern is not as it must be.
    """
    dumps = find_dumps([pattern for value in given for pattern in _patterns(value)])
    if not dumps:
        raise InputError("--input: names no file; accepted are file names and patterns")
    return dumps


def _patterns(value: str) -> list[str]:
    """A value of `--input` as a whole if it names files, else its parts between commas."""
    if "," in value:
        with suppress(ValueError):  # parts on different filesystems
            if match_files(value):
                return [value]
    return list(filter(None, map(str.strip, value.split(","))))


def require_apart(folders: dict[str, str], dumps: list[Dump]) -> None:
    """Makes sure that no input lies in a folder that the job writes, at any depth.

    Args:
      folders: by option, the folders that are written.
      dumps: what is read.

    Raises:
      InputError: if an input does.
    """
    for option, folder in folders.items():
        whole = Dump(folder, 0)
        for dump in dumps:
            # A link in the folder that leads out of it lies in the folder too.
            if _lies_in(full_path(dump), full_path(whole)) or _lies_in(
                _as_named(dump), _as_named(whole)
            ):
                raise InputError(
                    f"{option}: {folder!r} holds the input {dump.path!r}; name a folder without "
                    "inputs"
                )


def _as_named(dump: Dump) -> str:
    """The full path by which a file is named; links in it are not followed."""
    return dump.path if is_remote(dump.path) else os.path.abspath(dump.path)  # noqa: PTH100


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def describe_input(dump: Dump, tap: Tap) -> dict[str, Any]:
    """What COMPLETED says of an input that was read to its end."""
    return {
        "path": full_path(dump),
        "bytes": dump.size,
        "modified": dump.modified,
        "crc32c": tap.crc32c,
    }


def is_done(output: OutputFolder, dumps: list[Dump], options: dict[str, Any]) -> bool:
    """Whether this very job is done already.

    Raises:
      InputError: if another job is, or what this one wrote has changed; says what differs.
    """
    marker = output.done_job()
    if marker is None:
        return False
    differences = [
        *_changed_inputs(marker["inputs"], dumps),
        *_changed_options(marker["options"], options),
    ]
    way_out = "name another folder, or pass --overwrite to replace it"
    if differences:
        raise InputError(
            f"--output: {output.path!r} holds the complete output of another job "
            f"({'; '.join(differences)}); {way_out}"
        )
    changed = output.changed_files(marker)
    if changed:
        raise InputError(
            f"--output: {output.path!r} is not as the job left it: {changed[0]!r} "
            f"({len(changed)} files in all) is missing or has another size; {way_out}"
        )
    _remember_times(output, marker, dumps)
    return True


def _remember_times(output: OutputFolder, marker: dict[str, Any], dumps: list[Dump]) -> None:
    """Writes new times of unchanged inputs into COMPLETED, so that they are hashed only once."""
    described = [(marker["inputs"][full_path(dump)], dump) for dump in dumps]
    if any(before["modified"] != dump.modified for before, dump in described):
        for before, dump in described:
            before["modified"] = dump.modified
        with suppress(OSError):  # a folder that is only read
            output.write_marker(marker)


def _changed_inputs(before: dict[str, Any], dumps: list[Dump]) -> Iterator[str]:
    now = {full_path(dump): dump for dump in dumps}
    changed = sorted(
        path
        for path in before | now
        if path not in before or path not in now or not is_as_before(before[path], now[path])
    )
    if changed:
        shown = ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
        differ = "input differs" if len(changed) == 1 else "inputs differ"
        yield f"{len(changed)} {differ}: {shown}"


def _changed_options(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for name in sorted(before | now):
        if before.get(name) != now.get(name):
            yield f"its {name} was {before.get(name)!r}, now {now.get(name)!r}"


def run_to_the_end(pipeline: beam.Pipeline, *, local: bool) -> None:
    """Runs a pipeline; tells in one line what the machine refused or an engine failed for.

    Raises:
      InputError: if the machine refused something, or the job failed on an engine.
      DamagedFileError: if a file that was written before has changed.
    """
    try:
        pipeline.run().wait_until_finish()
    except Exception as error:
        # Beam raises the error itself, or one of its own with the traceback for a message.
        damaged = _DAMAGED.search(f"{type(error).__name__}: {error}")
        if damaged:
            raise DamagedFileError(damaged[1]) from error
        refused = re.search(r"\w*Error: \[Errno \d+\].*", str(error))
        if refused:
            raise InputError(f"the job stopped: {refused.group()}") from error
        if not local:
            raise InputError(f"the job stopped: {cause_of(str(error))}") from error
        raise
