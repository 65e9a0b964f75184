"""The output folder: written aside, published by renaming, COMPLETED last.

    OUTPUT/_claim             while a job works there, who it is
    OUTPUT/_months/           dumps that are read (`months`): they stay, and are not read again
    OUTPUT/_incomplete/ID/    shards and counts of one job while it runs
    OUTPUT/_publishing.json   while files are replaced: the names of all of them
    OUTPUT/                   train-*, validation-*, test-*, dead_letters-*, statistics.json,
                              data_card.*, then COMPLETED

COMPLETED is the manifest: inputs, options and outputs with their checksums. A folder without it
is not finished, whatever else lies in it, and the same command completes it. Only files that
COMPLETED or _publishing.json lists are ever deleted or replaced.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from data_pipeline.errors import InputError
from data_pipeline.files.claim import (
    CLAIM,
    ClaimedError,
    Held,
    claim,
)
from data_pipeline.files.manifests import INPUT, Each, parse_manifest

COMPLETED = "COMPLETED"
STATISTICS = "statistics.json"
DATA_CARD = "data_card"
DEAD_LETTERS = "dead_letters-00000-of-00001.jsonl"
EXCLUDED = "excluded-00000-of-00001.jsonl"
_DOCUMENTS = (STATISTICS, f"{DATA_CARD}.json", f"{DATA_CARD}.html")
"""What a job publishes besides the outputs that its COMPLETED lists."""
PARTIAL = ".partial"
"""What the names of files end in that are not whole yet."""
_MARKER = {"inputs": Each(INPUT), "options": dict, "outputs": Each({"bytes": int})}
"""The shape of COMPLETED."""
_INCOMPLETE = "_incomplete"
_MONTHS = "_months"
_PUBLISHING = "_publishing.json"
_ID = re.compile(r"[0-9a-f]{32}")
_READ_BY_PATTERN = ("train-", "validation-", "test-", "nli-")
"""How the names of files begin that trainings and evaluations read by a pattern such as train-*."""
_PARTIAL_NAME = re.compile(rf"\.[0-9a-f]{{32}}{re.escape(PARTIAL)}$")
_SIGNS_OF_PATTERNS = set("*?[")


class OutputFolder:
    """One job's output folder, on any of Beam's filesystems."""

    def __init__(self, path: str):
        require_folder_name("--output", path)
        self.path = path
        # Of its own: the workers of a killed job may go on writing for a moment.
        self.incomplete = FileSystems.join(path, _INCOMPLETE, uuid.uuid4().hex)
        self.months = FileSystems.join(path, _MONTHS)
        self._held: Held | None = None

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keeps other jobs out of the folder, which is made if it is not there.

        Raises:
          ClaimedError: if another job works in it.
          InputError: if it cannot be written.
        """
        is_new = not FileSystems.exists(self.path)
        try:
            with ExitStack() as stack:
                try:
                    if is_new:
                        FileSystems.mkdirs(self.path)
                    what = f"--output: {self.path!r}"
                    self._held = stack.enter_context(claim_folder(self.path, what=what))
                except ClaimedError:
                    raise
                except OSError as error:
                    raise self._unwritable(error) from error
                yield
        finally:
            if is_new:
                remove_if_empty(self.path)

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(f"--output: {self.path!r} cannot be written: {error}")

    def done_job(self) -> dict[str, Any] | None:
        """What COMPLETED says, or None where no job is complete.

        Raises:
          InputError: if the marker is none of ours.
        """
        path = self._file(COMPLETED)
        if not FileSystems.exists(path):
            return None
        try:
            return parse_manifest(read_bytes(path), _MARKER)
        except ValueError as error:
            raise InputError(
                f"--output: {path!r} is not what this program writes ({error}); name another folder"
            ) from error

    def changed_files(self, marker: dict[str, Any]) -> list[str]:
        """The published files that are missing or no longer have the size they had."""
        sizes, outputs = self._sizes(), marker["outputs"].items()
        return [name for name, output in outputs if sizes.get(name) != output["bytes"]]

    def start(self) -> None:
        """Makes room to write aside; what an earlier job has published stays until `publish`.

        Raises:
          InputError: if the folder cannot be written, or files are in the way.
        """
        self._require_ours(_DOCUMENTS, self._listed())
        try:
            self._delete_aside()
            FileSystems.mkdirs(self.incomplete)
            write_file(FileSystems.join(self.incomplete, "probe"), b"")
        except OSError as error:
            raise self._unwritable(error) from error

    def publish(
        self, *, files: dict[str, str], documents: dict[str, bytes], marker: dict[str, Any]
    ) -> None:
        """Puts what was written aside in the place of an earlier job's, the marker last.

        Args:
          files: names of the files aside, and the names to give them.
          documents: contents by name.
          marker: what COMPLETED is to say; `done_job` reads it.

        Raises:
          ClaimedError: if another job has taken the folder over.
          InputError: if a file that no job of ours wrote has one of the names.
        """
        assert self._held is not None, "a folder is claimed before it is published"
        self._held.require()
        listed = self._listed()
        names = {*files.values(), *documents}
        self._require_ours(names, listed)
        write_file(self._file(_PUBLISHING), as_json(sorted(listed | names)))
        # The old marker goes first and the new one comes last, so that no half looks whole.
        self._delete([COMPLETED])
        self._delete(listed - {COMPLETED})
        FileSystems.rename(
            [FileSystems.join(self.incomplete, name) for name in files],
            [self._file(name) for name in files.values()],
        )
        for name, content in documents.items():
            write_file(self._file(name), content)
        self.discard()
        self.write_marker(marker)
        self._delete([_PUBLISHING])

    def write_marker(self, marker: dict[str, Any]) -> None:
        """Writes COMPLETED, whole or not at all."""
        write_file(self._file(COMPLETED), as_json(marker))

    def discard(self) -> None:
        """Removes what was written aside."""
        FileSystems.delete([self.incomplete])
        self._delete_aside()

    def _delete_aside(self) -> None:
        """Removes what this job and killed ones wrote aside."""
        folder = FileSystems.join(self.path, _INCOMPLETE)
        ours = [name for name in _names_in(folder) if _ID.fullmatch(name)]
        if ours:
            FileSystems.delete([FileSystems.join(folder, name) for name in ours])
        remove_if_empty(folder)

    def _listed(self) -> set[str]:
        """The names of the files of earlier jobs, as the manifests in the folder list them."""
        names: set[str] = set()
        with suppress(InputError):
            if (marker := self.done_job()) is not None:
                names |= {COMPLETED, *marker["outputs"], *_DOCUMENTS}
        # Without COMPLETED: somebody removed it, or a job was killed while it published.
        with suppress(ValueError, LookupError, TypeError):
            card = json.loads(self._content(f"{DATA_CARD}.json"))
            names |= {*(output["file"] for output in card["outputs"]), *_DOCUMENTS}
        with suppress(ValueError, TypeError):
            names |= {COMPLETED, *json.loads(self._content(_PUBLISHING))}
        # No manifest leads out of the folder.
        return {name for name in names if isinstance(name, str) and name == PurePath(name).name}

    def _content(self, name: str) -> bytes:
        """What is in a file, or nothing where there is none."""
        path = self._file(name)
        return read_bytes(path) if FileSystems.exists(path) else b""

    def _require_ours(self, names: Iterable[str], listed: set[str]) -> None:
        """Makes sure that files to be written replace none but those of earlier jobs.

        Nor may others lie there that a reader of the output would take for a part of it.
        """
        there = self._sizes()
        names = {*names, COMPLETED}
        others = sorted(
            name
            for name in there.keys() - listed
            if name in names or name.startswith(_READ_BY_PATTERN)
        )
        if others:
            raise InputError(
                f"--output: no manifest says that this program wrote {self._file(others[0])!r}; "
                "delete it or name another folder"
            )

    def _sizes(self) -> dict[str, int]:
        (match,) = FileSystems.match([self._file("*")])
        return {PurePath(file.path).name: file.size_in_bytes for file in match.metadata_list}

    def _file(self, name: str) -> str:
        return FileSystems.join(self.path, name)

    def _delete(self, names: Iterable[str]) -> None:
        """Deletes files of these names, and what a killed job left half written of them."""
        wanted = set(names)
        there = [name for name in self._sizes() if _PARTIAL_NAME.sub("", name) in wanted]
        if there:
            FileSystems.delete([self._file(name) for name in there])


