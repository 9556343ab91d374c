"""One state of a repository as arrays: fragments, words, vectors, call graph, hotspots. All of it can be made again
from the records.

Fragments are numbered by path (byte order) and line. The name of a snapshot is a digest of its inputs. `build` makes
it, `arrayfile` saves and loads it, and it never changes: a reader keeps its snapshot while a writer makes the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.embedding.vectors import SemanticSpace
from secateur.index.facts.history import FileChanges, HotspotTable
from secateur.index.facts.names import NameTable
from secateur.index.facts.postings import Postings
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.model import BoolArray, Fragment, FragmentKind, Notice

# Arrays that only the snapshot of a workspace has: see `Snapshot.member_states`, and warnings of manifests that could
# not be read.
MEMBER_STATES, UNREAD = "workspace.states", "workspace.unread"

KINDS = tuple(FragmentKind)
# Flags of files that are not the repository's own code.
FOREIGN = frozenset({"test", "vendored", "generated", "example", "documentation"})
PATH_TERMS_LIMIT = 4096  # the most characters of a path whose words are indexed


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Columns over fragments, and a few over files. A row number in retrieval is the number of a fragment."""

    arrays: Mapping[str, npt.NDArray[Any]]

    @cached_property
    def paths(self) -> list[str]:
        """The path of each file, in byte order."""
        return unpack_strings(self.arrays["file.path"])

    @cached_property
    def own_paths(self) -> Mapping[str, Sequence[str]]:
        """The paths as each repository has them, by the prefix that they have here."""
        if MEMBER_STATES not in self.arrays:
            return {"": self.paths}
        by_member: dict[str, list[str]] = {}
        for path in self.paths:
            name, _, own = path.partition("/")
            by_member.setdefault(f"{name}/", []).append(own)
        return by_member

    @property
    def member_states(self) -> dict[str, tuple[str, str]]:
        """The state and the history of each repository of a workspace, by name."""
        texts = unpack_strings(self.arrays[MEMBER_STATES]) if MEMBER_STATES in self.arrays else []
        return dict(zip(texts[::3], zip(texts[1::3], texts[2::3], strict=True), strict=True))

    @cached_property
    def digests(self) -> dict[str, bytes]:
        """The content digest of each indexed path."""
        return {path: digest.tobytes() for path, digest in zip(self.paths, self.arrays["file.digest"], strict=True)}

    @cached_property
    def unindexed_digests(self) -> dict[str, bytes]:
        """The content digest of each path that is only counted."""
        return {
            path: digest.tobytes()
            for (path, _), digest in zip(self.unindexed, self.arrays["unindexed.digest"], strict=True)
        }

    @property
    def all_digests(self) -> dict[str, bytes]:
        """The content digest of each path, indexed or only counted."""
        return self.digests | self.unindexed_digests

    @property
    def origin(self) -> list[str]:
        """The versions and inputs it was made with; see `build`."""
        return unpack_strings(self.arrays["origin"])

    @property
    def changes(self) -> FileChanges:
        """The changes of each file in the history."""
        return FileChanges(*(self.arrays[f"hotspots.{column.name}"] for column in fields(FileChanges)))

    @cached_property
    def languages(self) -> list[str]:
        """The language of each file."""
        return unpack_strings(self.arrays["file.language"])

    @cached_property
    def flags(self) -> list[frozenset[str]]:
        """The flags of each file: "test", "generated", "vendored", ..."""
        return [frozenset(text.split()) for text in unpack_strings(self.arrays["file.flags"])]

    def flagged(self, flag: str) -> BoolArray:
        """Tells for each fragment whether its file has a flag: "test", "generated", ..."""
        if flag not in self._flagged:
            self._flagged[flag] = np.array([flag in flags for flags in self.flags], dtype=np.bool_)[self.file]
        return self._flagged[flag]

    @cached_property
    def _flagged(self) -> dict[str, BoolArray]:
        return {}

    @cached_property
    def problems(self) -> list[str]:
        """The problems of each file, separated by blanks: "syntax_errors", "parse_timeout", ...; "" for most."""
        return unpack_strings(self.arrays["file.problems"])

    @cached_property
    def redactions(self) -> dict[str, str]:
        """The spans of credentials by path, for files that hold any, as `redaction.spans.format_spans` writes them."""
        return {
            path: text
            for path, text in zip(self.paths, unpack_strings(self.arrays["file.redactions"]), strict=True)
            if text
        }

    @cached_property
    def unindexed(self) -> list[tuple[str, str]]:
        """(path, reason) of each file that is counted but not indexed."""
        flat = unpack_strings(self.arrays["unindexed"])
        return list(zip(flat[::2], flat[1::2], strict=True))

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings that say what is missing in the snapshot, and why."""
        return tuple(unpack_notices(self.arrays["notices"]))

    @cached_property
    def qualnames(self) -> list[str]:
        """The qualified name of each fragment; "" for regions and blocks."""
        return unpack_strings(self.arrays["fragment.qualname"])

    def symbol_id(self, row: int) -> str:
        """Returns the unique `path::qualname`. The second one of a file gets `#2`; without a name its line stands
        there."""
        path, ordinal = self.paths[int(self.file[row])], int(self.arrays["fragment.ordinal"][row])
        return symbol_of(path, self.qualnames[row], int(self.line_start[row]), ordinal)

    def row_of(self, symbol: str) -> int:
        """Returns the row of a symbol id; -1 if it does not exist."""
        for file, path in enumerate(self.paths):
            if symbol.startswith(path + "::"):
                first, last = np.searchsorted(self.file, (file, file + 1)).tolist()
                for row in range(first, last):
                    if self.symbol_id(row) == symbol:
                        return row
        return -1

    @property
    def file(self) -> npt.NDArray[np.int32]:
        """The file number of each fragment."""
        return self.arrays["fragment.file"]

    @property
    def line_start(self) -> npt.NDArray[np.int32]:
        return self.arrays["fragment.line_start"]

    @property
    def line_end(self) -> npt.NDArray[np.int32]:
        return self.arrays["fragment.line_end"]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Returns another column over fragments: kind, sig_start, sig_end, tokens, sig_tokens, wrapping, complexity."""
        return self.arrays[f"fragment.{name}"]

    def kind(self, row: int) -> FragmentKind:
        return KINDS[int(self.arrays["fragment.kind"][row])]

    @cached_property
    def body(self) -> Postings:
        """The words of the fragments' texts."""
        return Postings.from_arrays(self.arrays, "body")

    @cached_property
    def names(self) -> Postings:
        """The words of the qualified names."""
        return Postings.from_arrays(self.arrays, "names")

    @cached_property
    def path_words(self) -> Postings:
        """The words of the paths; documents are files."""
        return Postings.from_arrays(self.arrays, "paths")

    @cached_property
    def file_words(self) -> Postings:
        """The words of whole files; documents are files."""
        return Postings.from_arrays(self.arrays, "files")

    @cached_property
    def commit_words(self) -> Postings:
        """The words of commit subjects. Documents are the commits that touched existing files, newest first."""
        return Postings.from_arrays(self.arrays, "commits")

    @cached_property
    def name_table(self) -> NameTable:
        """The table that the names of a query are looked up in."""
        return NameTable(self.qualnames)

    @cached_property
    def heading_tokens(self) -> dict[tuple[str, str], npt.NDArray[np.int64]]:
        """The tokens of each fragment's heading, by counter, format, and whether fragments of a file share a heading;
        -1 if they are not counted yet."""
        return {}

    @cached_property
    def graph(self) -> CodeGraph:
        """The calls, imports and inheritance between fragments."""
        return CodeGraph.from_arrays(_group(self.arrays, "graph"))

    @cached_property
    def hotspots(self) -> HotspotTable:
        """The hotspot score of each fragment, and its parts."""
        return HotspotTable(**_group(self.arrays, "hotspots"))

    @cached_property
    def space(self) -> SemanticSpace:
        """The vectors of all fragments, int8 [fragments, dimension]; dimension 0 without an embedder."""
        return SemanticSpace(self.arrays["vectors"])

    def __len__(self) -> int:
        return len(self.file)


