"""The output folder: written aside, published by renaming, COMPLETED last.

    OUTPUT/_claim             while a job works there: who it is
    OUTPUT/_incomplete/ID/    what one job writes while it runs
    OUTPUT/_publishing.json   while files are replaced: the names of all of them
    OUTPUT/                   train-*, validation-*, test-*, dead_letters-*, statistics.json,
                              data_card.*, then COMPLETED

COMPLETED is the manifest: inputs, options and outputs with their checksums. A folder without it
is not finished, and the same command completes it. Only files that COMPLETED or _publishing.json
list are ever deleted or replaced.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any

import msgspec
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError, reading
from common.files import CLAIM, claim
from data_pipeline.storage.filesystem import (
    PARTIAL,
    absolute_path,
    as_json,
    delete_folders,
    files_like,
    is_remote,
    names_in,
    read_bytes,
    remove_if_empty,
    require_reachable,
    write_file,
)
from data_pipeline.storage.inputs import InputFile, require_folder_name
from data_pipeline.storage.object_claim import ObjectClaim

COMPLETED = "COMPLETED"
STATISTICS = "statistics.json"
DATA_CARD = "data_card"
DEAD_LETTERS = "dead_letters-00000-of-00001.jsonl"
EXCLUDED = "excluded-00000-of-00001.jsonl"
_DOCUMENTS = (STATISTICS, f"{DATA_CARD}.json", f"{DATA_CARD}.html")
"""What a job publishes besides the outputs that its COMPLETED lists; cards are those of pairs."""
_INCOMPLETE = "_incomplete"
_PUBLISHING = "_publishing.json"
_ID = re.compile(r"[0-9a-f]{32}")
_PAIRS = ("train-", "validation-", "test-")
_READ_BY_PATTERN = (*_PAIRS, "nli-")
"""Training and evaluation read files by patterns such as train-*."""
_PARTIAL_NAME = re.compile(rf"\.[0-9a-f]{{32}}{re.escape(PARTIAL)}$")


class OutputFolder:
    """The output folder of one job, on any of Beam's filesystems."""

    def __init__(self, path: str):
        """Creates the object; nothing is written yet.

        Raises:
          InputError: if no folder can have this name.
        """
        require_folder_name("--output", path)
        self.path = path
        # Of its own: the workers of a killed job may go on writing for a moment. Absolute: the
        # workers of an engine run in a folder of theirs.
        self.incomplete = FileSystems.join(absolute_path(path), _INCOMPLETE, uuid.uuid4().hex)
        self._claim: ObjectClaim | None = None

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keeps other jobs out of the folder, which is created if it does not exist.

        Raises:
          ClaimedError: if another job works in it.
          OSError: if it cannot be written.
        """
        if not is_remote(self.path):
            with claim(Path(self.path)):
                yield
            return
        require_reachable(self.path)
        with ObjectClaim(self._file(CLAIM)) as self._claim:
            yield

    def is_done(
        self, inputs: Sequence[InputFile], options: dict[str, Any], *, in_order: bool = True
    ) -> bool:
        """Whether this same job has completed here; `in_order` tells if the inputs' order counts.

        Raises:
          InputError: if another job has, or its files have changed; says what differs.
        """
        marker = self._read_marker()
        if marker is None:
            return False
        differences = list(_differences(marker, inputs, options, in_order=in_order))
        way_out = "name another folder, or pass --overwrite to replace it"
        if differences:
            raise InputError(
                f"--output: {self.path!r} holds the complete output of another job "
                f"({'; '.join(differences)}); {way_out}"
            )
        sizes, outputs = self._sizes(), marker.outputs.items()
        changed = [name for name, output in outputs if sizes.get(name) != output["bytes"]]
        if changed:
            raise InputError(
                f"--output: {self.path!r} is not as the job left it: {changed[0]!r} "
                f"({len(changed)} files in all) is missing or has another size; {way_out}"
            )
        return True

    def statistics(self) -> dict[str, Any]:
        """The published statistics.json."""
        with reading(self._file(STATISTICS)):
            return json.loads(self._content(STATISTICS))

    def start(self) -> None:
        """Makes room to write aside; published files stay until `publish`.

        Raises:
          InputError: if files are in the way.
        """
        self._require_ours(_DOCUMENTS, self._listed())
        self._delete_aside()
        FileSystems.mkdirs(self.incomplete)

    def publish(
        self, *, files: dict[str, str], documents: dict[str, bytes], marker: dict[str, Any]
    ) -> None:
        """Replaces the published files by what was written aside; the marker comes last.

        Args:
          files: name in `incomplete` -> published name.
          documents: published name -> contents.
          marker: the contents of COMPLETED: "inputs", "options" and "outputs".

        Raises:
          ClaimedError: if another job has taken the folder over.
          InputError: if a file that no job wrote has one of the names.
        """
        if self._claim is not None:
            self._claim.require()
        listed = self._listed()
        names = {*files.values(), *documents}
        self._require_ours(names, listed)
        write_file(self._file(_PUBLISHING), as_json(sorted(listed | names)))
        # The old marker goes first and the new one comes last, so that no half looks complete.
        self._delete([COMPLETED])
        self._delete(listed - {COMPLETED})
        FileSystems.rename(
            [FileSystems.join(self.incomplete, name) for name in files],
            [self._file(name) for name in files.values()],
        )
        for name, content in documents.items():
            write_file(self._file(name), content)
        self.discard()
        self._write_marker(marker)
        self._delete([_PUBLISHING])

    def discard(self) -> None:
        """Removes what was written aside."""
        delete_folders([self.incomplete])
        self._delete_aside()

    def _delete_aside(self) -> None:
        """Removes what this job and killed ones wrote aside."""
        folder = self._file(_INCOMPLETE)
        names = filter(_ID.fullmatch, names_in(folder))
        delete_folders([FileSystems.join(folder, name) for name in names])
        remove_if_empty(folder)

    def _read_marker(self) -> "_Completed | None":
        content = self._content(COMPLETED)
        try:
            return msgspec.json.decode(content, type=_Completed) if content else None
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"--output: {self._file(COMPLETED)!r} is not what this program writes ({error}); "
                "name another folder"
            ) from error

    def _write_marker(self, marker: dict[str, Any]) -> None:
        write_file(self._file(COMPLETED), as_json(marker))

    def _listed(self) -> set[str]:
        """The names of files of earlier jobs, from the manifests in the folder."""
        names: set[str] = set()
        with suppress(InputError):
            if (marker := self._read_marker()) is not None:
                names |= {COMPLETED, *marker.outputs, *_DOCUMENTS}
        # COMPLETED is missing if a job was killed while it published.
        with suppress(ValueError, TypeError):
            names |= {COMPLETED, *json.loads(self._content(_PUBLISHING))}
        # A manifest must not name files outside the folder.
        return {name for name in names if name == PurePath(name).name}

    def _content(self, name: str) -> bytes:
        """The contents of a file; empty if it does not exist."""
        path = self._file(name)
        return read_bytes(path) if FileSystems.exists(path) else b""

    def _require_ours(self, names: Iterable[str], listed: set[str]) -> None:
        """Checks that files to be written replace only those of earlier jobs.

        Nor may there be others that a reader of the output would take for a part of it.
        """
        names = {*names, COMPLETED}
        others = sorted(
            name
            for name in self._sizes().keys() - listed
            if name in names or name.startswith(_READ_BY_PATTERN)
        )
        if others:
            raise InputError(
                f"--output: no manifest says that this program wrote {self._file(others[0])!r}; "
                "delete it or name another folder"
            )

    def _sizes(self) -> dict[str, int]:
        files = files_like(self.path, "*")
        return {PurePath(file.path).name: file.size_in_bytes for file in files}

    def _file(self, name: str) -> str:
        return FileSystems.join(self.path, name)

    def _delete(self, names: Iterable[str]) -> None:
        """Deletes files of these names, and partial ones that a killed job left."""
        stems = set(names)
        there = [self._file(name) for name in self._sizes() if _PARTIAL_NAME.sub("", name) in stems]
        if there:
            FileSystems.delete(there)


class _Completed(msgspec.Struct):
    """What is read of COMPLETED."""

    inputs: dict[str, dict[str, Any]]
    options: dict[str, Any]
    outputs: dict[str, dict[str, Any]]


def _differences(
    completed: _Completed, inputs: Sequence[InputFile], options: dict[str, Any], *, in_order: bool
) -> Iterator[str]:
    """How the job of a COMPLETED differs from one with these inputs and options.

    The order of the inputs counts unless `in_order` is false: of messages with one id the first is
    kept.
    """
    before, now = completed.inputs, {file.full_path: file for file in inputs}
    changed = sorted(
        path
        for path in before | now
        if path not in before or path not in now or not now[path].is_unchanged(before[path])
    )
    if changed:
        yield f"other inputs, {len(changed)} in all: {', '.join(changed[:3])}"
    elif in_order and list(before) != list(now):
        yield "its inputs were in another order"
    earlier = completed.options
    for name in sorted(earlier | options):
        if _setting(earlier, name) != _setting(options, name):
            yield f"its {name} was {earlier.get(name)!r}, now {options.get(name)!r}"


def _setting(options: dict[str, Any], name: str) -> Any:
    """An option that is off is as one that another version does not have."""
    value = options.get(name)
    return None if value is False or value == [] else value
