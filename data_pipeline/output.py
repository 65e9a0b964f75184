"""The output folder: written aside, published by renaming, COMPLETED last.

    OUTPUT/_months/       dumps that are read (`months`): they stay, and are not read again
    OUTPUT/_incomplete/   shards and counts while the job runs
    OUTPUT/               train-*, validation-*, test-*, dead_letters-*, statistics.json,
                          data_card.*, then COMPLETED

COMPLETED is the manifest: inputs, options and outputs with their checksums. A folder without it
is not finished, whatever else lies in it, and the same command completes it.
"""

import json
import uuid
from pathlib import PurePath
from typing import Any, BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from data_pipeline.errors import InputError
from data_pipeline.splits import SIDES

COMPLETED = "COMPLETED"
STATISTICS = "statistics.json"
DATA_CARD = "data_card"
DEAD_LETTERS = "dead_letters-00000-of-00001.jsonl"
EXCLUDED = "excluded-00000-of-00001.jsonl"
OUR_FILES = (
    *(f"{side}-*-of-*" for side in SIDES),
    *("data_card.*", EXCLUDED),
    "nli-*-of-*",
    *("words.tsv", "bigrams.tsv"),
    *(DEAD_LETTERS, STATISTICS),
)
"""What the commands publish, but for COMPLETED."""
PARTIAL = ".partial"
"""What the names of files end in that are not whole yet."""
_INCOMPLETE = "_incomplete"
_MONTHS = "_months"
_SIGNS_OF_PATTERNS = set("*?[")


class OutputFolder:
    """One job's output folder, on any of Beam's filesystems."""

    def __init__(self, path: str):
        require_folder_name("--output", path)
        self.path = path
        self.incomplete = FileSystems.join(path, _INCOMPLETE)
        self.months = FileSystems.join(path, _MONTHS)

    def done_job(self) -> dict[str, Any] | None:
        """What COMPLETED says, or None where no job is complete.

        Raises:
          InputError: if the marker is none of ours.
        """
        path = self._file(COMPLETED)
        if not FileSystems.exists(path):
            return None
        try:
            marker = json.loads(read_bytes(path))
            if not marker.keys() >= {"inputs", "options", "outputs"}:
                raise ValueError("inputs, options or outputs are missing")
        except (ValueError, AttributeError) as error:
            raise InputError(
                f"--output: {path!r} is not what this program writes ({error}); name another "
                "folder, or pass --overwrite to replace it"
            ) from error
        return marker

    def changed_files(self, marker: dict[str, Any]) -> list[str]:
        """The published files that are missing or no longer have the size they had."""
        (match,) = FileSystems.match([self._file("*")])
        sizes = {PurePath(file.path).name: file.size_in_bytes for file in match.metadata_list}
        outputs = marker["outputs"].items()
        return [name for name, output in outputs if sizes.get(name) != output["bytes"]]

    def start(self) -> None:
        """Makes room to write aside; what an earlier job has published stays until `publish`.

        Raises:
          InputError: if the folder cannot be written.
        """
        try:
            if FileSystems.exists(self.incomplete):
                FileSystems.delete([self.incomplete])
            FileSystems.mkdirs(self.incomplete)
            write_file(FileSystems.join(self.incomplete, "probe"), b"")
        except OSError as error:
            raise InputError(f"--output: {self.path!r} cannot be written: {error}") from error

    def publish(
        self, *, files: dict[str, str], documents: dict[str, bytes], marker: dict[str, Any]
    ) -> None:
        """Puts what was written aside in the place of an earlier job's, the marker last.

        Args:
          files: names of the files aside, and the names to give them.
          documents: contents by name.
          marker: what COMPLETED is to say; `done_job` reads it.
        """
        # The old marker goes first and the new one comes last, so that no half looks whole.
        self._delete(COMPLETED)
        self._delete(*OUR_FILES)
        self._delete(*(f"{name}.*{PARTIAL}" for name in (*OUR_FILES, COMPLETED)))
        FileSystems.rename(
            [FileSystems.join(self.incomplete, name) for name in files],
            [self._file(name) for name in files.values()],
        )
        for name, content in documents.items():
            write_file(self._file(name), content)
        self.discard()
        write_file(self._file(COMPLETED), as_json(marker))

    def discard(self) -> None:
        """Removes what was written aside."""
        FileSystems.delete([self.incomplete])

    def _file(self, name: str) -> str:
        return FileSystems.join(self.path, name)

    def _delete(self, *patterns: str) -> None:
        for pattern in patterns:
            (match,) = FileSystems.match([self._file(pattern)])
            if match.metadata_list:
                FileSystems.delete([file.path for file in match.metadata_list])


def require_folder_name(option: str, path: str) -> None:
    """Makes sure that a folder of this name can be written and listed.

    Raises:
      InputError: if it cannot.
    """
    if not path:
        raise InputError(f"{option}: '' names no folder")
    if set(path) & _SIGNS_OF_PATTERNS:
        # Beam takes every path that it lists or deletes for a pattern.
        raise InputError(f"{option}: {path!r} is a pattern; name a folder without *, ? and [")
    try:
        FileSystems.join(path, "")
    except ValueError as error:  # no filesystem for such paths
        raise InputError(f"{option}: {path!r}: {error}") from error


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
