"""Serves embeddings over HTTP; requests that arrive together are encoded in one batch.

    python examples/http_server.py module/ 8000
    curl -d '["How old are you?", "What is your age?"]' localhost:8000

The answer is a list of vectors. For production there is TensorFlow Serving (docs/serving.md).
"""

import json
import queue
import sys
import threading
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tensorflow_hub as hub
import tensorflow_text  # noqa: F401  (registers the ops that the module uses)


def encode(embed, waiting: queue.Queue) -> None:
    """Encodes what is waiting, again and again; a request is its texts and its future."""
    while True:
        requests = [waiting.get(), *(waiting.get() for _ in range(min(63, waiting.qsize())))]
        try:
            rows = iter(embed([text for texts, _ in requests for text in texts]).numpy().tolist())
            for texts, future in requests:
                future.set_result([next(rows) for _ in texts])
        except Exception as error:  # the next requests are no worse for it
            for _, future in requests:
                future.set_exception(error)


class Handler(BaseHTTPRequestHandler):  # noqa: D101
    waiting: queue.Queue = queue.Queue()

    def do_POST(self) -> None:  # noqa: D102
        try:
            texts = json.loads(self.rfile.read(max(0, int(self.headers["Content-Length"]))))
            "".join(texts).encode()  # texts, and none of them half a character
        except (RecursionError, TypeError, ValueError):
            texts = None
        if not texts or type(texts) is not list:
            self.send_error(400, "the body must be a JSON list of texts")
            return
        self.waiting.put((texts, future := Future()))
        if error := future.exception():
            self.send_error(500, "the module failed", explain=str(error))
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(future.result()).encode())


def server(module: str, port: int) -> ThreadingHTTPServer:
    """A server that is ready for `serve_forever`."""
    arguments = hub.load(module), Handler.waiting
    threading.Thread(target=encode, args=arguments, daemon=True).start()
    return ThreadingHTTPServer(("localhost", port), Handler)


if __name__ == "__main__":
    try:
        server(sys.argv[1], int(sys.argv[2])).serve_forever()
    except (IndexError, OSError, OverflowError, ValueError) as error:
        sys.exit(f"error: {error}; usage: python examples/http_server.py MODULE PORT")