def require_folder_name(option: str, path: str) -> None:
    """Makes sure that a folder of this name can be written and listed.

    Raises:
      InputError: if it cannot.
    """
    if not path:
        raise InputError(f"{option}: '' names no folder")
    require_unicode(option, path)
    if set(path) & _SIGNS_OF_PATTERNS:
        # Beam takes every path that it lists or deletes for a pattern.
        raise InputError(f"{option}: {path!r} is a pattern; name a folder without *, ? and [")
    try:
        FileSystems.join(path, "")
    except ValueError as error:  # no filesystem for such paths
        raise InputError(f"{option}: {path!r}: {error}") from error


def require_unicode(option: str, path: str) -> None:
    """Makes sure that a name can be written into manifests and sent to workers.

    Raises:
      InputError: if it has bytes that are not UTF-8.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{option}: {path!r} is not UTF-8; rename it, or make a link with another name"
        ) from None


def is_remote(path: str) -> bool:
    """Whether a path is on a store of objects (gs://, s3://, ...)."""
    return "://" in path


class _StoredObjects:
    """Claims on a store of objects, by Beam's filesystems."""

    def read(self, path: str) -> bytes | None:
        """The object, or None."""
        return read_bytes(path) if FileSystems.exists(path) else None

    def write(self, path: str, content: bytes) -> None:
        """Writes the object; stores replace it whole."""
        with FileSystems.create(path, mime_type="application/json") as stream:
            stream.write(content)

    def delete(self, path: str) -> None:
        """Deletes the object."""
        FileSystems.delete([path])


def claim_folder(path: str, *, what: str) -> AbstractContextManager[Held]:
    """Keeps other jobs out of a folder that exists.

    Raises:
      ClaimedError: if another job works in it.
    """
    objects = _StoredObjects() if is_remote(path) else None
    return claim(FileSystems.join(path, CLAIM), what=what, objects=objects)


def _names_in(folder: str) -> set[str]:
    """Names of the files and folders in a folder; none if it is not there."""
    if not is_remote(folder):
        return {path.name for path in Path(folder).iterdir()} if Path(folder).is_dir() else set()
    (match,) = FileSystems.match([FileSystems.join(folder, "**")])
    return {file.path[len(folder) :].strip("/").split("/")[0] for file in match.metadata_list}


def remove_if_empty(folder: str) -> None:
    """Removes a folder of a file system unless something is in it; stores have none."""
    if not is_remote(folder):
        with suppress(OSError):
            Path(folder).rmdir()


def open_stored(path: str) -> BinaryIO:
    """Opens a file to read its bytes as they are stored."""
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def read_bytes(path: str) -> bytes:
    """A whole file, as it is stored."""
    with open_stored(path) as stream:
        return stream.read()


def aside_of(path: str) -> str:
    """A name to write under until the file is whole; no two attempts at it share one."""
    return f"{path}.{uuid.uuid4().hex}{PARTIAL}"


def write_file(path: str, content: bytes) -> None:
    """Writes a file aside and renames it, so that it is there whole or not at all."""
    aside = aside_of(path)
    with FileSystems.create(aside, mime_type="application/octet-stream") as stream:
        stream.write(content)
    FileSystems.rename([aside], [path])


def as_json(value: Any) -> bytes:
    """As it stands in a file to be read by people too."""
    return (json.dumps(value, indent=2) + "\n").encode()
