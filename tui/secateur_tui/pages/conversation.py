"""A transcript: what of its messages goes out under a safe zone, and what that does to a
provider's prompt cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from secateur.kinds.base import Outcome
from secateur.kinds.conversation.decisions import MeasuredTranscript, MessageDecision, Pruned
from secateur.kinds.conversation.kind import item_of, message_of, parsed, text_going_out
from secateur.kinds.conversation.messages import Message, PartKind
from secateur.kinds.conversation.unreadable import UnreadLine
from secateur.model import State
from secateur.terminal import visible

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.styled_text import ELLIPSIS, Line, Span, fit, line, wrapped
from secateur_tui.widgets.texts import wrapped_text

_ROLE_CELLS, _TOOL_CELLS = 9, 12
_ROOMY = 50
"""Cells from which roles are written out."""
_SHORT = {
    "assistant": "asst",
    "developer": "dev",
    "function": "func",
    "system": "sys",
    "aside": "–",
    "damaged": "?",
    "request": "req",
    "summary": "sum",
}
_SHORT_ROLE_CELLS, _SHORT_TOOL_CELLS = 4, 8
_FIRST_CHARS = 400
"""Characters of a message's beginning that are looked at for its line."""
_FIRST_PARTS = 20
"""Parts of a message that are looked at for its line."""


class ConversationPage(KindPage[MeasuredTranscript, Pruned]):
    """The look of the Conversation bench."""

    def notices(self, answer: LedgerAnswer[Outcome[Pruned]]) -> Sequence[tuple[str, str]]:
        cache = answer.result.payload.cache
        held = answer.settings.conversation_prune.keep_tools
        told = [(f"results of {', '.join(held)} are held", "faint")] if held else []
        if cache.first_changed is None:
            return [*told, ("prompt cache: nothing is read again", "faint")]
        words = (
            f"prompt cache: from #{cache.first_changed:,} on {cache.reread_tokens:,} tokens are read again,"
            f" {cache.tokens_saved:,} saved; {_pays(answer)}"
        )
        return [*told, (words, "accent")]

    def lead_title(self, answer: LedgerAnswer[Outcome[Pruned]]) -> str:
        return f"{'#':>{_digits(answer)}} "

    def lead(self, answer: LedgerAnswer[Outcome[Pruned]], item: int) -> str:
        row, cache = item_of(answer.result.payload, item), answer.result.payload.cache
        number = "" if row is None or row.number < 0 else f"{row.number:,}"
        cached = row is None or cache.first_changed is None or 0 <= row.number < cache.first_changed
        return f"{number:>{_digits(answer)}}{'=' if cached else ' '}"

    def tail_title(self, answer: LedgerAnswer[Outcome[Pruned]]) -> str:
        return " share role, tool, beginning"

    def tail(self, answer: LedgerAnswer[Outcome[Pruned]], item: int, cells: int) -> Line:
        message = message_of(answer.result.payload, item)
        share = answer.entries[item].before / max(1, answer.ledger.budget)
        role, tools = _role(answer, item), _tools(message)
        role_cells, tool_cells = (
            (_ROLE_CELLS, _TOOL_CELLS) if cells >= _ROOMY else (_SHORT_ROLE_CELLS, _SHORT_TOOL_CELLS)
        )
        room = cells - 6 - role_cells - tool_cells - 3
        words = fit(visible(_first_words(message)), room) if message is not None and room > 0 else ""
        said = fit(role if cells >= _ROOMY else _SHORT.get(role, role), role_cells)
        return line(f"{share:>6.1%} ", said, " ", fit(visible(tools), tool_cells), " ", Span(words, "faint"))

    def facets(self, answer: LedgerAnswer[Outcome[Pruned]]) -> Mapping[str, Callable[[], Sequence[str]]]:
        items = range(len(answer))
        return {
            "role": lambda: [_role(answer, item) for item in items],
            "tool": lambda: [_tools(message_of(answer.result.payload, item)) for item in items],
        }

    def facts(self, answer: LedgerAnswer[Outcome[Pruned]], item: int, cells: int) -> list[Line]:
        row, message = item_of(answer.result.payload, item), message_of(answer.result.payload, item)
        share = answer.entries[item].before / max(1, answer.ledger.budget)
        cached = self.lead(answer, item).endswith("=")
        lines = wrapped(
            f"{share:.1%} of the safe zone; {'still' if cached else 'no longer'} in the cached"
            f" prefix{' (=)' if cached else ''}",
            cells,
        )
        if row is None:
            return [*lines, *wrapped("system prompt and tools of the request", cells, "faint")]
        for part in message.parts if message is not None else ():
            if part.kind in (PartKind.CALL, PartKind.RESULT):
                success = {True: " that succeeded", False: " that failed", None: ""}[part.success]
                kind = "call of" if part.kind is PartKind.CALL else "result of"
                lines += wrapped(visible(f"{kind} {part.tool or 'a tool without a name'}{success}"), cells, "faint")
        stands = _stands_for(answer, item)
        if stands is not None:
            lines += [
                (),
                *wrapped("this summary stands for it:", cells, "faint"),
                *_beginning(text_going_out(answer.result.payload, stands), cells, "summarised"),
            ]
        elif row.cleaned and row.message is not None:
            lines += [
                (),
                *wrapped("in place of what was cleared:", cells, "faint"),
                *_placeholders(row, message, answer, cells),
            ]
        return lines


