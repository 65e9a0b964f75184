"""The output folder: written aside, published by renaming, COMPLETED last.

    OUTPUT/_incomplete/   shards and counts while the job runs
    OUTPUT/               train-*, test-*, dead_letters-*, statistics.json, then COMPLETED

COMPLETED holds what the job was asked for (inputs and options). A folder without it is not
finished, whatever else lies in it, and the same command makes it anew.
"""

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from apache_beam.io.filesystems import FileSystems

from data_pipeline.errors import InputError
from data_pipeline.records import TEST_PATTERN, TRAIN_PATTERN

COMPLETED = "COMPLETED"
STATISTICS = "statistics.json"
OUR_FILES = (TRAIN_PATTERN, TEST_PATTERN, "dead_letters-*-of-*.jsonl", STATISTICS)
_INCOMPLETE = "_incomplete"


class OutputFolder:
    """One job's output folder, on any of Beam's filesystems."""

    def __init__(self, path: str):
        if not path:
            raise InputError("--output: '' names no folder")
        self.path = path
        try:
            self.incomplete = FileSystems.join(path, _INCOMPLETE)
        except ValueError as error:  # no filesystem for such paths
            raise InputError(f"--output: {path!r}: {error}") from error

    def is_complete(self, job: dict[str, Any]) -> bool:
        """Whether this very job is done already.

        Raises:
          InputError: if another job is done here, naming what differs.
        """
        marker = self._file(COMPLETED)
        if not FileSystems.exists(marker):
            return False
        try:
            done = dict(json.loads(read_text(marker)))
        except (ValueError, TypeError) as error:
            raise InputError(
                f"--output: {marker!r} is not what this program writes ({error}); name another "
                "folder, or pass --overwrite to replace it"
            ) from error
        if done == job:
            return True
        raise InputError(
            f"--output: {self.path!r} holds the complete output of another job "
            f"({'; '.join(_differences(done, job))}); name another folder, or pass --overwrite "
            "to replace it"
        )

    def start(self) -> None:
        """Makes room to write aside; what an earlier job has published stays until `publish`.

        Raises:
          InputError: if the folder cannot be written.
        """
        try:
            if not FileSystems.exists(self.incomplete):
                FileSystems.mkdirs(self.incomplete)
            self._delete(FileSystems.join(_INCOMPLETE, "*"))
            probe = FileSystems.join(self.incomplete, "probe")
            write_file(probe, b"")
            FileSystems.delete([probe])
        except OSError as error:
            raise InputError(f"--output: {self.path!r} cannot be written: {error}") from error

    def publish(self, *, statistics: dict[str, Any], job: dict[str, Any]) -> None:
        """Puts the shards in the place of an earlier job's, then the statistics and the marker."""
        # The old marker goes first and the new one comes last, so that no half looks whole.
        self._delete(COMPLETED)
        self._delete(*OUR_FILES)
        (shards,) = FileSystems.match([FileSystems.join(self.incomplete, "*-of-*")])
        sources = [shard.path for shard in shards.metadata_list]
        FileSystems.rename(sources, [self._file(PurePath(source).name) for source in sources])
        write_file(self._file(STATISTICS), _as_json(statistics))
        write_file(self._file(COMPLETED), _as_json(job))
        self.discard()

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


def _differences(done: dict[str, Any], job: dict[str, Any]) -> Iterator[str]:
    for key in sorted(done | job):
        before: Any = done.get(key)
        now: Any = job.get(key)
        if before == now:
            continue
        if key == "inputs":
            paths = sorted({path for path in before | now if before.get(path) != now.get(path)})
            shown = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
            yield f"its inputs differ in {len(paths)} files: {shown}"
        else:
            yield f"its {key} was {before!r}, now {now!r}"


def read_text(path: str) -> str:
    """The text of a small file."""
    with FileSystems.open(path) as stream:
        return stream.read().decode()


def write_file(path: str, content: bytes) -> None:
    """Writes a file aside and renames it, so that it is there whole or not at all."""
    aside = f"{path}.partial"
    with FileSystems.create(aside, mime_type="application/octet-stream") as stream:
        stream.write(content)
    FileSystems.rename([aside], [path])


def _as_json(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()
