"""The command line as a shell sees it, run in this process: arguments in, exit code and both streams out."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from secateur.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What a call left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be JSON and nothing else."""
        return json.loads(self.out)


def secateur(*words: object, stdin: bytes = b"") -> Ran:
    """`secateur WORDS...` without a terminal."""
    argv = [str(word) for word in words]
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline=""), io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    streams = patch.multiple(
        sys, argv=["secateur", *argv], stdin=io.TextIOWrapper(io.BytesIO(stdin), "utf-8"), stdout=out, stderr=err
    )
    with streams:
        try:
            code = main(argv)
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Ran(code, *(_text(stream) for stream in (out, err)))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
