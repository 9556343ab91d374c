"""Reads a query as the settings have it: without lines of the repository's issue form, in English where a dictionary is
installed, with its kind."""

from __future__ import annotations

from functools import partial

from secateur.index.facts.snapshot import Snapshot
from secateur.model import Notice
from secateur.redaction import redact_typed
from secateur.retrieval.evidence import Lines
from secateur.retrieval.issue_forms import form_lines
from secateur.retrieval.query import Query, parsed_query
from secateur.retrieval.searched import Searched
from secateur.settings import Settings


def asked_query(text: str, searched: Searched, settings: Settings) -> tuple[Query, tuple[Notice, ...]]:
    """The query of one state of what is searched, without credentials, and what is said of how it was read."""
    text, rules = redact_typed(text, settings.redaction), settings.relevance
    form: frozenset[str] = frozenset()
    if rules.issue_forms and len(text.splitlines()) > 1:  # of a single line nothing is left out
        form = form.union(*searched.each(lines_of_forms, None))
    return parsed_query(text, searched.frequency, rules.query_kind, form)


def lines_of_forms(_: object, snapshot: Snapshot, lines: Lines | None) -> frozenset[str]:
    """The lines of the issue forms of each repository."""
    if lines is None:
        return frozenset()
    found: set[str] = set()
    for at, paths in snapshot.own_paths.items():
        found |= form_lines(paths, partial(_lines_below, lines, at))
    return frozenset(found)


def _lines_below(lines: Lines, folder: str, path: str) -> list[str]:
    return lines(folder + path)
