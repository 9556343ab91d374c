"""A transcript: what of its messages goes out under a safe zone, and what that does to a
provider's prompt cache."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import ClassVar

from msgspec import structs
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.conversation.decisions import MeasuredTranscript, MessageDecision, Pruned
from secateur.kinds.conversation.folds import LiveLedger, describe_ledger, find_cut
from secateur.kinds.conversation.growing_transcript import CHANGED, COMPACTED, FOLLOWED, GONE
from secateur.kinds.conversation.kind import (
    describe_share,
    first_words,
    head_of,
    item_of,
    message_of,
    parse_item,
    share_of,
    text_going_out,
    tools_of,
)
from secateur.kinds.conversation.messages import Message, PartKind
from secateur.kinds.conversation.session_facts import session_facts
from secateur.kinds.conversation.session_report import forecast_words
from secateur.ledger import WRAPPER
from secateur.model import State
from secateur.progress import Progress
from secateur.render.page import count_noun, sentence
from secateur.settings import Settings
from secateur.terminal import cell_width, visible
from secateur_lab.scenarios.check import OpenedScenario

from secateur_tui.pages.kind_page import KindPage, Scene
from secateur_tui.short_names import Label, ListColumn, sample_items, shorten_name, shorten_words
from secateur_tui.state.answer import ShownAnswer, ledger_answer
from secateur_tui.state.bench_state import Inputs
from secateur_tui.state.input_files import SessionWatch
from secateur_tui.styled_text import ELLIPSIS, Line, Span, clip_line, line, wrap_words
from secateur_tui.widgets.item_pages import wrap_text
from secateur_tui.widgets.listing import ItemListing, label_wrapper

_LEAST_TOOL, _TOOL_CELLS, _SHARE_CELLS = 8, 14, 6
# The description in the definition of a tool: all definitions of a request begin alike.
_DESCRIPTION = re.compile(r'\{(?>.*?"description": ?")(.+?)"[,}]')

_FIRST_CHARS = 400  # characters of a text's beginning that stand below the reason


class ConversationListing(ItemListing):
    """Lists messages by number, each with its tools and its share of the budget."""

    titles: ClassVar[tuple[str, str]] = ("role", "beginning")
    ordered_by: ClassVar[str] = "number"

    def list_columns(self) -> Sequence[ListColumn]:
        digits = len(f"{len(self.answer.outcome.payload.transcript.messages):,}")
        return (ListColumn.fixed("number", "#", max(3, digits + 1), 2), *super().list_columns())

    def own_columns(self) -> Sequence[ListColumn]:
        cells, share = _measure_tools(self.answer.outcome), ListColumn.fixed("share", "share", _SHARE_CELLS, 7)
        return (ListColumn("tool", "tool", _LEAST_TOOL, max(_LEAST_TOOL, cells), 5), share) if cells else (share,)

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        pruned = self.answer.outcome.payload
        if column.id == "number":
            row = item_of(pruned, item)
            shown = "" if row is None or row.number < 0 else f"{row.number:,}"
            return line(Span(f"{shown}{'=' if _is_cached(pruned, item) else ' '}", "faint"))
        if column.id == "share":
            after = self.after(item)
            return line(f"{share_of(pruned, after):.1%}") if after >= 0 else ()
        if column.id == "tool":
            tools = _list_tools(message_of(pruned, item))
            return line(shorten_words(tools, cells) if ", " in tools else shorten_name(tools, cells))
        return super().cell(item, column, cells)

    @staticmethod
    def label_of(answer: ShownAnswer[Pruned], item: int) -> Label:
        if answer.entries[item].id == WRAPPER:
            return label_wrapper(answer.entries[item])
        message = message_of(answer.outcome.payload, item)
        role, words = _role(answer.outcome.payload, item), visible(first_words(message)) if message is not None else ""
        described = _DESCRIPTION.match(words) if role == "request" else None
        return Label(role, described[1] if described else words, prose=True)


class ConversationPage(KindPage[MeasuredTranscript, Pruned]):
    """The look of the Conversation bench."""

    listing_type = ConversationListing
    grows: bool = True
    first_warnings: ClassVar[Collection[str]] = (GONE, CHANGED, COMPACTED)

    def __init__(self, kind: Kind[MeasuredTranscript, Pruned], opened: OpenedScenario | None = None) -> None:
        super().__init__(kind, opened)
        self.outside = structs.replace(self.outside, shared={FOLLOWED: {}})  # a session that has grown is read on
        self.watch = SessionWatch()
        self.live: LiveLedger | None = None  # of the session, where it was made

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> MeasuredTranscript:
        """Releases the material at once: a growing session holds nothing that was read."""
        material = super().read(inputs, settings, progress)
        self.release()
        return material

    def draw_caption(self, scene: Scene, cells: int) -> Line:
        if self.live is None:
            return super().draw_caption(scene, cells)
        return clip_line(line(Span(f" Live: {describe_ledger(self.live)} ", "faint")), cells)

    def notices(self, answer: ShownAnswer[Pruned]) -> Sequence[tuple[str, str]]:
        cache, measured = answer.outcome.payload.cache, answer.outcome.payload.measured
        rules = answer.settings.conversation_prune
        held = ", ".join(rules.keep_tools)
        notices = [(f"results of {held} are pinned", "faint")] if held else []
        facts = session_facts(measured, answer.settings.context_budget.windows) if measured is not None else None
        if facts is not None and facts.window:
            soon = f"; {forecast_words(facts.forecast, brief=True)}" if facts.forecast is not None else ""
            notices.append((f"window: {facts.filled:,} of {facts.window:,} tokens{soon}", "faint"))
        if cache.first_changed is None:
            return [*notices, ("prompt cache: nothing is read again", "faint")]
        requests = cache.pays_after
        pays = "never pays" if requests is None else f"pays after {count_noun(requests, 'request')}"
        words = (
            f"prompt cache: from #{cache.first_changed:,} on {cache.reread_tokens:,} tokens are read again,"
            f" {cache.tokens_saved:,} saved; {pays}"
        )
        return [*notices, (words, "accent")]

    def make_answer(self, settings: Settings, outcome: Outcome[Pruned]) -> ShownAnswer[Pruned]:
        answer = ledger_answer(
            settings,
            outcome,
            facets={
                "role": lambda: [_role(outcome.payload, item) for item in range(len(answer))],
                "tool": lambda: [_list_tools(message_of(outcome.payload, item)) for item in range(len(answer))],
            },
        )
        return answer

    def facts(self, answer: ShownAnswer[Pruned], item: int, cells: int) -> list[Line]:
        payload = answer.outcome.payload
        row, message = item_of(payload, item), message_of(payload, item)
        cached = "still in the cached prefix (=)" if _is_cached(payload, item) else "no longer in the cached prefix"
        lines = wrap_words(f"{describe_share(payload, item)}; {cached}", cells)
        if row is None:
            return [*lines, *wrap_words("of the request, before its messages", cells, "faint")]
        for part in message.parts if message is not None else ():
            if part.kind in (PartKind.CALL, PartKind.RESULT):
                success = {True: " that succeeded", False: " that failed", None: ""}[part.success]
                kind = "call of" if part.kind is PartKind.CALL else "result of"
                lines += wrap_words(visible(f"{kind} {part.tool or 'a tool without a name'}{success}"), cells, "faint")
        if self.live is not None and (decided := find_cut(self.live, row.number)) is not None:
            cut, entry = decided
            sizes = f"{entry.before:,} -> {entry.after:,} tokens before request {cut.request:,}"
            lines += wrap_words(f"Live: {entry.state.label}, {sizes}: {sentence(entry)}", cells)
        if (stands := _find_summary(payload, item)) is not None:
            lines += [(), *wrap_words("this summary stands for it:", cells, "faint")]
            lines += _draw_beginning(text_going_out(payload, stands), cells, "summarised")
        elif row.cleaned and row.message is not None:
            lines += [(), *wrap_words("in place of what was cleared:", cells, "faint")]
            out = parse_item(row, payload.transcript)
            pairs = zip(message.parts, out.parts, strict=False) if message is not None and out is not None else ()
            for then, now in pairs:
                if then.text != now.text:
                    lines += _draw_beginning(now.text, cells, "shortened")
        return lines


def _find_summary(pruned: Pruned, item: int) -> MessageDecision | None:
    row = item_of(pruned, item)
    if row is None or row.state is not State.SUMMARISED or row.number < 0:
        return None
    items, index = pruned.items, item - len(head_of(pruned))
    while index >= 0 and items[index].number >= 0:
        index -= 1
    while index > 0 and items[index - 1].number < 0:
        index -= 1
    return items[index] if index >= 0 else None


def _draw_beginning(text: str, cells: int, role: str) -> list[Line]:
    shown = text[:_FIRST_CHARS] + (ELLIPSIS if len(text) > _FIRST_CHARS else "")
    return [line(Span(part, role)) for part in wrap_text(visible(shown, keep_newlines=True), cells)]


def _list_tools(message: Message | None) -> str:
    return visible(tools_of(message)) if message is not None else ""


@lru_cache(maxsize=2)
def _measure_tools(outcome: Outcome[Pruned]) -> int:
    named = (_list_tools(message_of(outcome.payload, item)) for item in sample_items(len(outcome.ledger.entries)))
    return min(_TOOL_CELLS, max(map(cell_width, named), default=0))


def _role(pruned: Pruned, item: int) -> str:
    row, message = item_of(pruned, item), message_of(pruned, item)
    if row is None or row.number < 0:
        return "request" if row is None else "summary"
    return message.role if message is not None else ""


def _is_cached(pruned: Pruned, item: int) -> bool:
    row, cache = item_of(pruned, item), pruned.cache
    return row is None or cache.first_changed is None or 0 <= row.number < cache.first_changed
