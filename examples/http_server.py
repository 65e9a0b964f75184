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

MOST = 64  # requests in a batch


def encode_together(embed, waiting: queue.Queue) -> None:
    """Encodes what is waiting, again and again; a request is its texts and its future."""
    while True:
        requests = [waiting.get()]
        while len(requests) < MOST and not waiting.empty():
            requests.append(waiting.get())
        rows = iter(embed([text for texts, _ in requests for text in texts]).numpy().tolist())
        for texts, future in requests:
            future.set_result([next(rows) for _ in texts])


class Handler(BaseHTTPRequestHandler):  # noqa: D101
    def do_POST(self) -> None:  # noqa: D102
        try:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        except ValueError:
            texts = None
        if not texts or type(texts) is not list or not all(type(text) is str for text in texts):
            self.send_error(400, "the body must be a JSON list of texts")
            return
        future: Future = Future()
        self.server.waiting.put((texts, future))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(future.result()).encode())


def server(module: str, port: int) -> ThreadingHTTPServer:
    """A server that is ready for `serve_forever`."""
    made = ThreadingHTTPServer(("localhost", port), Handler)
    made.waiting = queue.Queue()
    given = (hub.load(module), made.waiting)
    threading.Thread(target=encode_together, args=given, daemon=True).start()
    return made


if __name__ == "__main__":
    server(sys.argv[1], int(sys.argv[2])).serve_forever()
