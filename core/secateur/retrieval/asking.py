"""Reads a query as the settings have it: without lines of the repository's issue form, in English where a dictionary is
installed, with its kind."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from secateur.index.facts.snapshot import Snapshot
from secateur.model import Notice
from secateur.redaction import redact_typed
from secateur.retrieval.evidence import Lines
from secateur.retrieval.issue_forms import MOST_FORMS, form_lines, form_paths
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


class FormFiles(msgspec.Struct, frozen=True):
    """A shard's files that are issue forms, in byte order, by what stands before the paths of their repository; the
    reply holds those of all shards that are read."""

    paths: dict[str, list[str]]

    @staticmethod
    def answered(messages: Sequence[FormFiles]) -> list[FormFiles]:
        found: dict[str, list[str]] = {}
        for one in messages:
            for at, paths in one.paths.items():
                found[at] = [*found.get(at, ()), *paths][:MOST_FORMS]
        return [FormFiles(found)] * len(messages)


def forms_of_shard(_: object, shard: Snapshot, lines: Lines | None) -> Rounds[frozenset[str]]:
    """The lines of the repositories' own forms, wherever each stands."""
    own = {at: form_paths(paths) for at, paths in shard.own_paths.items()}
    read: FormFiles = yield FormFiles({at: paths for at, paths in own.items() if paths})

    def of_repository(at: str, own: Sequence[str]) -> frozenset[str]:
        mine = [path for path in own if path in read.paths.get(at, ())]
        return form_lines(mine, lambda path: lines(at + path) if lines else [])

    return frozenset().union(*(of_repository(at, paths) for at, paths in own.items()))


def frequency_in_shard(term: int, shard: Snapshot, lines: Lines | None) -> Rounds[int]:  # noqa: ARG001 - as of all
    """The number of fragments that hold a term."""
    return at_once(shard.body.frequency(term))
