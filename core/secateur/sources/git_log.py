"""Parses the output of `git log -z --name-only` into commits. Streamed: a history may be long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from msgspec import Struct

from secateur.sources.files import path_text

HISTORY_FORMAT = "--format=/%H%x00%ct%x00%P%x00%s"  # no path starts with `/`, so it marks where a commit starts
LOG_FORMAT = "--format=/%H%x00%ct%x00%P%x00%B"
HEAD_FIELDS = 4

_CHUNK_BYTES = 1 << 20


class HistoryCommit(Struct, frozen=True):
    """One commit, and the files it changed below the opened folder; a merge has no files."""

    id: str
    time: int  # committer date, seconds since 1970
    parents: tuple[str, ...]
    message: str  # the whole, or its subject alone: what was asked for
    paths: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


def commits_of(output: IO[bytes]) -> Iterator[HistoryCommit]:
    """Yields the commits of HISTORY_FORMAT or LOG_FORMAT."""
    head: list[bytes] = []
    paths: list[bytes] = []
    for field in _read_fields(output):
        if len(head) == HEAD_FIELDS and field.startswith(b"/"):
            yield _parse_commit(head, paths)
            head, paths = [], []
        if len(head) < HEAD_FIELDS:
            head.append(field)
        else:
            paths.append(field if paths else field.removeprefix(b"\n"))
    if len(head) == HEAD_FIELDS:
        yield _parse_commit(head, paths)


def _parse_commit(head: list[bytes], paths: list[bytes]) -> HistoryCommit:
    commit, time, parents, message = head
    return HistoryCommit(
        id=commit[1:].decode("ascii"),
        time=int(time) if time.isdigit() else 0,
        parents=tuple(parents.decode("ascii").split()),
        message=message.decode("utf-8", "replace"),
        paths=tuple(path_text(path) for path in paths),
    )


def _read_fields(output: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := output.read(_CHUNK_BYTES):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
