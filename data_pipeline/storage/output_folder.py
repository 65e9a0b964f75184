"""The output folder: written aside, published by renaming, COMPLETED last.

    OUTPUT/_claim             while a job works there
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError, reading
from common.files import CLAIM, COMPLETED, PUBLISHING, ClaimedError, claim
from common.origin import synthetic_flag
from data_pipeline.storage import filesystem
from data_pipeline.storage.filesystem import as_json, is_remote
from data_pipeline.storage.inputs import InputFile

STATISTICS = "statistics.json"
DATA_CARD = "data_card"
DEAD_LETTERS = "dead_letters-00000-of-00001.jsonl"
EXCLUDED = "excluded-00000-of-00001.jsonl"
_DOCUMENTS = (STATISTICS, f"{DATA_CARD}.json", f"{DATA_CARD}.html")
"""What a job publishes besides the outputs that its COMPLETED lists; cards are those of pairs."""
_INCOMPLETE = "_incomplete"
_PARTIAL_NAME = re.compile(rf"\.[0-9a-f]{{32}}{re.escape(filesystem.PARTIAL)}$")


class ShardFile(NamedTuple):
    """A file that was written aside; `split` is empty for files of no split."""

    name: str
    split: str
    bytes: int
    crc32c: str
    records: int

    def describe(self) -> dict[str, Any]:
        """The entry in COMPLETED."""
        return {"bytes": self.bytes, "crc32c": self.crc32c, "records": self.records}


def write_aside(
    folder: str, name: str, content: bytes | pa.Buffer, *, records: int, split: str = ""
) -> ShardFile:
    """Writes a file to publish."""
    file = filesystem.write_file(FileSystems.join(folder, name), content)
    return ShardFile(name, split, file.size, file.crc32c, records)


class _Completed(msgspec.Struct):
    """What is read of COMPLETED."""

    inputs: dict[str, dict[str, Any]]
    options: dict[str, Any]
    outputs: dict[str, dict[str, Any]]


class OutputFolder:
    """The output folder of one job, on any of Beam's filesystems."""

    def __init__(self, path: str):
        """Writes nothing yet; raises an InputError if no folder can have this name."""
        absolute = filesystem.absolute_path(path)
        # Beam takes paths that it lists or deletes for patterns, and replaces nothing on HDFS.
        if not path or set(absolute) & set("*?[") or path.startswith("hdfs://"):
            raise InputError(
                f"--output: {path!r}; accepted: a local folder or one of an object store, without "
                "any of *?["
            )
        self.path = path
        # Of its own: the workers of a killed job may go on writing for a moment. Absolute: the
        # workers of an engine run in a folder of theirs.
        with reading(f"--output: {path!r}"):  # no filesystem for such paths
            self.incomplete = FileSystems.join(absolute, _INCOMPLETE, uuid.uuid4().hex)
        self._has_started = False

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keeps other jobs out of the folder, which is created if it does not exist.

        Object stores have no locks: there the last job to `start` takes a folder over, and one that
        has lost it publishes nothing. Raises a ClaimedError if another job works in it.
        """
        if not is_remote(self.path):
            with claim(Path(self.path)):
                yield
            return
        filesystem.require_reachable(self.path)
        try:
            yield
        except Exception:
            if self._has_started:
                self._require_claim()  # else what failed may be that the other job deleted files
            raise
        finally:
            if self._holds_claim():
                FileSystems.delete([self._file(CLAIM)])

    def _holds_claim(self) -> bool:
        return not is_remote(self.path) or self._content(CLAIM) == self.incomplete.encode()

    def _require_claim(self) -> None:
        if not self._holds_claim():
            raise ClaimedError(f"{self.path}: another job has taken the folder over")

    def is_done(self, inputs: Sequence[InputFile], options: dict[str, Any]) -> bool:
        """Whether this job is complete here; raises an InputError if another is or files differ."""
        marker = self._read_marker()
        if marker is None:
            return False
        way_out = "name another folder, or pass --overwrite to replace it"
        if differences := list(_differences(marker, inputs, options)):
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
        """Makes room to write aside, unless files are in the way; published ones stay."""
        self._require_ours(self._listed())
        if is_remote(self.path):
            filesystem.write_object(self._file(CLAIM), self.incomplete.encode())
        self._has_started = True
        filesystem.delete_folder(self._file(_INCOMPLETE))
        FileSystems.mkdirs(self.incomplete)

    def publish(
        self,
        files: Mapping[str, ShardFile],
        *,
        inputs: dict[str, dict[str, Any]],
        options: dict[str, Any],
        statistics: dict[str, Any],
        documents: Mapping[str, bytes] | None = None,
    ) -> None:
        """Replaces the published files by what was written aside; COMPLETED comes last.

        `files` are published name -> file in `incomplete`; `inputs` full path -> what was read
        (`InputFile.describe`); `documents` are published name -> contents. Raises a ClaimedError if
        another job has taken the folder over, and an InputError if there is a file of no job.
        """
        documents = {STATISTICS: as_json(statistics), **(documents or {})}
        marker = {
            "inputs": inputs,
            "options": options,
            "outputs": {name: file.describe() for name, file in files.items()},
            **synthetic_flag(inputs),
        }
        self._require_claim()
        listed = self._listed()
        self._require_ours(listed)
        self._write(PUBLISHING, as_json(sorted({*listed, *files, *documents})))
        # The old marker goes first and the new one comes last, so that no half looks complete.
        self._delete([COMPLETED])
        self._delete(listed - {COMPLETED})
        FileSystems.rename(
            [FileSystems.join(self.incomplete, file.name) for file in files.values()],
            list(map(self._file, files)),
        )
        self._require_claim()
        for name, content in documents.items():
            self._write(name, content)
        self.discard()
        self._require_claim()
        self._write(COMPLETED, as_json(marker))
        self._delete([PUBLISHING])

    def discard(self) -> None:
        """Removes what was written aside."""
        if self._holds_claim():
            filesystem.delete_folder(self._file(_INCOMPLETE))

    def _read_marker(self) -> _Completed | None:
        content = self._content(COMPLETED)
        with reading(f"--output: {self._file(COMPLETED)!r} is not what this program writes"):
            return msgspec.json.decode(content, type=_Completed) if content else None

    def _listed(self) -> set[str]:
        """The names of files of earlier jobs, from the manifests in the folder."""
        names: set[str] = set()
        with suppress(InputError):
            if (marker := self._read_marker()) is not None:
                names |= {COMPLETED, *marker.outputs, *_DOCUMENTS}
        # COMPLETED is missing if a job was killed while it published.
        with suppress(ValueError, TypeError):
            names |= {COMPLETED, *json.loads(self._content(PUBLISHING))}
        # A manifest must not name files outside the folder.
        return {name for name in names if name == PurePath(name).name}

    def _require_ours(self, listed: set[str]) -> None:
        """Checks that there are no files but those of earlier jobs."""
        for name in sorted(self._sizes().keys() - listed):
            if not name.startswith((".", "_")) and not name.endswith(filesystem.PARTIAL):
                raise InputError(
                    f"--output: no manifest says that this program wrote {self._file(name)!r}; "
                    "delete it or name another folder"
                )

    def _sizes(self) -> dict[str, int]:
        files = filesystem.files_like(self.path, "*")
        return {PurePath(file.path).name: file.size_in_bytes for file in files}

    def _file(self, name: str) -> str:
        return FileSystems.join(self.path, name)

    def _content(self, name: str) -> bytes:
        """The contents of a file; empty if it does not exist."""
        path = self._file(name)
        return filesystem.read_bytes(path) if FileSystems.exists(path) else b""

    def _write(self, name: str, content: bytes) -> None:
        filesystem.write_file(self._file(name), content)

    def _delete(self, names: Iterable[str]) -> None:
        """Deletes files of these names, and partial ones that a killed job left."""
        stems = set(names)
        there = [self._file(name) for name in self._sizes() if _PARTIAL_NAME.sub("", name) in stems]
        if there:
            FileSystems.delete(there)


def _differences(
    completed: _Completed, inputs: Sequence[InputFile], options: dict[str, Any]
) -> Iterator[str]:
    """How the job of a COMPLETED differs from one with these inputs and options."""
    before, now = completed.inputs, {file.full_path: file for file in inputs}
    changed = sorted(
        path
        for path in before | now
        if path not in before or path not in now or not now[path].is_unchanged(before[path])
    )
    if changed:
        yield f"other inputs, {len(changed)} in all: {', '.join(changed[:3])}"
    elif list(before) != list(now):  # of messages with one id the first is kept
        yield "its inputs were in another order"
    earlier = completed.options
    for name in sorted(earlier | options):
        if earlier.get(name) != options.get(name):
            yield f"its {name} was {earlier.get(name)!r}, now {options.get(name)!r}"
