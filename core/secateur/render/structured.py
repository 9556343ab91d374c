"""Selection -> the JSON of `search`, and errors -> the JSON of a failure.

Values are exact: text is not altered, but characters that a terminal would obey or hide, and lone surrogates, are
written as `\\uXXXX`. The output is valid UTF-8 and safe to print; any reader gets the original back. Numbers are
rounded to six digits, the order of keys is fixed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from secateur.errors import SecateurError
from secateur.model import UNREACHABLE, Channel, Notice, Pool, Selection, State
from secateur.render.bounds import DROPPED_LISTED, JSON_LIMIT, Extent, fitted
from secateur.render.ledger import search_action, search_ledger, search_report
from secateur.render.notices import notices_of
from secateur.terminal import visible

SCHEMA_VERSION = "1.0"
DIGITS = 6
"""Digits after the point: the quantum of scores."""

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")
_COMPACT = (",", ":")


def json_report(
    selection: Selection,
    content: Callable[[int], str],
    shortened: Callable[[int], str],
    pack_tokens: int,
    *,
    explain: bool = False,
    dropped: int | None = DROPPED_LISTED,
    message_tokens: int = 0,
) -> dict[str, Any]:
    """The output of `search --format json`, as values; `dumps_report` writes it.

    `distance` and `depth` are None for a candidate that no path reaches; `path` holds the symbol ids from the anchor to
    the last step before the candidate. `token_count` is of the Markdown pack's text. With `explain` every candidate has
    `parts`, what each of its signals is the sum of. Unless `explain` or more than DROPPED_LISTED are asked for,
    `dropped`, `graph` and `report.actions` have at most JSON_LIMIT characters together: a notice `json_shortened` says
    what is not listed. A candidate that goes out always has every field, and its entry in the ledger.

    Args:
        content: text of a pool row; asked only for rows kept whole.
        shortened: what goes out of a pool row; asked only for shortened rows.
        pack_tokens: what `recount` says of the Markdown pack.
        dropped: most entries of `dropped`, best first; the ledger counts the rest in one entry. None: all.
        message_tokens: of what the Markdown pack says where nothing goes out.
    """
    kept, others = selection.kept_rows, selection.dropped_rows[:dropped]
    graph = _graph(selection)
    everything = extent = Extent(len(kept), len(kept), len(others))
    items = {row: _candidate(selection, row, explain) for row in (*kept, *others)}
    if not explain and dropped is not None and dropped <= DROPPED_LISTED:
        extent = _extent(selection, items, graph, others, pack_tokens)
    listed = others[: extent.dropped]
    notices = notices_of(selection)
    if extent != everything:
        notices = (*notices, _shortened(everything, extent))
    ledger = search_ledger(selection, pack_tokens, [*kept, *listed])
    report = search_report(search_ledger(selection, pack_tokens, [*kept[: extent.actions], *listed]))
    sent = [(row, (shortened if selection.state[row] == State.SHORTENED else content)(row)) for row in kept]
    return _head(selection, pack_tokens, message_tokens) | {
        "candidates": [items[row] | {"content": text} for row, text in sent],
        "dropped": [items[row] for row in listed],
        "graph": {side: [at[row] for row in kept[: extent.graph] if row in at] for side, at in graph.items()},
        "report": report.to_dict(),
        "ledger": ledger.to_dict(),
        "warnings": [notice.to_dict() for notice in notices],
    }


def _head(selection: Selection, pack_tokens: int, message_tokens: int) -> dict[str, Any]:
    pool = selection.pool
    head = {
        "schema_version": SCHEMA_VERSION,
        "source": pool.source,
        "query": pool.query,
        "token_count": pack_tokens,
        "budget": selection.budget,
        "counter": pool.counter,
        "embedding": pool.facts.get("embedding", "none"),
        "anchored_by": pool.anchored_by,
        "profile": selection.profile,
    }
    kind = {"query_kind": told} if (told := pool.facts.get("query_kind")) else {}
    part = {"partial": part} if (part := pool.facts.get("partial")) else {}
    return head | kind | part | ({} if selection.kept_rows else {"message_tokens": message_tokens})


def _extent(
    selection: Selection,
    items: Mapping[int, dict[str, Any]],
    graph: Mapping[str, Mapping[int, dict[str, Any]]],
    others: list[int],
    pack_tokens: int,
) -> Extent:
    """The most that may be listed beside what is kept, by characters as `dumps_report` writes them."""
    kept = selection.kept_rows
    ledger = search_ledger(selection, pack_tokens, [*kept, *others])
    entries = dict(zip((*kept, *others), ledger.entries, strict=False))
    action = {row: _size(told.to_dict()) for row, entry in entries.items() if (told := search_action(entry))}
    return fitted(
        actions=[action[row] for row in kept],
        graph=[sum(_size(at[row]) for at in graph.values() if row in at) for row in kept],
        dropped=[_size(items[row]) + action[row] + _size(entries[row].to_dict()) for row in others],
    )


def _size(item: dict[str, Any]) -> int:
    return len(_harmless(_compact(item))) + len("      ,\n")


def _shortened(everything: Extent, extent: Extent) -> Notice:
    parts = (
        ("actions of kept candidates", extent.actions, everything.actions),
        ("kept candidates in the graph", extent.graph, everything.graph),
        ("dropped candidates", extent.dropped, everything.dropped),
    )
    listed = ", ".join(f"{count:,} of {of:,} {name}" for name, count, of in parts if count < of)
    return Notice(
        "json_shortened",
        f"To stay within {JSON_LIMIT:,} characters beside what is kept, this lists {listed}; --dropped all lists"
        " everything.",
    )


def error_json(error: SecateurError) -> str:
    """`{"error": {"code", "message", "hint"}}`."""
    return dumps({"error": error.to_dict()})


def dumps(value: Any) -> str:
    """`value` as indented JSON with a final line break, readable in any script and harmless on any terminal."""
    return _harmless(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def dumps_report(report: Mapping[str, Any]) -> str:
    """The JSON of a search: a key a line, in lists an item a line, which is half as long as indented."""
    return _harmless(_written(report, "")) + "\n"


def _written(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, Mapping) and (
        not indent or any(isinstance(part, list) and part and isinstance(part[0], dict) for part in value.values())
    ):
        lines = [f"{inner}{json.dumps(name)}: {_written(part, inner)}" for name, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"{inner}{_compact(part)}" for part in value) + f"\n{indent}]"
    return _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=_COMPACT)


def _harmless(text: str) -> str:
    return _NOT_ASCII.sub(_escaped, text.replace("\x7f", "\\u007f"))


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return char if visible(char) == char else json.dumps(char)[1:-1]


def _candidate(selection: Selection, row: int, explain: bool) -> dict[str, Any]:
    pool, decision = selection.pool, selection.decision(row)
    start, end, distance = int(pool.line_start[row]), int(pool.line_end[row]), int(pool.distance[row])
    reached = distance != UNREACHABLE
    mask = int(pool.channels[row])
    out: dict[str, Any] = {
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
        "relation": _relation(pool, row),
        "priority": _number(decision.priority),
        "terms": {name: _number(term) for name, term in decision.terms.items()},
        "source": "graph" if not pool.anchor[row] and pool.predecessor[row] >= 0 else "embedding",
        "channels": [channel.name.lower() for channel in Channel if mask >> channel & 1],
        "token_count": decision.tokens_after or decision.tokens_before,
        "decision": decision.to_dict(),
    }
    if explain:
        out["parts"] = {
            signal: {part: _number(column[row]) for part, column in parts.items()}
            for signal, parts in pool.parts.items()
        }
    return out


def _relation(pool: Pool, row: int) -> str | None:
    """The relation of a candidate to the anchors: "anchor"; "caller", which reaches one by calls alone; "callee", which
    one reaches by calls alone; "both", on a cycle; "related", which only calls in both directions lead to, such as
    another callee of a caller; None where none do."""
    if pool.anchor[row]:
        return "anchor"
    if pool.caller_depth[row] and pool.callee_depth[row]:
        return "both"
    if pool.caller_depth[row] or pool.callee_depth[row]:
        return "caller" if pool.caller_depth[row] else "callee"
    return "related" if pool.predecessor[row] >= 0 else None


def _graph(selection: Selection) -> dict[str, dict[int, dict[str, Any]]]:
    """Callers and callees of the anchors among what goes out, by row, in the order of rank (SC-GRAG-002); `depth`
    counts the calls between."""
    pool = selection.pool
    return {
        side: {
            row: {"symbol_id": pool.symbol_id[row], "file_path": pool.path[row], "depth": int(depth[row])}
            for row in selection.kept_rows
            if depth[row]
        }
        for side, depth in (("callers", pool.caller_depth), ("callees", pool.callee_depth))
    }


def _number(value: float) -> float:
    return round(float(value), DIGITS) + 0.0  # no negative zero
