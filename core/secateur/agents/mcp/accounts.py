"""A decision of any kind of context as the answer of a tool: what was kept, in pages, and what was left out and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from secateur.agents.mcp.pages import cursor_of, pages_of, texts_within, within
from secateur.agents.mcp.roots import Roots
from secateur.agents.mcp.shapes import ExpandedSymbol, ExplainedItem, Freshness, PrunedAnswer, ResultItem, ToolAnswer
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.conversation.kind import ConversationOutput
from secateur.kinds.diff.chunks import ChunkOutput
from secateur.ledger import NOT_LISTED, WRAPPER
from secateur.model import Entry, Notice, State
from secateur.render.page import counted
from secateur.terminal import clip
from secateur.tokens import Counter

ITEMS_LISTED, LEFT_OUT_LISTED = 40, 5
"""Most items that an answer names; what else there is, is counted."""

_ITEMS_ROOM, _LEFT_OUT_ROOM, WARNINGS_ROOM = 1_500, 500, 400
"""Tokens that these may take in an answer."""

_REASON_CHARS = 240
_PLACE = re.compile(r"(.+):(\d+(?:-\d+)?)")


def account_of(
    kind: Kind[Any, Any],
    outcome: Outcome[Any],
    counter: Counter,
    roots: Roots,
    notices: Iterable[Notice],
    asked: object,
) -> tuple[PrunedAnswer, list[str]]:
    """The first page of an answer, and the texts of all pages.

    Args:
        notices: about the settings; those of the outcome follow.
        asked: the arguments, which the name of the result depends on beside the text.
    """
    pages = pages_of(_pieces(kind, outcome), counter.count)
    ledger, numbers = kind.listed(outcome, LEFT_OUT_LISTED)

    def item(place: int, entry: Entry) -> ResultItem:
        return item_of(kind, outcome, numbers[place], entry)

    kept: list[tuple[int, Entry]] = []
    dropped: list[tuple[int, Entry]] = []
    unnamed = 0
    for place, entry in enumerate(ledger.entries):
        if entry.id.startswith(NOT_LISTED):
            unnamed += int(entry.figures.get("items", 0)) if entry.state is State.DROPPED else 0
        elif entry.id != WRAPPER:
            (dropped if entry.state is State.DROPPED else kept).append((place, entry))
    count = counter.count
    items = within((item(place, entry) for place, entry in kept[:ITEMS_LISTED]), count, _ITEMS_ROOM)
    left_out = within((item(place, entry) for place, entry in dropped[:LEFT_OUT_LISTED]), count, _LEFT_OUT_ROOM)
    warnings = list(dict.fromkeys(roots.hidden(notice.message) for notice in (*notices, *outcome.notices)))
    name = name_of(asked, *pages)
    answer = PrunedAnswer(
        result=name,
        kind=kind.name,
        text=pages[0],
        tokens=ledger.after,
        budget=ledger.budget,
        before=ledger.before,
        items=items,
        items_more=len(kept) - len(items),
        left_out=left_out,
        left_out_more=len(dropped) - len(left_out) + unnamed,
        warnings=texts_within(warnings, count, WARNINGS_ROOM),
        pages=len(pages),
        next=cursor_of(name, 2) if len(pages) > 1 else "",
    )
    return answer, pages


def name_of(*parts: object) -> str:
    """A name that tells results apart: the same call of the same state has the same one."""
    digest = blake2b(digest_size=6)
    for part in parts:
        data = repr(part).encode("utf-8", "replace")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def item_of(kind: Kind[Any, Any], outcome: Outcome[Any], number: int, entry: Entry) -> ResultItem:
    """An entry, which has this number in the whole ledger, with its reason in words."""
    name, place = kind.name_of(outcome, number)
    found = _PLACE.fullmatch(place or name)
    return ResultItem(
        id=entry.id,
        state=entry.state.label,
        reason=clip(kind.because(outcome, number), _REASON_CHARS),
        tokens=entry.after or entry.before,
        file=found[1] if found else "",
        lines=found[2] if found else "",
        redacted=[f"{one.rule}, line {one.line}" for one in entry.redactions],
    )


def _pieces(kind: Kind[Any, Any], outcome: Outcome[Any]) -> Sequence[str]:
    """The texts that leave, each of which begins a page: chunks are apart, messages are a JSON value a line, of all
    else it is what a model reads."""
    if "markdown" in kind.formats and kind.finds_entries:
        return [kind.document(outcome, "markdown")]
    output = kind.output(outcome)
    if isinstance(output, ChunkOutput):
        return [chunk.text for chunk in output.chunks]
    if isinstance(output, ConversationOutput):
        messages = output.messages
        return ["".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)]
    return [kind.document(outcome, "markdown") if "markdown" in kind.formats else kind.leaving(outcome)]


# --- as text ----------------------------------------------------------------------------------------------------------


def text_of(answer: ToolAnswer) -> str:
    """The same answer as text, for clients that show no structured content."""
    if isinstance(answer, PrunedAnswer):
        return "\n".join(_pruned_lines(answer))
    if isinstance(answer, ExpandedSymbol):
        return "\n".join(_expanded_lines(answer))
    assert isinstance(answer, ExplainedItem)
    return "\n".join(_explained_lines(answer))


def _pruned_lines(answer: PrunedAnswer) -> Iterable[str]:
    yield answer.text
    yield f"--- {answer.kind}, result {answer.result}{_page_words(answer.page, answer.pages, answer.next)}"
    yield f"{answer.tokens:,} tokens of {answer.before:,} kept, budget {answer.budget:,}"
    if answer.left_out:
        yield "left out:"
        yield from (f"- {_named(item)}, {item.tokens:,} tokens: {item.reason}" for item in answer.left_out)
        if answer.left_out_more:
            yield f"- and {answer.left_out_more:,} more"
    yield from (f"warning: {warning}" for warning in answer.warnings)
    yield from _fresh_lines(answer.freshness)


def _expanded_lines(answer: ExpandedSymbol) -> Iterable[str]:
    yield f"{answer.id} ({answer.kind}, {answer.at})"
    yield answer.text
    for title, ends, more in (
        ("callers", answer.callers, answer.callers_more),
        ("callees", answer.callees, answer.callees_more),
    ):
        if answer.page == 1:
            yield f"{title}:" + ("" if ends else " none known")
        for end in ends:
            via = f", step {end.step} by {end.via}" if end.via else ""
            yield f"- {end.id} ({end.at}; {end.how}, certainty {end.certainty:.2f}, {counted(end.sites, 'site')}{via})"
        if more:
            yield f"- and {more:,} more"
    if answer.pages > 1:
        yield f"---{_page_words(answer.page, answer.pages, answer.next)}"
    yield from (f"warning: {warning}" for warning in answer.warnings)
    yield from _fresh_lines(answer.freshness)


def _explained_lines(answer: ExplainedItem) -> Iterable[str]:
    item = answer.item
    yield f"{_named(item)}: {item.state}, {answer.before:,} tokens; {item.reason}"
    for turn in answer.turns:
        yield f"- {turn.change} turns it" + (f", and {turn.also}" if turn.also else "")
    if answer.nothing:
        yield f"- {answer.nothing}"
    yield from (f"{label}: {told}" for label, told in answer.facts.items())
    yield f"proven by deciding again {answer.decided_again:,} times"
    yield from _fresh_lines(answer.freshness)


def _named(item: ResultItem) -> str:
    return f"{item.id} ({item.file}:{item.lines})" if item.file else item.id


def _page_words(page: int, pages: int, following: str) -> str:
    if pages == 1:
        return ""
    return f", page {page} of {pages}" + (f", next: cursor {following}" if following else "")


def _fresh_lines(freshness: Freshness | None) -> Iterable[str]:
    if freshness is None:
        return
    changed = len(freshness.changed) + freshness.changed_more
    said = f"; {changed:,} files changed since: {', '.join(freshness.changed)}" if changed else ""
    yield f"index of {freshness.commit[:10] or 'files without a commit'}, looked at {freshness.indexed}{said}"
