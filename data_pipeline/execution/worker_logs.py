"""What worker processes of the local runner log, logged here.

Each worker sends its log records to this process, where Beam logs them as its own: the text form
of a protocol buffer on one line. Those of this package are logged again as they were; Beam's own
are dropped, for what fails comes with the failure of the job.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apache_beam.portability.api import beam_fn_api_pb2
from google.protobuf import text_format

_PACKAGE = Path(__file__).parents[1]
_BEAMS = "apache_beam.runners.portability.local_job_service"
"""The logger of what workers send."""
_FORMAT = "Worker: %s"
_LOG = logging.getLogger(__name__)


@contextmanager
def logs_of_workers() -> Iterator[None]:
    """Logs what workers log, while they run."""
    beams = logging.getLogger(_BEAMS)
    level = beams.level
    beams.setLevel(logging.INFO)
    beams.addFilter(_log_again)
    try:
        yield
    finally:
        beams.removeFilter(_log_again)
        beams.setLevel(level)


def _log_again(record: logging.LogRecord) -> bool:
    """A filter that lets nothing through, but logs records of this package itself."""
    if record.msg == _FORMAT:
        _, text = record.getMessage().split(" ", 1)
        entry = text_format.Parse(text, beam_fn_api_pb2.LogEntry(), allow_unknown_field=True)
        path, _, _ = entry.log_location.rpartition(":")
        if _PACKAGE in Path(path).parents:
            _LOG.log(record.levelno, "%s", entry.message)
    return False
