"""Turns a decision of any kind of context into the answer of a tool: kept items in pages, the others with reasons.

Pages have the size of an answer, so that no client has to cut it. Those of a search may list candidates by name.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec
import secateur

from secateur_agents.mcp import shapes
from secateur_agents.mcp.roots import Roots

ANSWER_TOKENS = 25_000  # clients cut longer answers
TEXT_TOKENS = 16_000  # Most tokens of a page's text. Counters of clients give up to half as many tokens more.
_LINE_CHARS = 4_000  # longer lines are split

# Most bytes of an answer to the client of this call. With most models, Codex takes the middle out of more than 12,000
# bytes, with its own two lines.
MOST_BYTES, CODEX_BYTES = 1 << 30, 11_900
answer_bytes: ContextVar[int] = ContextVar("answer_bytes", default=MOST_BYTES)
_TEXT_SHARE = 0.75  # of these bytes for the text of a page; calls, warnings and what was left out share the rest

# Default tokens of a page of names: fifteen or more. A second page costs less than listing it at once.
NAMES_TOKENS = 600

MOST_PAGES = 5  # most pages of names
LINE_TOKENS = 38  # mean tokens of a line that a page aims at; where paths are long, declarations are clipped for it

LEAST_LINE_TOKENS = 20

_DECLARATION_CELLS = (100, 60, 30)
_WORD = re.compile(r"[^\W_]+")
_WORDS, _WORD_CHARS = 3, 4  # most words of the query that a line repeats, and fewest characters of such a word
ITEMS_LISTED, LEFT_OUT_LISTED = 40, 5  # most items that an answer lists; the others are counted
_ITEMS_ROOM, _LEFT_OUT_ROOM, WARNINGS_ROOM = 1_500, 500, 400  # most tokens for these parts of an answer

# Most tokens of an answer to a budget, as a share of it. Below the least budget, that one counts: the name of a result
# and a warning need some room.
MOST_PAID, LEAST_BUDGET = 1.1, 400

_COUNTED_TOKENS = 12  # room for the two lines that count what found none

_REASON_CHARS = 240
_PLACE = re.compile(r"(.+):(\d+(?:-\d+)?)")

Count = Callable[[str], int]  # counts the tokens of a text

T = TypeVar("T")


def split_pages(pieces: Sequence[str], count: Count, limit: int = TEXT_TOKENS) -> list[str]:
    """Splits texts into pages: each text begins a page, and a longer one is split between lines.

    Joining the pages of a text gives the text.
    """
    pages: list[str] = []
    count = _bounded(count, limit)
    size = min(_LINE_CHARS, max(1, limit // 16))  # a character is at most a few tokens
    for piece in pieces:
        if count(piece) <= limit:
            pages.append(piece)
            continue
        lines = piece.splitlines(keepends=True)
        parts = (line[start : start + size] for line in lines for start in range(0, len(line), size))
        pages += fill_pages(parts, count, limit)
    return pages or [""]


def _bounded(count: Count, limit: int) -> Count:
    """Returns a count that exceeds `limit` also where a text has too many bytes for a page of the client."""
    room = int(answer_bytes.get() * _TEXT_SHARE)
    return lambda text: max(count(text), -(-_bytes(text) * limit // room))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def fill_pages(parts: Iterable[str], count: Count, limit: int) -> list[str]:
    """Joins parts to pages. Only a part that has too many tokens by itself exceeds a page."""
    pages, page, used = list[str](), list[str](), 0
    for part in parts:
        tokens = count(part) + 1  # joined parts may cost one token more than their sum
        if page and used + tokens > limit:
            pages.append("".join(page))
            page, used = [], 0
        page.append(part)
        used += tokens
    return [*pages, "".join(page)]


def first_fitting(items: Iterable[T], count: Count, room: int, written: Callable[[T], str]) -> list[T]:
    """Returns the first items that fit into so many tokens, each as it is written."""
    fitting: list[T] = []
    for item in items:
        room -= count(written(item)) + 1
        if room < 0:
            break
        fitting.append(item)
    return fitting


def as_json(item: object) -> str:
    """Writes an item as it is sent."""
    return msgspec.json.encode(item).decode()


def cursor_of(result: str, page: int) -> str:
    """Returns the cursor of a page, from 1."""
    return f"{result}.{page}"


def page_of_cursor(cursor: str) -> tuple[str, int]:
    """Parses a cursor into (result, page). Raises UsageError: it is not a valid cursor."""
    result, _, page = cursor.rpartition(".")
    if not result or not page.isascii() or not page.isdigit() or len(page) > 6:
        raise secateur.UsageError(
            "cursor is not valid for this server", hint="leave it out, or give the `next` of an answer"
        )
    return result, int(page)


def other_page() -> secateur.UsageError:
    """Returns the error of a cursor whose page the call does not have."""
    return secateur.UsageError(
        "cursor: this call has no such page; its files or its arguments changed", hint="call again without a cursor"
    )


def name_pages(engine: secateur.Engine, selection: secateur.Selection, budget: int, count: Count) -> list[str]:
    """Returns pages of at most `budget` tokens each, which list candidates of a search, the best first: place,
    declaration and what led to each."""
    pool = selection.pool
    rows = selection.order.tolist()[: MOST_PAGES * max(1, budget // LEAST_LINE_TOKENS)]
    sought = {word for word in _WORD.findall(pool.query.lower()) if len(word) >= _WORD_CHARS}
    found = []  # each with its declaration, and the words of the query that it holds
    for row in rows:
        declaration = content = name = pool.qualname[row]
        with suppress(secateur.SecateurError):  # its file changed since
            signature, content = engine.signature(pool, row), engine.content(pool, row)
            declaration = " ".join(("", *signature.split())).rstrip(" {:")
            declaration = declaration.replace(f" {name.rpartition('.')[2]}", f" {name}", 1)[1:]  # of which class
        found.append((row, declaration, sought & {*_WORD.findall(f"{pool.path[row]} {content}".lower())}))
    common = Counter(word for *_, words in found for word in words)
    for cells in _DECLARATION_CELLS:
        lines = (
            f"{pool.path[row]}:{pool.line_start[row]}-{pool.line_end[row]} {secateur.clip(declaration, cells)}"
            f" [{' '.join(sorted(words, key=lambda word: (common[word], word))[:_WORDS]) or _other_reason(pool, row)}]"
            for row, declaration, words in found
        )
        written = (secateur.visible(text) + "\n" for text in lines)
        fitting = (line for line in written if count(line) < budget)
        pages = fill_pages(fitting, _bounded(count, budget), budget)[:MOST_PAGES]
        if pages[0].count("\n") >= min(len(rows), min(budget, answer_bytes.get() // 6) // LINE_TOKENS):
            break
    return pages


def _other_reason(pool: secateur.Pool, row: int) -> str:
    """Names what led to a candidate that shares no word with the query: the call to it, or a part of its relevance."""
    parts = sorted((-float(column[row]), name) for name, column in pool.parts.get("relevance", {}).items())
    return (pool.predecessor_edge[row] or (parts[0][1] if parts and parts[0][0] else "")).replace("_", " ")


# --- answers ---------------------------------------------------------------------------------------------------------


def account_of(
    kind: secateur.Kind[Any, Any],
    outcome: secateur.Outcome[Any],
    roots: Roots,
    notices: Iterable[secateur.Notice],
    asked: shapes.PagedCall,
    names: int = 0,
) -> tuple[shapes.PrunedAnswer, list[str]]:
    """Returns the first page of an answer, and the texts of all pages.

    Args:
        notices: about the settings; those of the outcome follow.
        asked: the arguments, which determine the name of the result together with the text.
        names: tokens of a page with names of a search in place of the text; 0: the text.
    """
    count, found, ledger = secateur.get_counter(outcome.settings.tokens.counter).count, outcome.payload, outcome.ledger
    if names:
        pages = name_pages(found.engine, found.selection, names, count)
    else:
        pages = split_pages(kind.pieces(outcome), count)
    numbers, dropped = ledger.listed(LEFT_OUT_LISTED), ledger.sums[secateur.State.DROPPED].number
    kept = [number for number in numbers if ledger.entries[number].state is not secateur.State.DROPPED]
    others = [number for number in numbers if ledger.entries[number].state is secateur.State.DROPPED]
    first = (item_of(kind, outcome, number) for number in kept[:ITEMS_LISTED])
    items = first_fitting(first, count, _ITEMS_ROOM, as_json)
    best = (item_of(kind, outcome, number) for number in others[:LEFT_OUT_LISTED])
    left_out = first_fitting(best, count, _LEFT_OUT_ROOM, as_json)
    warnings = list(dict.fromkeys(roots.hide_paths(notice.message) for notice in (*notices, *outcome.notices)))
    name = name_of(msgspec.structs.replace(asked, cursor=""), *pages)
    answer = shapes.PrunedAnswer(
        result=name,
        kind=kind.name,
        text=pages[0],
        tokens=count(pages[0]) if names else ledger.after,
        budget=names or ledger.budget,
        names=bool(names),
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


def item_of(kind: secateur.Kind[Any, Any], outcome: secateur.Outcome[Any], number: int) -> shapes.ResultItem:
    """Describes an entry, with its reason in words."""
    description, entry = kind.describe(outcome, number), outcome.ledger.entries[number]
    match = _PLACE.fullmatch(description.place or description.name)
    return shapes.ResultItem(
        id=entry.id,
        state=entry.state.label,
        reason=secateur.clip(description.because, _REASON_CHARS),
        tokens=entry.after or entry.before,
        file=match[1] if match else "",
        lines=match[2] if match else "",
        redacted=[f"{redaction.rule}, line {redaction.line}" for redaction in entry.redactions],
    )


# --- as text ----------------------------------------------------------------------------------------------------------


def text_of(answer: shapes.ToolAnswer, count: Count) -> str:
    """Formats an answer as the text that a model reads."""
    lines, most = [*_lines_of(answer, count)], answer_bytes.get()
    fitting = first_fitting(lines, _bytes, most - 40, str)  # the page of text comes first, and always fits
    if len(fitting) < len(lines):
        fitting.append(f"{len(lines) - len(fitting):,} more lines found no room")
    return "\n".join(fitting)


def _lines_of(answer: shapes.ToolAnswer, count: Count) -> Iterable[str]:
    if isinstance(answer, shapes.RecalledText):
        yield answer.text
        if answer.more:
            yield f"--- {answer.more:,} line{'s'[: answer.more > 1]} more: name them"
        return
    assert isinstance(answer, shapes.PagedAnswer | shapes.ExplainedItem)
    fresh: list[str] = []
    if (state := answer.freshness) is not None:
        changed = len(state.changed) + state.changed_more
        changes = f"; {changed:,} files changed since: {', '.join(state.changed)}" if changed else ""
        fresh = [f"index of {state.commit[:10] or 'files without a commit'}{changes}"]
    if isinstance(answer, shapes.PrunedAnswer):
        yield from _pruned_lines(answer, count, fresh)
        return
    if isinstance(answer, shapes.ExplainedItem):
        yield f"{_format_item(answer.item)}: {answer.item.state}, {answer.before:,} tokens; {answer.item.reason}"
        for turn in answer.turns:
            yield f"- lever: {turn.change}" + (f"; {turn.also}" if turn.also else "")
        if answer.nothing:
            yield f"- {answer.nothing}"
        yield from (f"{label}: {text}" for label, text in answer.facts.items())
        yield f"proven by deciding again {answer.decided_again:,} times"
    elif isinstance(answer, shapes.ExpandedSymbol):
        yield f"{_place_and_name(answer.at, answer.id)} ({answer.kind})"
        yield answer.text
        if answer.pages > 1:
            yield f"---{_page_words(answer)[1:]}"
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
        yield from (f"warning: {warning}" for warning in answer.warnings)
    yield from fresh


def _pruned_lines(answer: shapes.PrunedAnswer, count: Count, fresh: list[str]) -> Iterable[str]:
    yield answer.text
    name = (
        f"--- {answer.kind}, result {answer.result}, {answer.tokens:,} of {answer.before:,} tokens{_page_words(answer)}"
    )
    yield name
    room = int(MOST_PAID * max(answer.budget, LEAST_BUDGET)) - count(f"{answer.text}\n{name}\n") - _COUNTED_TOKENS
    first = [*(f"warning: {warning}" for warning in answer.warnings), *fresh]
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


def _place_and_name(at: str, symbol: str) -> str:
    file = at.rpartition(":")[0]
    return f"{at} {symbol.removeprefix(f'{file}::')}"


def _format_item(item: shapes.ResultItem) -> str:
    return f"{item.id} ({item.file}:{item.lines})" if item.file else item.id


def _page_words(answer: shapes.PagedAnswer) -> str:
    if answer.pages == 1:
        return ""
    return f", page {answer.page} of {answer.pages}" + (f", next: cursor {answer.next}" if answer.next else "")
