"""Serves embeddings over HTTP, without TensorFlow.

    python examples/http_server.py module/ 8000
    curl -d '["How old are you?", "What is your age?"]' localhost:8000

The answer is a list of vectors. For production there is TensorFlow Serving (docs/serving.md).
"""

import argparse
import json
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import conversational_embeddings

LONGEST = 10_000_000
"""Bytes of a request."""


class Handler(BaseHTTPRequestHandler):  # noqa: D101
    protocol_version = "HTTP/1.1"
    timeout = 60
    module: conversational_embeddings.Module

    def do_POST(self) -> None:  # noqa: D102
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LONGEST:
            self.send_error(413, f"Content-Length: {length}; accepted: up to {LONGEST}")
            return
        try:
            texts = json.loads(self.rfile.read(int(length)))
            if not isinstance(texts, list):
                raise TypeError("not a list")
            rows = self.module.encode(texts)
        except (RecursionError, TypeError, ValueError):
            self.send_error(400, "the body must be a JSON list of texts")
            return
        self.send_response(200)
        answer = json.dumps(rows.tolist()).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def server(module: str, port: int) -> ThreadingHTTPServer:
    """A server that is ready for `serve_forever`."""
    Handler.module = conversational_embeddings.load(module)
    return ThreadingHTTPServer(("localhost", port), Handler)


def main(argv: Sequence[str] | None = None) -> None:
    """Serves until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("module")
    parser.add_argument("port", type=int)
    given = parser.parse_args(argv)
    serving = server(given.module, given.port)
    print(f"listening on http://localhost:{serving.server_address[1]}", flush=True)
    serving.serve_forever()


if __name__ == "__main__":
    main()
