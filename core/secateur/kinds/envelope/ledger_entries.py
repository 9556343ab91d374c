"""Makes the ledger of an envelope: an entry for each trimmed part, then for each unchanged one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from secateur.kinds.envelope.cut_record import CutRecord, Known
from secateur.kinds.envelope.remains import describe_remains
from secateur.kinds.envelope.sections import (
    TARGET,
    EnvelopeValue,
    Path,
    digest_of,
    is_entry,
    section_of,
    text_of,
    value_at,
    walk,
)
from secateur.ledger import CHARS_AFTER, CHARS_BEFORE, Figure
from secateur.model import Entry, Ledger, Reason, State
from secateur.render.sentences import phrase
from secateur.settings import ContextBudget
from secateur.tokens import Counter


def make_ledger(
    original: dict[str, Any],
    text_before: str,
    trimmed: Any,
    cut_record: CutRecord,
    pinned: Collection[Path],
    before: int,
    after: int,
    budget: int,
    rules: ContextBudget,
    counter: Counter,
    known: Known,
) -> tuple[Ledger, tuple[tuple[Path, int | None], ...]]:
    """Makes the ledger: one entry per trimmed part, by action and path, none inside another; then what is unchanged,
    then the wrapper. Returns it with the locations of the entries."""
    rows = cut_record.sections(pinned)
    unchanged = list(_unchanged_paths(original, {path: start for path, start, *_ in rows}, pinned))
    reasons = dict.fromkeys(pinned, Reason.PINNED) | {(TARGET,): Reason.TARGET}
    rows += [(path, None, State.KEPT, reasons.get(path, Reason.FITS)) for path in unchanged]
    entries = []
    for path, start, state, reason in rows:
        now = None if state is State.KEPT else text_at(trimmed, path, start)
        cut = path, start, state, reason, tuple(cut_record.reasons.get(path, ()))
        key = counter.name, rules.keep_items, rules.keep_chars, *cut, digest_of(now or "")
        entries.append(known.once(key, partial(_make_entry, original, trimmed, *cut, now, rules, counter)))
    around = {
        side: len(text) - sum(int(entry.figures[side]) for entry in entries)
        for side, text in ((CHARS_BEFORE, text_before), (CHARS_AFTER, text_of(trimmed)))
    }
    beside = before - sum(entry.before for entry in entries)
    ledger = Ledger.closed("envelope", budget, entries, after, around=beside, figures=around)
    return ledger, tuple((path, start) for path, start, _, _ in rows)


def _make_entry(
    original: dict[str, Any],
    trimmed: Any,
    path: Path,
    start: int | None,
    state: State,
    reason: Reason,
    reasons: Sequence[Reason],
    now: str | None,
    rules: ContextBudget,
    counter: Counter,
) -> Entry:
    """`reasons`: of all cuts of the value; `now`: its text after them, None if there were none."""
    then = text_at(original, path, start)
    name = section_of(path) + ("" if start is None else f"[{start}:]")
    before = counter.count(then)
    figures: dict[str, Figure] = {CHARS_BEFORE: len(then), CHARS_AFTER: len(then if now is None else now)}
    if now is None:
        return Entry(name, state, reason, before, before, figures)
    figures["steps"] = _describe_steps(original, path, reasons, rules)
    figures["left"] = describe_remains(value_at(original, path), value_at(trimmed, path), start)
    return Entry(name, state, reason, before, before if now == then else counter.count(now), figures)


def _unchanged_paths(
    original: dict[str, Any], cut: Mapping[Path, int | None], pinned: Collection[Path]
) -> Iterator[Path]:
    """Yields the paths of sections without a cut or pin; in the other sections those of fields and entries beside them.
    `cut`: path of a cut value, or of a list -> the first position of its cut end."""
    above = {path[:length] for path in cut for length in range(1, len(path))}
    above |= {path for path, start in cut.items() if start is not None}
    around = {path[:length] for path in pinned if path[0] != TARGET for length in range(1, len(path))}

    def leads_on(node: EnvelopeValue) -> bool:
        return node.path in around or (node.path in above and not is_entry(node))

    for section in original:
        root = EnvelopeValue(original, section, (section,))
        for node in walk(root, into=leads_on):
            end = cut.get(node.path[:-1]) if isinstance(node.key, int) else None
            in_cut = node.path in cut or node.path in above or (end is not None and node.key >= end)
            listed = isinstance(node.key, str) or is_entry(node) or node.path in pinned
            if listed and not in_cut and node.path not in around:
                yield node.path


def _describe_steps(original: Any, path: Path, reasons: Sequence[Reason], rules: ContextBudget) -> str:
    """Says which stages cut a value, in their order; of those after the stages only the last, which goes furthest."""
    figures: dict[str, Figure] = {"first": rules.keep_items, "characters": rules.keep_chars}
    if isinstance(path[-1], int) and not isinstance(value_at(original, path), list):
        figures |= {"item": path[-1] + 1, "items": len(value_at(original, path[:-1]))}
    last = max(reasons)
    steps = [reason for reason in dict.fromkeys(reasons) if reason < Reason.SUMMARY_SHORTENED or reason is last]
    return "; ".join(phrase(reason, figures) for reason in steps)


def text_at(value: Any, path: Path, start: int | None) -> str:
    held = value_at(value, path)
    return text_of(held if start is None else held[start:])
