"""Lists the files of a snapshot that were read only in part, for people: a search that misses something says where it
may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from secateur.index.facts.extract import NOT_WHOLLY_SCANNED
from secateur.index.facts.snapshot import Snapshot
from secateur.languages import traits_of
from secateur.languages.syntax.file_flags import BINARY, UNREADABLE_TEXT
from secateur.languages.syntax.recognition import language_of
from secateur.languages.syntax.text import DAMAGED_TEXT
from secateur.model import Notice
from secateur.render.notices import listed

_AS_TEXT = ("reader_failed", "parser_crashed", "parse_timeout", "too_large", "grammar_missing")
"""Problems of files that are indexed as blocks of text although their language has a grammar."""


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

    def below(self, name: str) -> PartlyRead:
        """The same with other paths, below a folder of that name."""
        moved = ([(f"{name}/{path}", why) for path, why in some] for some in self)
        return PartlyRead(*map(tuple, moved))

    def __iter__(self) -> Iterator[tuple[tuple[str, str], ...]]:
        return iter((self.as_text, self.left_out, self.unscanned, self.damaged))


def partly_read(snapshot: Snapshot) -> PartlyRead:
    """The files of a snapshot that were read only in part."""
    noted = [(path, found) for path, found in zip(snapshot.paths, snapshot.problems, strict=True) if found]
    return PartlyRead(
        tuple((path, problem) for path, found in noted for problem in found.split() if problem.startswith(_AS_TEXT)),
        tuple(
            (path, reason)
            for path, reason in snapshot.unindexed
            if reason == UNREADABLE_TEXT or (reason == BINARY and _is_code(path))
        ),
        *(
            tuple((path, problem) for path, found in noted if problem in found.split())
            for problem in (NOT_WHOLLY_SCANNED, DAMAGED_TEXT)
        ),
    )


def degraded(found: PartlyRead) -> tuple[Notice, ...]:
    """A notice for each way in which files were read only in part."""
    notices = []
    if found.as_text:
        said = f"Indexed as plain text, without definitions and calls: {_named(found.as_text)}."
        notices.append(Notice("read_as_text", said))
    if found.left_out:
        said = f"Not indexed, although it should be code: {_named(found.left_out)}."
        notices.append(Notice("code_not_indexed", said))
    if found.unscanned:
        said = "Credentials: the full scanner stopped at some files, where the built-in rules looked alone"
        notices.append(Notice("scanner_failed", f"{said}: {listed([path for path, _ in found.unscanned])}."))
    if found.damaged:
        said = "Bytes that are neither UTF-8 nor of an encoding that can be told are read as U+FFFD in"
        notices.append(Notice(DAMAGED_TEXT, f"{said} {listed([path for path, _ in found.damaged])}."))
    return tuple(notices)


class SnapshotFacts(msgspec.Struct, frozen=True):
    """The facts of a snapshot that every answer needs, whichever of its arrays are at hand: places of credentials by
    path, files that were read in part, and what is missing in it."""

    redactions: dict[str, str]
    partly_read: PartlyRead
    notices: tuple[Notice, ...]


def facts_of(snapshot: Snapshot) -> SnapshotFacts:
    """The facts of a snapshot, read from its arrays."""
    return SnapshotFacts(snapshot.redactions, partly_read(snapshot), snapshot.notices)


def united_facts(of_each: Mapping[str, SnapshotFacts]) -> SnapshotFacts:
    """The facts of several repositories by name, in byte order of their paths, which begin with the names."""
    below = [facts.partly_read.below(name) for name, facts in of_each.items()]
    return SnapshotFacts(
        {f"{name}/{path}": spans for name, facts in of_each.items() for path, spans in facts.redactions.items()},
        PartlyRead(*(tuple(file for some in column for file in some) for column in zip(*below, strict=True))),
        tuple(Notice(one.code, f"{name}: {one.message}") for name, facts in of_each.items() for one in facts.notices),
    )


def _is_code(path: str) -> bool:
    return traits_of(language_of(path)).grammar is not None


def _named(files: Sequence[tuple[str, str]]) -> str:
    return listed([f"{path} ({reason})" for path, reason in files])
