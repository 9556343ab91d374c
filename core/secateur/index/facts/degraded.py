"""Lists the files of a snapshot that were read only in part, for people: a search that misses something says where it
may be."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.index.facts.extract import NOT_WHOLLY_SCANNED
from secateur.index.facts.snapshot import Snapshot
from secateur.languages import traits_of
from secateur.languages.syntax.file_flags import BINARY, UNREADABLE_TEXT
from secateur.languages.syntax.recognition import language_of
from secateur.model import Notice
from secateur.render.notices import listed

_AS_TEXT = ("reader_failed", "parser_crashed", "parse_timeout", "too_large", "grammar_missing")
"""Problems of files that are indexed as blocks of text although their language has a grammar."""


def degraded(snapshot: Snapshot) -> tuple[Notice, ...]:
    """A notice for files indexed without their syntax, and one for files that hold code by their name but are not
    indexed."""
    noted = [(path, found) for path, found in zip(snapshot.paths, snapshot.problems, strict=True) if found]
    as_text = [(path, problem) for path, found in noted for problem in found.split() if problem.startswith(_AS_TEXT)]
    left_out = [
        (path, reason)
        for path, reason in snapshot.unindexed
        if reason == UNREADABLE_TEXT or (reason == BINARY and _is_code(path))
    ]
    notices = []
    if as_text:
        notices.append(
            Notice("read_as_text", f"Indexed as plain text, without definitions and calls: {_named(as_text)}.")
        )
    if left_out:
        notices.append(Notice("code_not_indexed", f"Not indexed, although it should be code: {_named(left_out)}."))
    unscanned = [(path, found) for path, found in noted if NOT_WHOLLY_SCANNED in found.split()]
    if unscanned:
        said = "Credentials: the full scanner stopped at some files, where the built-in rules looked alone"
        notices.append(Notice("scanner_failed", f"{said}: {listed([path for path, _ in unscanned])}."))
    return tuple(notices)


def _is_code(path: str) -> bool:
    return traits_of(language_of(path)).grammar is not None


def _named(files: Sequence[tuple[str, str]]) -> str:
    return listed([f"{path} ({reason})" for path, reason in files])
