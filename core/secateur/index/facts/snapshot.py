"""One state of a repository as arrays: fragments, words, vectors, call graph, hotspots. Derived from records, never the
truth.

Fragments are numbered by path (byte order) and line. A snapshot is identified by what it was made of, is built by
`build`, saved and loaded through `arrayfile`, and never changes: a reader keeps the one it has while a writer makes the
next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.embedding import SemanticSpace
from secateur.index.facts.hotspots import FileChanges, HotspotTable
from secateur.index.facts.names import NameTable
from secateur.index.facts.postings import Postings
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.graph.code_graph import CodeGraph
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.model import BoolArray, Fragment, FragmentKind, Notice

KINDS = tuple(FragmentKind)
FOREIGN = frozenset({"test", "vendored", "generated", "example", "documentation"})
"""Flags of files that are no code of the repository's own."""
PATH_TERMS_LIMIT = 4096
"""Characters of a path whose words are indexed."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Columns over fragments (and a few over files). Row numbers are fragment numbers everywhere in retrieval."""

    arrays: Mapping[str, npt.NDArray[Any]]

    @cached_property
    def paths(self) -> list[str]:
        """Path per file, in byte order."""
        return unpack_strings(self.arrays["file.path"])

    @property
    def own_paths(self) -> Mapping[str, Sequence[str]]:
        """The same as each repository has them, by what stands before them here."""
        return {"": self.paths}

    @property
    def whole(self) -> WorkspaceStatistics | None:
        """The statistics of the workspace of which this is a part; None where it is searched alone."""
        return None

    @cached_property
    def digests(self) -> dict[str, bytes]:
        """Content digest per path."""
        return {path: digest.tobytes() for path, digest in zip(self.paths, self.arrays["file.digest"], strict=True)}

    @cached_property
    def unindexed_digests(self) -> dict[str, bytes]:
        """Content digest per path of the files that are only counted."""
        return {
            path: digest.tobytes()
            for (path, _), digest in zip(self.unindexed, self.arrays["unindexed.digest"], strict=True)
        }

    @property
    def all_digests(self) -> dict[str, bytes]:
        """Content digest per path of all files, indexed or only counted."""
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
        """Language per file."""
        return unpack_strings(self.arrays["file.language"])

    @cached_property
    def flags(self) -> list[frozenset[str]]:
        """Classification per file: "test", "generated", "vendored", ..."""
        return [frozenset(text.split()) for text in unpack_strings(self.arrays["file.flags"])]

    def flagged(self, flag: str) -> BoolArray:
        """Per fragment whether its file is of a kind: "test", "generated", ..."""
        if flag not in self._flagged:
            files = np.array([flag in flags for flags in self.flags], dtype=np.bool_)
            self._flagged[flag] = files[self.file]
        return self._flagged[flag]

    @cached_property
    def _flagged(self) -> dict[str, BoolArray]:
        """The answers of `flagged` so far."""
        return {}

    @cached_property
    def problems(self) -> list[str]:
        """Problems per file, separated by blanks: "syntax_errors", "parse_timeout", ...; "" for most."""
        return unpack_strings(self.arrays["file.problems"])

    @cached_property
    def redactions(self) -> dict[str, str]:
        """Places of credentials by path, of the files that hold any, as `redaction.spans.stored_spans` writes them."""
        return {
            path: text
            for path, text in zip(self.paths, unpack_strings(self.arrays["file.redactions"]), strict=True)
            if text
        }

    @cached_property
    def unindexed(self) -> list[tuple[str, str]]:
        """(path, reason) of files that are counted, not indexed."""
        flat = unpack_strings(self.arrays["unindexed"])
        return list(zip(flat[::2], flat[1::2], strict=True))

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """The warnings about what is missing in it, and why."""
        return tuple(unpack_notices(self.arrays["notices"]))

    @cached_property
    def qualnames(self) -> list[str]:
        """Qualified name per fragment; "" for regions and blocks."""
        return unpack_strings(self.arrays["fragment.qualname"])

    def symbol_id(self, row: int) -> str:
        """`path::qualname`, unique: a second one of a file gets `#2`, nameless ones the line they start at."""
        path, ordinal = self.paths[int(self.file[row])], int(self.arrays["fragment.ordinal"][row])
        return symbol_of(path, self.qualnames[row], int(self.line_start[row]), ordinal)

    def row_of(self, symbol: str) -> int:
        """Row of a symbol id; -1 if nothing here is called that."""
        for file, path in enumerate(self.paths):
            if symbol.startswith(path + "::"):
                first, last = np.searchsorted(self.file, (file, file + 1)).tolist()
                for row in range(first, last):
                    if self.symbol_id(row) == symbol:
                        return row
        return -1

    @property
    def file(self) -> npt.NDArray[np.int32]:
        """File number per fragment."""
        return self.arrays["fragment.file"]

    @property
    def line_start(self) -> npt.NDArray[np.int32]:
        return self.arrays["fragment.line_start"]

    @property
    def line_end(self) -> npt.NDArray[np.int32]:
        return self.arrays["fragment.line_end"]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Another per-fragment column: kind, sig_start, sig_end, tokens, sig_tokens, wrapping, complexity."""
        return self.arrays[f"fragment.{name}"]

    def kind(self, row: int) -> FragmentKind:
        return KINDS[int(self.arrays["fragment.kind"][row])]

    @cached_property
    def body(self) -> Postings:
        """Words of the fragments' texts."""
        return Postings.from_arrays(self.arrays, "body")

    @cached_property
    def names(self) -> Postings:
        """Words of the qualified names."""
        return Postings.from_arrays(self.arrays, "names")

    @cached_property
    def path_words(self) -> Postings:
        """Words of the paths; documents are files."""
        return Postings.from_arrays(self.arrays, "paths")

    @cached_property
    def descriptions(self) -> Postings:
        """Words of leading comments and docstrings."""
        return Postings.from_arrays(self.arrays, "docs")

    @cached_property
    def file_words(self) -> Postings:
        """Words of whole files; documents are files."""
        return Postings.from_arrays(self.arrays, "files")

    @cached_property
    def commit_words(self) -> Postings:
        """Words of commit subjects; documents are commits that touched files of today, newest first."""
        return Postings.from_arrays(self.arrays, "commits")

    @property
    def word_fields(self) -> tuple[Postings, ...]:
        """The words by field."""
        return (self.body, self.names, self.descriptions, self.path_words, self.file_words, self.commit_words)

    @cached_property
    def name_table(self) -> NameTable:
        """Names, to look up what a query wrote."""
        return NameTable(self.qualnames)

    @cached_property
    def heading_tokens(self) -> dict[tuple[str, str, bool], npt.NDArray[np.int64]]:
        """Tokens of each fragment's heading as far as they were counted, by counter, format, and whether files share
        headings; -1: not yet."""
        return {}

    @cached_property
    def graph(self) -> CodeGraph:
        """Calls, imports and inheritance between fragments."""
        return CodeGraph.from_arrays(_group(self.arrays, "graph"))

    @cached_property
    def hotspots(self) -> HotspotTable:
        """Hotspot score and its parts per fragment."""
        return HotspotTable(**_group(self.arrays, "hotspots"))

    @cached_property
    def space(self) -> SemanticSpace:
        """Vectors of all fragments, int8 [fragments, dimension]; dimension 0 without an embedder."""
        return SemanticSpace(self.arrays["vectors"])

    def __len__(self) -> int:
        return len(self.file)


