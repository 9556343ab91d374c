"""Messages between processes of one program, over pipes: bytes behind their length."""

from __future__ import annotations

from typing import IO

LENGTH_BYTES = 8


def send(stream: IO[bytes], message: bytes) -> None:
    """Write one message. Raises OSError when the other side is gone."""
    stream.write(len(message).to_bytes(LENGTH_BYTES, "little"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message; None when the other side is gone."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "little")
    message = stream.read(size)
    return message if len(message) == size else None
