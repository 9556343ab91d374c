"""Small repositories as text, parsed for real, and their edges by name."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

from msgspec.structs import astuple
from secateur.index.graph.resolve.edges import CallCounts, EdgeKind, Edges, How
from secateur.index.graph.resolve.linking import link_repository
from secateur.languages.syntax.fragments import parse_file
from secateur.model import FileFacts

Found = dict[tuple[str, str], tuple[str, int]]


@dataclass(frozen=True)
class Repository:
    names: list[str]  # symbol per fragment: "path::qualname"
    edges: Edges
    counts: CallCounts  # of all files

    def found(self, kind: EdgeKind = EdgeKind.CALLS) -> Found:
        """(source, target) → (rule, confidence)."""
        return {
            (self.names[a], self.names[b]): (How(h).label, c)
            for a, b, k, c, h in zip(
                *(
                    column.tolist()
                    for column in (
                        self.edges.source,
                        self.edges.target,
                        self.edges.kind,
                        self.edges.confidence,
                        self.edges.how,
                    )
                ),
                strict=True,
            )
            if k == kind
        }

    def calls(self, source: str) -> dict[str, str]:
        """target → rule, of the calls of one fragment."""
        return {b: rule for (a, b), (rule, _) in self.found().items() if a == source}


def parsed(sources: dict[str, str]) -> list[tuple[str, FileFacts]]:
    return [(path, parse_file(path, dedent(text).encode())) for path, text in sources.items()]


def from_facts(files: list[tuple[str, FileFacts]]) -> Repository:
    edges, counts = link_repository(files)
    return Repository(
        [f"{path}::{fragment.qualname}" for path, facts in files for fragment in facts.fragments],
        edges,
        CallCounts(*map(sum, zip(*map(astuple, counts.values()), strict=True))),
    )


def repository(sources: dict[str, str]) -> Repository:
    return from_facts(parsed(sources))
