"""One client of S3 for each process.

Beam makes a client for each access to an object. That loads boto3's model of S3 again, 0.05 to
0.2 s of computing, which is most of the time of a job with many small files: 41 of 65 s in one with
2,000 comments. boto3's clients can be shared by threads, and renew a role's credentials themselves.
"""

import threading
from functools import cache
from types import SimpleNamespace
from typing import Any

from apache_beam.io.aws.clients.s3 import boto3_client

_LOCK = threading.Lock()


def share_client() -> None:
    """Makes Beam use one client for each combination of settings; nothing without boto3."""
    if isinstance(boto3_client.boto3, SimpleNamespace) or boto3_client.boto3 is None:
        return
    boto3 = boto3_client.boto3

    @cache
    def make(**settings: Any) -> Any:
        return boto3.session.Session().client(**settings)

    class Session:
        def client(self, **settings: Any) -> Any:
            with _LOCK:
                return make(**settings)

    boto3_client.boto3 = SimpleNamespace(session=SimpleNamespace(Session=Session))
