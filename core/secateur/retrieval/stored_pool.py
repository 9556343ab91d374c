"""Writes a pool as text and reads it back exactly, so that the result cache can keep what a query found (SC-GRAG-005).

Columns of numbers are kept as their bytes, everything else as JSON. The text is this version's own: it is read by
whoever has the same cache key, which holds the version.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import fields
from typing import Any
from zlib import compress, decompress

import numpy as np
import numpy.typing as npt

from secateur.model import Notice, Pool, Redaction

MAX_ROWS = 20_000
"""Larger pools are not kept: reading one takes as long as finding it."""

_DTYPES = {"f": "<f8", "i": "<i8", "b": "|b1"}
_FASTEST = 1


def stored(pool: Pool) -> str | None:
    """Returns the pool as text; None where it is too large to be worth it."""
    if len(pool) > MAX_ROWS:
        return None
    values = {spec.name: getattr(pool, spec.name) for spec in fields(Pool)}
    values["warnings"] = [[notice.code, notice.message] for notice in pool.warnings]
    values["facts"] = dict(pool.facts)
    values["redactions"] = {row: [[one.rule, one.line] for one in found] for row, found in pool.redactions.items()}
    return json.dumps(values, default=_packed)


def restored(text: str) -> Pool:
    """Reads the pool from a text that `stored` made. Raises ValueError, KeyError or TypeError on any other."""
    values = json.loads(text)
    for spec in fields(Pool):
        values[spec.name] = _unpacked(values[spec.name])
    values["parts"] = {
        signal: {part: _unpacked(column) for part, column in parts.items()} for signal, parts in values["parts"].items()
    }
    values["redactions"] = {
        int(row): tuple(Redaction(rule, line) for rule, line in found) for row, found in values["redactions"].items()
    }
    values["warnings"] = tuple(Notice(code, message) for code, message in values["warnings"])
    return Pool(**values)


def _packed(column: npt.NDArray[Any]) -> dict[str, Any]:
    dtype = _DTYPES[column.dtype.kind]
    return {"dtype": dtype, "bytes": b64encode(compress(column.astype(dtype).tobytes(), _FASTEST)).decode()}


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"dtype", "bytes"}:
        return np.frombuffer(decompress(b64decode(value["bytes"])), dtype=value["dtype"])
    return value