def _pays(answer: LedgerAnswer[Outcome[Pruned]]) -> str:
    rules = answer.settings.conversation_prune
    requests = answer.result.payload.cache.pays_after(rules.cache_read_price, rules.cache_write_price)
    return "never pays" if requests is None else f"pays after {requests:,} request{'' if requests == 1 else 's'}"


def _stands_for(answer: LedgerAnswer[Outcome[Pruned]], item: int) -> MessageDecision | None:
    """The summary in which a message is told: the first of those right before the run of messages it belongs to."""
    row = item_of(answer.result.payload, item)
    if row is None or row.state is not State.SUMMARISED or row.number < 0:
        return None
    items = answer.result.payload.items
    place = item - (answer.result.payload.transcript.head is not None)
    while place >= 0 and items[place].number >= 0:
        place -= 1
    while place > 0 and items[place - 1].number < 0:
        place -= 1
    return items[place] if place >= 0 else None


def _placeholders(
    row: MessageDecision, message: Message | None, answer: LedgerAnswer[Outcome[Pruned]], cells: int
) -> list[Line]:
    """The texts of results that are others now."""
    out = parsed(row, answer.result.payload.transcript)
    if message is None or out is None:
        return []
    pairs = zip(message.parts, out.parts, strict=False)
    return [part for then, now in pairs if then.text != now.text for part in _beginning(now.text, cells, "shortened")]


def _beginning(text: str, cells: int, role: str) -> list[Line]:
    """The beginning of a text, line by line; that there is more is said."""
    shown = text[:_FIRST_CHARS] + (ELLIPSIS if len(text) > _FIRST_CHARS else "")
    return [line(Span(part, role)) for part in wrapped_text(visible(shown, keep_newlines=True), cells)]


def _first_words(message: Message) -> str:
    """The beginning of a message."""
    if isinstance(message.raw, UnreadLine):
        return " ".join(message.raw[:_FIRST_CHARS].split())
    text = " ".join(part.text[:_FIRST_CHARS] for part in message.parts[:_FIRST_PARTS] if part.text)
    return " ".join(text[:_FIRST_CHARS].split())


def _digits(answer: LedgerAnswer[Outcome[Pruned]]) -> int:
    return max(4, len(f"{len(answer.result.payload.transcript.messages):,}"))


def _role(answer: LedgerAnswer[Outcome[Pruned]], item: int) -> str:
    row, message = item_of(answer.result.payload, item), message_of(answer.result.payload, item)
    if row is None or row.number < 0:
        return "request" if row is None else "summary"
    return message.role if message is not None else ""


def _tools(message: Message | None) -> str:
    """The tools that the first parts of a message name."""
    parts = message.parts[:_FIRST_PARTS] if message is not None else ()
    return ", ".join(dict.fromkeys(part.tool for part in parts if part.tool))
