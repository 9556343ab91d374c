"""Selection -> the JSON of `search`, and errors -> the JSON of a failure.

Values are exact: text is not altered, but characters that a terminal would obey or hide, and lone surrogates, are written as `\\uXXXX`.
The output is valid UTF-8 and safe to print; any reader gets the original back. Numbers are rounded to six digits, the order of keys is fixed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from secateur.errors import SecateurError
from secateur.model import UNREACHABLE, Channel, Notice, Selection, State
from secateur.reporting.ledger import trim_report
from secateur.reporting.notices import notices_of
from secateur.terminal import visible

SCHEMA_VERSION = "1.0"
DIGITS = 6
"""Digits after the point: the quantum of scores."""

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")
_GRAPH_LISTS = {"called_by": "callers", "calls": "callees"}


def json_report(
    selection: Selection,
    content: Callable[[int], str],
    signature: Callable[[int], str],
    pack_tokens: int,
    *,
    explain: bool = False,
    dropped: int | None = None,
) -> dict[str, Any]:
    """What `search --format json` prints, as values; `dumps` writes it.

    `distance` and `depth` are None for a candidate that no path reaches; `path` holds the symbol ids from the anchor to the last step before
    the candidate. With `explain` every candidate has `parts`, what each of its signals is the sum of.

    Args:
        content: text of a pool row; asked only for rows kept whole.
        signature: declaration of a pool row; asked only for shortened rows.
        pack_tokens: what `recount` says of the Markdown pack.
        dropped: most entries of `dropped`, best first; the rest is counted in a warning. None: all. The ledger in `report` stays whole.
    """
    pool = selection.pool
    candidates = []
    for row in selection.kept_rows:
        text = (signature if selection.state[row] == State.SHORTENED else content)(row)
        candidates.append(_candidate(selection, row, explain) | {"content": text})
    listed = selection.dropped_rows[:dropped]
    notices = notices_of(selection)
    unlisted = len(selection.dropped_rows) - len(listed)
    if unlisted:
        notices = (*notices, Notice("dropped_not_listed", f"{unlisted:,} more candidates were dropped and are not listed here."))
    return {
        "schema_version": SCHEMA_VERSION,
        "source": pool.source,
        "query": pool.query,
        "token_count": pack_tokens,
        "budget": selection.budget,
        "counter": pool.counter,
        "embedding": pool.facts.get("embedding", "none"),
        "profile": selection.profile,
        "candidates": candidates,
        "dropped": [_candidate(selection, row, explain) for row in listed],
        "graph": _graph(selection),
        "report": trim_report(selection, pack_tokens).to_dict(),
        "warnings": [notice.to_dict() for notice in notices],
    }


def error_json(error: SecateurError) -> str:
    """`{"error": {"code", "message", "hint"}}`."""
    return dumps({"error": error.to_dict()})


def dumps(value: Any) -> str:
    """`value` as indented JSON with a final line break, readable in any script and harmless on any terminal."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return _NOT_ASCII.sub(_escaped, text.replace("\x7f", "\\u007f")) + "\n"


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return char if visible(char) == char else json.dumps(char)[1:-1]


def _candidate(selection: Selection, row: int, explain: bool) -> dict[str, Any]:
    pool, decision = selection.pool, selection.decision(row)
    start, end, distance = int(pool.line_start[row]), int(pool.line_end[row]), int(pool.distance[row])
    reached = distance != UNREACHABLE
    mask = int(pool.channels[row])
    out = {
        "file_path": pool.path[row],
        "line_start": start,
        "line_end": end,
        "line_range": f"{start}-{end}",
        "symbol_id": pool.symbol_id[row],
        "kind": pool.kind[row],
        "language": pool.language[row],
        "relevance_score": _number(pool.relevance[row]),
        "hotspot_score": _number(pool.hotspot[row]),
        "distance": distance if reached else None,
        "depth": distance - 1 if reached else None,
        "path": [pool.symbol_id[step] for step in pool.call_path(row)[:-1]],
        "priority": _number(decision.priority),
        "terms": {name: _number(term) for name, term in decision.terms.items()},
        "source": "graph" if not pool.anchor[row] and pool.via[row] >= 0 else "embedding",
        "channels": [channel.name.lower() for channel in Channel if mask >> channel & 1],
        "token_count": decision.tokens_after or decision.tokens_before,
        "decision": decision.to_dict(),
    }
    if explain:
        out["parts"] = {signal: {part: _number(column[row]) for part, column in parts.items()} for signal, parts in pool.parts.items()}
    return out


def _graph(selection: Selection) -> dict[str, list[dict[str, Any]]]:
    """Callers and callees that the search met, by rank (SC-GRAG-002)."""
    pool = selection.pool
    lists: dict[str, list[dict[str, Any]]] = {"callers": [], "callees": []}
    for row in selection.order.tolist():
        side = _GRAPH_LISTS.get(pool.via_edge[row])
        if side is not None:
            lists[side].append({"symbol_id": pool.symbol_id[row], "file_path": pool.path[row], "depth": int(pool.distance[row]) - 1})
    return lists


def _number(value: float) -> float:
    return round(float(value), DIGITS) + 0.0  # no negative zero