def pack_notices(notices: Sequence[Notice]) -> npt.NDArray[np.uint8]:
    """Packs notices into one array; `unpack_notices` is the inverse."""
    return pack_strings([text for notice in notices for text in (notice.code, notice.message)])


def unpack_notices(array: npt.NDArray[np.uint8]) -> list[Notice]:
    flat = unpack_strings(array)
    return [Notice(code, message) for code, message in zip(flat[::2], flat[1::2], strict=True)]


def symbol_ids(path: str, fragments: Sequence[Fragment]) -> list[str]:
    """Returns the ids that a snapshot gives to the fragments of one file."""
    pairs = zip(fragments, number_names(fragments), strict=True)
    return [symbol_of(path, fragment.qualname, fragment.line_start, ordinal) for fragment, ordinal in pairs]


def symbol_of(path: str, qualname: str, line: int, ordinal: int) -> str:
    """Returns the id of a fragment; see `Snapshot.symbol_id`."""
    symbol = f"{path}::{qualname or f'L{line}'}"
    return symbol if ordinal == 1 else f"{symbol}#{ordinal}"


def number_names(fragments: Sequence[Fragment]) -> Iterator[int]:
    """Yields 1 for the first fragment with its name in its file, 2 for the second, ..."""
    counts: dict[str, int] = {}
    for fragment in fragments:
        if fragment.qualname:
            counts[fragment.qualname] = counts.get(fragment.qualname, 0) + 1
        yield counts.get(fragment.qualname, 1)


def _group(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    return {name.removeprefix(prefix + "."): arrays[name] for name in arrays if name.startswith(prefix + ".")}
