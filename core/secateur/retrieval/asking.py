"""Reads a query as the settings have it: without lines of the repository's issue form, in English where a dictionary is
installed, with its kind."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.index.facts.snapshot import Snapshot
from secateur.model import Notice
from secateur.redaction import redact_typed
from secateur.retrieval.evidence import Lines
from secateur.retrieval.issue_forms import form_lines
from secateur.retrieval.query import Query, parsed_query
from secateur.retrieval.rounds import Rounds, at_once
from secateur.retrieval.shards import Shards
from secateur.settings import Settings


def asked_query(text: str, shards: Shards, settings: Settings) -> tuple[Query, tuple[Notice, ...]]:
    """The query of one state of what is searched, without credentials, and what is said of how it was read."""
    text, rules = redact_typed(text, settings.redaction), settings.relevance
    form: frozenset[str] = frozenset()
    if rules.issue_forms and len(text.splitlines()) > 1:  # of a single line nothing is left out
        form = form.union(*shards.asked(forms_of_shard, None))

    def frequency(term: int) -> int:
        return sum(shards.asked(frequency_in_shard, term))

    return parsed_query(text, frequency, rules.query_kind, form)


def forms_of_shard(_: object, shard: Snapshot, lines: Lines | None) -> Rounds[frozenset[str]]:
    """The lines of the repositories' own forms, wherever each stands."""

    def of_repository(at: str, own: Sequence[str]) -> frozenset[str]:
        return form_lines(own, lambda path: lines(at + path) if lines else [])

    return at_once(frozenset().union(*(of_repository(at, own) for at, own in shard.own_paths.items())))


def frequency_in_shard(term: int, shard: Snapshot, lines: Lines | None) -> Rounds[int]:  # noqa: ARG001 - as of all
    """The number of fragments that hold a term."""
    return at_once(shard.body.frequency(term))
