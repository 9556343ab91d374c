"""Parses the output of `git log -z --name-only` into commits. Streamed: a history may be long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from msgspec import Struct

from secateur.sources.files import path_text

HISTORY_FORMAT = "--format=/%H%x00%ct%x00%an%x00%s"  # no path starts with `/`, so it marks where a commit starts
LOG_FORMAT = "--format=/%H%x00%ct%x00%P%x00%B"
HEAD_FIELDS = 4

_CHUNK_BYTES = 1 << 20


class HistoryCommit(Struct, frozen=True):
    """One commit that is not a merge, and the files it changed below the opened folder."""

    id: str
    time: int  # committer date, seconds since 1970
    author: str
    subject: str
    paths: tuple[str, ...]


class LoggedCommit(Struct, frozen=True):
    """One commit with its whole message, and the files it changed below the opened folder; a merge has no files."""

    id: str
    time: int  # committer date, seconds since 1970
    parents: tuple[str, ...]
    message: str
    paths: tuple[str, ...]


def commits_of(output: IO[bytes]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yields the HEAD_FIELDS fields of each commit, and its paths."""
    head: list[bytes] = []
    paths: list[bytes] = []
    for field in _read_fields(output):
        if len(head) == HEAD_FIELDS and field.startswith(b"/"):
            yield head, paths
            head, paths = [], []
        if len(head) < HEAD_FIELDS:
            head.append(field)
        else:
            paths.append(field if paths else field.removeprefix(b"\n"))
    if len(head) == HEAD_FIELDS:
        yield head, paths


def parse_history_commit(head: list[bytes], paths: list[bytes]) -> HistoryCommit:
    """Returns a commit of HISTORY_FORMAT."""
    commit, time, author, subject = head
    return HistoryCommit(
        id=commit[1:].decode("ascii"),
        time=int(time) if time.isdigit() else 0,
        author=author.decode("utf-8", "replace"),
        subject=subject.decode("utf-8", "replace"),
        paths=tuple(path_text(path) for path in paths),
    )


def parse_logged_commit(head: list[bytes], paths: list[bytes]) -> LoggedCommit:
    """Returns a commit of LOG_FORMAT."""
    commit, time, parents, message = head
    return LoggedCommit(
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