def pack_notices(notices: Sequence[Notice]) -> npt.NDArray[np.uint8]:
    """Notices as one array; `unpack_notices` is the inverse."""
    return pack_strings([text for notice in notices for text in (notice.code, notice.message)])


def unpack_notices(array: npt.NDArray[np.uint8]) -> list[Notice]:
    flat = unpack_strings(array)
    return [Notice(code, message) for code, message in zip(flat[::2], flat[1::2], strict=True)]


def symbol_ids(path: str, fragments: Sequence[Fragment]) -> list[str]:
    """The ids of the fragments of one file, as a snapshot that holds the file gives them."""
    names = zip(fragments, numbered(fragments), strict=True)
    return [symbol_of(path, one.qualname, one.line_start, ordinal) for one, ordinal in names]


def symbol_of(path: str, qualname: str, line: int, ordinal: int) -> str:
    """The id of a fragment; see `Snapshot.symbol_id`."""
    symbol = f"{path}::{qualname or f'L{line}'}"
    return symbol if ordinal == 1 else f"{symbol}#{ordinal}"


def numbered(fragments: Sequence[Fragment]) -> Iterator[int]:
    """1 for the first fragment of its name in its file, 2 for the second, ..."""
    taken: dict[str, int] = {}
    for fragment in fragments:
        if fragment.qualname:
            taken[fragment.qualname] = taken.get(fragment.qualname, 0) + 1
        yield taken.get(fragment.qualname, 1)


def _group(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    return {name.removeprefix(prefix + "."): arrays[name] for name in arrays if name.startswith(prefix + ".")}
