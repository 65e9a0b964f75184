"""An S3-compatible server on this machine (moto's), which can hold back a request.

    with ObjectStore() as store:
        store.environment    # what the commands need to reach it

Its objects are in memory. It listens on localhost only, in threads of this process.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import boto3
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUCKET = "conversations"
KEY, SECRET = "AKIAEXAMPLEKEYOFTESTS", "example/secret/of/tests/0123456789abcdef"
"""Credentials that must not appear in any log."""
_REGION = "us-east-1"


class ObjectStore:
    """Starts the server with one bucket on entry, ends it on exit."""

    def __init__(self) -> None:
        self._application = DomainDispatcherApplication(create_backend_app)
        self._held: tuple[Callable[[str], bool], threading.Event] | None = None
        self._go_on = threading.Event()

    def __enter__(self) -> "ObjectStore":
        self._server = make_server("localhost", 0, self._answer, threaded=True)
        endpoint = f"http://localhost:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name=_REGION,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
        )
        self.client.create_bucket(Bucket=BUCKET)
        self.environment = {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": _REGION,
        }
        return self

    def __exit__(self, *_: object) -> None:
        self._go_on.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def hold(self, which: Callable[[str], bool]) -> threading.Event:
        """Holds back some requests; returns what the first of them sets.

        `which` says whether to hold back one such as "PUT /bucket/key?partNumber=1".
        """
        arrived = threading.Event()
        self._go_on.clear()
        self._held = (which, arrived)
        return arrived

    def let_go(self) -> None:
        """Answers requests that are held back as if they had never come, and all others."""
        self._held = None
        self._go_on.set()

    def objects(self, folder: str) -> dict[str, bytes]:
        """Name below a folder -> contents."""
        listed = self.client.list_objects_v2(Bucket=BUCKET, Prefix=f"{folder}/")
        keys = [entry["Key"] for entry in listed.get("Contents", ())]
        return {
            key.removeprefix(f"{folder}/"): self.client.get_object(Bucket=BUCKET, Key=key)[
                "Body"
            ].read()
            for key in keys
        }

    def _answer(self, environ: dict[str, Any], start: Callable) -> Iterable[bytes]:
        if self._held is not None:
            which, arrived = self._held
            request = "{REQUEST_METHOD} {PATH_INFO}?{QUERY_STRING}".format_map(environ)
            if which(request):
                arrived.set()
                self._go_on.wait()
                start("503 Slow Down", [("Content-Length", "0")])
                return []
        return self._application(environ, start)
