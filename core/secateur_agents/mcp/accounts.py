"""Turns a decision of any kind of context into the answer of a tool: kept items in pages, the others with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from secateur import Kind, Notice, Outcome, State, clip

from secateur_agents.mcp import shapes
from secateur_agents.mcp.pages import Count, as_json, cursor_of, first_fitting, split_pages
from secateur_agents.mcp.roots import Roots

ITEMS_LISTED, LEFT_OUT_LISTED = 40, 5  # most items that an answer lists; the others are counted
_ITEMS_ROOM, _LEFT_OUT_ROOM, WARNINGS_ROOM = 1_500, 500, 400  # most tokens for these parts of an answer

MOST_PAID, LEAST_BUDGET = 1.1, 400
"""Most tokens of an answer to a budget, as a share of it. Below the least budget, that one counts: the name of a result
and a warning need some room."""

_COUNTED_TOKENS = 12  # room for the two lines that count what found none

_REASON_CHARS = 240
_PLACE = re.compile(r"(.+):(\d+(?:-\d+)?)")


def account_of(
    kind: Kind[Any, Any],
    outcome: Outcome[Any],
    count: Count,
    roots: Roots,
    notices: Iterable[Notice],
    asked: object,
    names: tuple[list[str], int] | None = None,
) -> tuple[shapes.PrunedAnswer, list[str]]:
    """Returns the first page of an answer, and the texts of all pages.

    Args:
        notices: about the settings; those of the outcome follow.
        asked: the arguments, which determine the name of the result together with the text.
        names: pages of names in place of the text, and their budget.
    """
    pages = names[0] if names else split_pages(kind.pieces(outcome), count)
    ledger = outcome.ledger
    numbers, dropped = ledger.listed(LEFT_OUT_LISTED), ledger.sums[State.DROPPED].number
    kept = [number for number in numbers if ledger.entries[number].state is not State.DROPPED]
    others = [number for number in numbers if ledger.entries[number].state is State.DROPPED]
    items = first_fitting(
        (item_of(kind, outcome, number) for number in kept[:ITEMS_LISTED]), count, _ITEMS_ROOM, as_json
    )
    best = (item_of(kind, outcome, number) for number in others[:LEFT_OUT_LISTED])
    left_out = first_fitting(best, count, _LEFT_OUT_ROOM, as_json)
    warnings = list(dict.fromkeys(roots.hide_paths(notice.message) for notice in (*notices, *outcome.notices)))
    name = name_of(asked, *pages)
    answer = shapes.PrunedAnswer(
        result=name,
        kind=kind.name,
        text=pages[0],
        tokens=count(pages[0]) if names else ledger.after,
        budget=names[1] if names else ledger.budget,
        names=names is not None,
        before=ledger.before,
        items=items,
        items_more=len(kept) - len(items),
        left_out=left_out,
        left_out_more=dropped - len(left_out),
        warnings=first_fitting(warnings, count, WARNINGS_ROOM, str),
        pages=len(pages),
        next=cursor_of(name, 2) if len(pages) > 1 else "",
    )
    return answer, pages


def name_of(*parts: object) -> str:
    """Returns a name that identifies a result: the same call in the same state has the same name."""
    digest = blake2b(digest_size=6)
    for part in parts:
        data = repr(part).encode("utf-8", "replace")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def item_of(kind: Kind[Any, Any], outcome: Outcome[Any], number: int) -> shapes.ResultItem:
    """Describes an entry, with its reason in words."""
    description, entry = kind.describe(outcome, number), outcome.ledger.entries[number]
    match = _PLACE.fullmatch(description.place or description.name)
    return shapes.ResultItem(
        id=entry.id,
        state=entry.state.label,
        reason=clip(description.because, _REASON_CHARS),
        tokens=entry.after or entry.before,
        file=match[1] if match else "",
        lines=match[2] if match else "",
        redacted=[f"{redaction.rule}, line {redaction.line}" for redaction in entry.redactions],
    )


# --- as text ----------------------------------------------------------------------------------------------------------


def text_of(answer: shapes.ToolAnswer, count: Count) -> str:
    """Formats an answer as the text that a model reads."""
    if isinstance(answer, shapes.PrunedAnswer):
        return "\n".join(_pruned_lines(answer, count))
    if isinstance(answer, shapes.ExpandedSymbol):
        return "\n".join(_expanded_lines(answer))
    if isinstance(answer, shapes.RecalledText):
        more = f"\n--- {answer.more:,} line{'s'[: answer.more > 1]} more: name them"
        return answer.text + (more if answer.more else "")
    assert isinstance(answer, shapes.ExplainedItem)
    return "\n".join(_explained_lines(answer))


def _pruned_lines(answer: shapes.PrunedAnswer, count: Count) -> Iterable[str]:
    """Yields the text, the name of the result, and what has room beside them: warnings first."""
    yield answer.text
    page = _page_words(answer.page, answer.pages, answer.next)
    name = f"--- {answer.kind}, result {answer.result}, {answer.tokens:,} of {answer.before:,} tokens{page}"
    yield name
    room = int(MOST_PAID * max(answer.budget, LEAST_BUDGET)) - count(f"{answer.text}\n{name}\n") - _COUNTED_TOKENS
    first = [*(f"warning: {warning}" for warning in answer.warnings), *_fresh_lines(answer.freshness)]
    more = len(answer.left_out) + answer.left_out_more
    left_out = [f"left out: {_format_item(item)}, {item.tokens:,} tokens: {item.reason}" for item in answer.left_out]
    if answer.names:  # what the budget of source would leave out is another matter
        more, left_out = 0, []
    fitting = first_fitting([*first, *left_out], count, room, str)
    yield from fitting
    if len(fitting) < len(answer.warnings):
        missing = len(answer.warnings) - len(fitting)
        yield f"{missing:,} warning{'' if missing == 1 else 's'} found no room: ask with a larger budget"
    more -= max(0, len(fitting) - len(first))
    if more:
        yield f"{more:,} more left out"


def _expanded_lines(answer: shapes.ExpandedSymbol) -> Iterable[str]:
    yield f"{_place_and_name(answer.at, answer.id)} ({answer.kind})"
    yield answer.text
    for title, ends, more in (
        ("callers", answer.callers, answer.callers_more),
        ("callees", answer.callees, answer.callees_more),
    ):
        if answer.page == 1:
            yield f"{title}:" + ("" if ends else " none known")
        for end in ends:
            via = f", step {end.step} by {end.via}" if end.via else ""
            sites = f", {end.sites} sites" if end.sites > 1 else ""
            yield f"- {_place_and_name(end.at, end.id)} ({end.how}, certainty {end.certainty:.2f}{sites}{via})"
        if more:
            yield f"- and {more:,} more"
    if answer.pages > 1:
        yield f"---{_page_words(answer.page, answer.pages, answer.next)}"
    yield from (f"warning: {warning}" for warning in answer.warnings)
    yield from _fresh_lines(answer.freshness)


def _explained_lines(answer: shapes.ExplainedItem) -> Iterable[str]:
    item = answer.item
    yield f"{_format_item(item)}: {item.state}, {answer.before:,} tokens; {item.reason}"
    for turn in answer.turns:
        yield f"- {turn.change} turns it" + (f", and {turn.also}" if turn.also else "")
    if answer.nothing:
        yield f"- {answer.nothing}"
    yield from (f"{label}: {text}" for label, text in answer.facts.items())
    yield f"proven by deciding again {answer.decided_again:,} times"
    yield from _fresh_lines(answer.freshness)


def _place_and_name(at: str, symbol: str) -> str:
    file = at.rpartition(":")[0]
    return f"{at} {symbol.removeprefix(f'{file}::')}"


def _format_item(item: shapes.ResultItem) -> str:
    return f"{item.id} ({item.file}:{item.lines})" if item.file else item.id


def _page_words(page: int, pages: int, following: str) -> str:
    if pages == 1:
        return ""
    return f", page {page} of {pages}" + (f", next: cursor {following}" if following else "")


def _fresh_lines(freshness: shapes.Freshness | None) -> Iterable[str]:
    if freshness is None:
        return
    changed = len(freshness.changed) + freshness.changed_more
    changes = f"; {changed:,} files changed since: {', '.join(freshness.changed)}" if changed else ""
    yield f"index of {freshness.commit[:10] or 'files without a commit'}{changes}"
