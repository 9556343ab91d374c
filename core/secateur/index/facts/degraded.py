"""Lists the files of a snapshot that were read only in part, so that a search says where it may miss something."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from secateur.index.facts.extract import NOT_WHOLLY_SCANNED
from secateur.index.facts.snapshot import Snapshot
from secateur.languages import language_of, traits_of
from secateur.languages.plain import UNPARSED
from secateur.languages.syntax.file_flags import BINARY, UNREADABLE_TEXT
from secateur.languages.syntax.text import DAMAGED_TEXT
from secateur.model import Notice
from secateur.render.page import listed

_AS_TEXT = ("reader_failed", "parser_crashed", "parse_timeout", "too_large", "grammar_missing")
"""Problems for which a file is indexed as blocks of text although its language has a grammar."""


class PartlyRead(msgspec.Struct, frozen=True):
    """Files that were read only in part, as (path, why), by path.

    Attributes:
        as_text: indexed without their syntax.
        left_out: not indexed, although their names say that they hold code.
        unscanned: where the full scanner for credentials stopped.
        damaged: with bytes that are no text in any encoding that is told.
    """

    as_text: tuple[tuple[str, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    unscanned: tuple[tuple[str, str], ...] = ()
    damaged: tuple[tuple[str, str], ...] = ()


def list_partly_read(snapshot: Snapshot) -> PartlyRead:
    """Lists the files of a snapshot that were read only in part."""
    pairs = [
        (path, problem)
        for path, problems in zip(snapshot.paths, snapshot.problems, strict=True)
        for problem in problems.split()
    ]
    as_text = [(path, problem) for path, problem in pairs if problem.startswith(_AS_TEXT)]
    as_text += [(path, f"no grammar for {kind}") for path in snapshot.paths if (kind := language_of(path)) in UNPARSED]
    return PartlyRead(
        tuple(sorted(as_text)),
        tuple(
            (path, reason)
            for path, reason in snapshot.unindexed
            if reason == UNREADABLE_TEXT or (reason == BINARY and traits_of(language_of(path)).grammar is not None)
        ),
        *(
            tuple((path, problem) for path, problem in pairs if problem == wanted)
            for wanted in (NOT_WHOLLY_SCANNED, DAMAGED_TEXT)
        ),
    )


def warn_of_partly_read(files: PartlyRead) -> tuple[Notice, ...]:
    """Makes a notice for each way in which files were read only in part."""
    notices = []
    if files.as_text:
        message = f"Indexed as plain text, without definitions and calls: {_list_files(files.as_text)}."
        notices.append(Notice("read_as_text", message))
    if files.left_out:
        message = f"Not indexed, although it should be code: {_list_files(files.left_out)}."
        notices.append(Notice("code_not_indexed", message))
    if files.unscanned:
        message = "Credentials: the full scanner stopped at some files, where the built-in rules looked alone"
        notices.append(Notice("scanner_failed", f"{message}: {listed([path for path, _ in files.unscanned])}."))
    if files.damaged:
        message = "Bytes that are neither UTF-8 nor of an encoding that can be told are read as U+FFFD in"
        notices.append(Notice(DAMAGED_TEXT, f"{message} {listed([path for path, _ in files.damaged])}."))
    return tuple(notices)


class SnapshotFacts(msgspec.Struct, frozen=True):
    """The facts of a snapshot that every answer needs even when its arrays are not mapped: spans of credentials by
    path, files that were read in part, and warnings."""

    redactions: dict[str, str]
    partly_read: PartlyRead
    notices: tuple[Notice, ...]


def facts_of(snapshot: Snapshot) -> SnapshotFacts:
    """Reads the facts of a snapshot from its arrays."""
    return SnapshotFacts(snapshot.redactions, list_partly_read(snapshot), snapshot.notices)


def _list_files(files: Sequence[tuple[str, str]]) -> str:
    return listed([f"{path} ({reason})" for path, reason in files])
