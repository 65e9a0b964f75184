"""One job at a time in a folder of an object store, which has no locks.

The claim is an object that its job renews every `RENEW_SECONDS`; one that was not renewed for
`EXPIRE_SECONDS` belonged to a dead job. If two jobs write it at the same moment, both read it again
after `SETTLE_SECONDS`, and the last writer holds it. docs/data.md, "Two jobs on one folder", lists
the remaining risks.
"""

import json
import os
import socket
import threading
import time
import uuid
from contextlib import suppress
from typing import Any, Self

from apache_beam.io.filesystems import FileSystems

from common.files import ClaimedError
from data_pipeline.storage.filesystem import read_bytes, write_object

RENEW_SECONDS = 20.0
EXPIRE_SECONDS = 120.0
SETTLE_SECONDS = 2.0
_SIZE = 1000
"""Bytes of every claim: a reader asks for the size first, and reads as much of a claim that was
renewed since."""


class ObjectClaim:
    """A claim that lasts as long as the context is open and it is renewed."""

    def __init__(self, path: str):
        self._path = path
        self._mine = {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "token": uuid.uuid4().hex,
        }
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> Self:
        """Takes the claim.

        Raises:
          ClaimedError: if another job holds it.
        """
        holder = self._read()
        if holder and time.time() - holder["renewed"] <= EXPIRE_SECONDS:
            raise self._taken(holder)
        self._write()
        time.sleep(SETTLE_SECONDS)
        self.require()
        self._thread.start()
        return self

    def require(self) -> None:
        """Raises ClaimedError if another job has taken the claim over."""
        holder = self._read()
        if holder.get("token") != self._mine["token"]:
            raise self._taken(holder)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        with suppress(ClaimedError):
            self.require()
            FileSystems.delete([self._path])

    def _read(self) -> dict[str, Any]:
        return json.loads(read_bytes(self._path)) if FileSystems.exists(self._path) else {}

    def _write(self) -> None:
        claim = json.dumps(self._mine | {"renewed": time.time()})
        write_object(self._path, claim.ljust(_SIZE).encode())

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            # A store that does not answer now may answer next time; a lost claim stays lost, and
            # `require` raises.
            with suppress(Exception):
                self.require()
                self._write()

    def _taken(self, holder: dict[str, Any]) -> ClaimedError:
        by = f"process {holder['process']} on {holder['host']}" if holder else "another process"
        return ClaimedError(
            f"{self._path}: in use by {by}; wait for it to end, if it was killed "
            f"{EXPIRE_SECONDS:g} s, or name another folder"
        )
