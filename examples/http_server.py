"""Serves embeddings over HTTP, without TensorFlow.

    pip install ./runtime
    python examples/http_server.py module/ 8000
    curl --json '["How old are you?", "What is your age?"]' localhost:8000

The answer is a JSON list of vectors, or {"error": MESSAGE} with the status of the error. The server
listens on this machine alone. For production there is TensorFlow Serving (docs/serving.md).
"""

import argparse
import contextlib
import json
import socket
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import conversational_embeddings

PRETRAINED = Path(__file__).parents[1] / "pretrained" / "conversations-small"
MOST_BYTES, MOST_TEXTS = 1_000_000, 1_000
"""In a request: the vectors of 1,000 texts are 11 MB of JSON."""
MOST_CONNECTIONS = 100
"""At a time, idle ones included; each has a thread."""


class Handler(BaseHTTPRequestHandler):  # noqa: D101
    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1  # headers and body leave together: Nagle's algorithm delays a second packet
    server: "Server"

    def do_POST(self) -> None:  # noqa: D102
        length = self.headers.get("Content-Length")
        if length is None:
            self.send_error(411, "Content-Length is missing")
        elif not length.isdecimal():
            self.send_error(400, f"Content-Length: {length}; accepted: a number")
        elif int(length) > MOST_BYTES:
            self.send_error(413, f"Content-Length: {length}; accepted: up to {MOST_BYTES}")
        elif (kind := self.headers.get_content_type()) != "application/json":
            # A browser lets any page send the types of forms to any server.
            self.send_error(415, f"Content-Type: {kind}; accepted: application/json")
        else:
            self.embed(self.rfile.read(int(length)))

    def embed(self, body: bytes) -> None:
        """Answers a body with its vectors."""
        try:
            texts = json.loads(body)
            if not isinstance(texts, list):
                raise TypeError(f"the body is a JSON {type(texts).__name__}")
            if len(texts) > MOST_TEXTS:
                self.send_error(413, f"{len(texts)} texts; accepted: up to {MOST_TEXTS}")
                return
            rows = self.server.module.encode(texts)
        except (RecursionError, TypeError, ValueError) as error:
            self.send_error(400, f"{error}; accepted: a JSON list of strings")
            return
        self.answer(200, rows.astype(float).round(7).tolist())  # half as many digits

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers with an error, and closes the connection: a body may be unread."""
        self.close_connection = True
        self.answer(code, {"error": message or self.responses[code][0]})

    def answer(self, status: int, content: object) -> None:
        """Sends an answer."""
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """Loads a module and listens; ready for `serve_forever`."""

    request_queue_size = MOST_CONNECTIONS  # else the sixth that comes at once waits for seconds

    def __init__(self, module: str | Path, port: int):
        self.module = conversational_embeddings.load(module)
        self.free = threading.Semaphore(MOST_CONNECTIONS)
        super().__init__(("localhost", port), Handler)

    def process_request(self, request: socket.socket, client_address: tuple) -> None:
        """Starts the connection's thread, or refuses the connection."""
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with contextlib.suppress(OSError):  # whoever asked has gone
            request.sendall(
                b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                b"Content-Length: 33\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
                b'{"error": "too many connections"}'
            )
        self.shutdown_request(request)

    def process_request_thread(self, request: socket.socket, client_address: tuple) -> None:
        """A connection from its first request to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()


def main(argv: Sequence[str] | None = None) -> None:
    """Serves until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("module", nargs="?", default=PRETRAINED, help="default: %(default)s")
    parser.add_argument("port", nargs="?", type=int, default=8000, help="default: %(default)s")
    given = parser.parse_args(argv)
    try:
        server = Server(given.module, given.port)
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(f"error: {given.module}, port {given.port}: {error}")
    print(f"listening on http://localhost:{server.server_address[1]}", flush=True)
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
