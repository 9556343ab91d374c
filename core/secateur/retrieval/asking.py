"""Reads a query as the settings have it: without lines of the repository's issue form, in English where a dictionary is
installed, with its kind."""

from __future__ import annotations

from collections.abc import Callable

from secateur.index.facts.snapshot import Snapshot
from secateur.model import Notice
from secateur.redaction import redact_typed
from secateur.retrieval.issue_forms import form_lines
from secateur.retrieval.query import Query, parsed_query
from secateur.settings import Settings


def asked_query(
    text: str, snapshot: Snapshot, settings: Settings, lines: Callable[[str], list[str]]
) -> tuple[Query, tuple[Notice, ...]]:
    """The query of one state of a repository, without credentials, and what is said of how it was read. `lines` gives
    those of a file."""
    text, rules = redact_typed(text, settings.redaction), settings.relevance
    form: frozenset[str] = form_lines(snapshot.paths, lines) if rules.issue_forms else frozenset()
    return parsed_query(text, snapshot.body.frequency, rules.query_kind, form)
