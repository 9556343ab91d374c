"""Reads a query as the settings have it: without lines of the repository's issue form, in English where a dictionary is
installed, with its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from secateur.index.facts.snapshot import Snapshot
from secateur.model import Notice
from secateur.redaction import redact_typed
from secateur.retrieval.issue_forms import form_lines
from secateur.retrieval.query import Query, parsed_query
from secateur.settings import Settings


def asked_query(
    text: str, shards: Sequence[Snapshot], settings: Settings, lines: Callable[[str], list[str]]
) -> tuple[Query, tuple[Notice, ...]]:
    """The query of one state of what is searched, without credentials, and what is said of how it was read. `lines`
    gives those of a file."""
    text, rules = redact_typed(text, settings.redaction), settings.relevance
    form: frozenset[str] = frozenset()
    if rules.issue_forms and len(text.splitlines()) > 1:  # of a single line nothing is left out
        form = form.union(*(_form_lines(shard, lines) for shard in shards))

    def frequency(term: int) -> int:
        return sum(shard.body.frequency(term) for shard in shards)

    return parsed_query(text, frequency, rules.query_kind, form)


def _form_lines(shard: Snapshot, lines: Callable[[str], list[str]]) -> frozenset[str]:
    """The lines of a repository's own forms, wherever the repository stands."""
    return form_lines(shard.own_paths, lambda own: lines(shard.path_of(own)))
