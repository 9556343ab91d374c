"""A transcript: what of its messages goes out under a safe zone, and what that does to a
provider's prompt cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from secateur import config
from secateur.kinds.conversation.damage import UnreadLine
from secateur.kinds.conversation.messages import Message, PartKind, parse_message
from secateur.kinds.conversation.pruned import Item, Pruned, Weighed, weigh
from secateur.kinds.conversation.pruning import prune_weighed
from secateur.kinds.conversation.transcripts import Transcript, read_transcript
from secateur.kinds.knobs import Knob
from secateur.progress import Progress, unreported
from secateur.settings import Settings
from secateur.terminal import visible
from secateur.tokens import get_counter

from secateur_tui.state.command_lines import CommandWords, toml
from secateur_tui.state.input_files import read_file
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.subject import Field, Inputs, Subject
from secateur_tui.styled_text import ELLIPSIS, Line, Span, fit, line, wrapped
from secateur_tui.widgets.texts import wrapped_text

_TABLE = "conversation_prune."
_FLAGS = {
    "strategy": "--strategy",
    "safe_zone_tokens": "--safe-zone",
    "group_size": "--group-size",
    "keep_last": "--keep-last",
}

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


class ConversationSubject(Subject[Weighed, Pruned]):
    """See `Subject`."""

    name = "conversation"
    noun = "Messages"
    fields: ClassVar[Sequence[Field]] = (Field("path", "Transcript", "the file of a transcript"),)
    prompt = (
        "A transcript can be opened here: OpenAI or Anthropic messages (JSON or JSONL), a Claude Code session, or"
        " <tool_result …> text."
    )
    budget = Knob(_TABLE + "safe_zone_tokens", "safe zone", fine_step=100, rounded=True)
    strategy = Knob(_TABLE + "strategy", "strategy")
    knobs: ClassVar[Sequence[Knob]] = (
        strategy,
        budget,
        Knob(_TABLE + "group_size", "group size"),
        Knob(_TABLE + "keep_last", "keep last", mutable=True),
        Knob(_TABLE + "summary_share", "summary", step=0.05, fine_step=0.01),
    )
    reasons: ClassVar[Mapping[str, str]] = {
        "system": "what the system says always stays",
        "aside": "no model is sent this line; it is carried along",
        "damaged": "it cannot be read as a message; it is carried along as it is",
        "unpaired": "its call or its result may be in a message that cannot be read",
        "last_user": "it is the last thing the user said, which always stays",
        "latest": "it is the latest step, which always stays",
        "summary": "it is a summary, or joins one to the rest",
        "summary_by_model": "it is a summary in the words of a model",
        "fits": "there was no need to cut it",
        "kept": "it holds no result that had to go, or none that may",
        "oldest_group": "it is among the oldest, and the safe zone asked for its room",
        "oldest_result": "its result is among the oldest, and the safe zone asked for its room",
        "superseded": "a later message shows the same file as it was later",
        "outdated": "the file was changed later, so it shows what is there no longer",
        "repeated": "a later message has the same result",
    }

    # --- deciding ---

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> Weighed:
        progress("reading", 0, 0)
        transcript = read_transcript(read_file(inputs["path"]), inputs["path"])
        return weigh(transcript, get_counter(settings.tokens.counter), progress)

    def decide(
        self,
        material: Weighed,
        inputs: Inputs,  # noqa: ARG002
        settings: Settings,
        progress: Progress = unreported,
    ) -> LedgerAnswer[Pruned]:
        pruned = prune_weighed(material, settings, progress=progress)
        return LedgerAnswer(settings, pruned.report, pruned, pruned.warnings)

    def hold(self, ledger: LedgerAnswer[Pruned], item: int, settings: Settings) -> Settings | str:
        if settings.conversation_prune.strategy != "tool-results":
            return "results are held only where tool results are what goes"
        message = _message(ledger, item)
        tools = dict.fromkeys(part.tool for _, part in message.results if part.tool) if message is not None else {}
        if not tools:
            return "this message holds no result of a tool"
        held = settings.conversation_prune.keep_tools
        kept = (
            tuple(tool for tool in held if tool not in tools)
            if all(tool in held for tool in tools)
            else tuple(dict.fromkeys((*held, *tools)))
        )
        return config.with_values(settings, {_TABLE + "keep_tools": kept})

    # --- wording ---

    def described(self, material: Weighed) -> str:
        return (
            f"{material.transcript.format}, {len(material.transcript.messages):,} messages, {material.total:,} tokens"
        )

    def notices(self, ledger: LedgerAnswer[Pruned]) -> Sequence[tuple[str, str]]:
        cache = ledger.result.cache
        held = ledger.settings.conversation_prune.keep_tools
        told = [(f"results of {', '.join(held)} are held", "faint")] if held else []
        if cache.first_changed is None:
            return [*told, ("prompt cache: nothing is read again", "faint")]
        words = (
            f"prompt cache: from #{cache.first_changed:,} on {cache.reread_tokens:,} tokens are read again,"
            f" {cache.tokens_saved:,} saved; {_pays(ledger)}"
        )
        return [*told, (words, "accent")]

    def lead_title(self, ledger: LedgerAnswer[Pruned]) -> str:
        return f"{'#':>{_digits(ledger)}} "

    def lead(self, ledger: LedgerAnswer[Pruned], item: int) -> str:
        row, cache = _item(ledger, item), ledger.result.cache
        number = "" if row is None or row.number < 0 else f"{row.number:,}"
        cached = row is None or cache.first_changed is None or 0 <= row.number < cache.first_changed
        return f"{number:>{_digits(ledger)}}{'=' if cached else ' '}"

    def tail_title(self, ledger: LedgerAnswer[Pruned]) -> str:  # noqa: ARG002 - the same for all
        return " share role, tool, beginning"

    def tail(self, ledger: LedgerAnswer[Pruned], item: int, cells: int) -> Line:
        row, message = _item(ledger, item), _message(ledger, item)
        share = ledger.action(item).before / max(1, ledger.report.budget)
        role = (
            "request" if row is None else "summary" if row.number < 0 else message.role if message is not None else ""
        )
        tools = (
            ", ".join(dict.fromkeys(part.tool for part in message.parts[:_FIRST_PARTS] if part.tool))
            if message is not None
            else ""
        )
        role_cells, tool_cells = (
            (_ROLE_CELLS, _TOOL_CELLS) if cells >= _ROOMY else (_SHORT_ROLE_CELLS, _SHORT_TOOL_CELLS)
        )
        room = cells - 6 - role_cells - tool_cells - 3
        words = fit(visible(_first_words(message)), room) if message is not None and room > 0 else ""
        said = fit(role if cells >= _ROOMY else _SHORT.get(role, role), role_cells)
        return line(f"{share:>6.1%} ", said, " ", fit(visible(tools), tool_cells), " ", Span(words, "faint"))

    def facts(self, ledger: LedgerAnswer[Pruned], item: int, cells: int) -> list[Line]:
        row, message = _item(ledger, item), _message(ledger, item)
        share = ledger.action(item).before / max(1, ledger.report.budget)
        cached = self.lead(ledger, item).endswith("=")
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
        stands = _stands_for(ledger, item)
        if stands is not None:
            lines += [
                (),
                *wrapped("this summary stands for it:", cells, "faint"),
                *_beginning(_told(stands, ledger), cells, "summarised"),
            ]
        elif row.cleaned and row.message is not None:
            lines += [
                (),
                *wrapped("in place of what was cleared:", cells, "faint"),
                *_placeholders(row, message, ledger, cells),
            ]
        return lines

    def texts(self, ledger: LedgerAnswer[Pruned], item: int) -> tuple[str, str]:
        row, message = _item(ledger, item), _message(ledger, item)
        if row is None:
            head = ledger.result.transcript.head
            text = _text(head) if head is not None else ""
            return text, text
        before = _text(message) if message is not None and row.number >= 0 else ""
        if row.message is None:
            return before, ""
        return before, before if row.action == "keep" else _told(row, ledger)

    def command(self, inputs: Inputs, settings: Settings, opened: Settings) -> str:
        zone = settings.conversation_prune
        spelled = CommandWords("conversation", settings, opened)
        for key, flag in _FLAGS.items():
            spelled.flag(flag, str(getattr(zone, key)), _TABLE + key)
        spelled.set(_TABLE + "keep_tools", toml(zone.keep_tools))
        if settings.llm.enabled:
            spelled.set("llm.enabled", "false")  # what is on screen was decided here, without asking a model
        spelled.differing((_TABLE, "tokens."))
        return spelled.line(inputs["path"])


def _pays(ledger: LedgerAnswer[Pruned]) -> str:
    rules = ledger.settings.conversation_prune
    requests = ledger.result.cache.pays_after(rules.cache_read_price, rules.cache_write_price)
    return "never pays" if requests is None else f"pays after {requests:,} request{'' if requests == 1 else 's'}"


def _offset(ledger: LedgerAnswer[Pruned]) -> int:
    """Entries of the ledger before the messages': the request's system prompt and tools, where there are any."""
    return 1 if ledger.result.transcript.head is not None else 0


def _item(ledger: LedgerAnswer[Pruned], item: int) -> Item | None:
    """Returns the decision on a message; None for what stands before the messages."""
    place = item - _offset(ledger)
    return ledger.result.items[place] if place >= 0 else None


def _message(ledger: LedgerAnswer[Pruned], item: int) -> Message | None:
    """The message of an item: as it came, or, where it was put there, as it goes out."""
    row = _item(ledger, item)
    if row is None:
        return ledger.result.transcript.head
    if row.number >= 0:
        return ledger.result.transcript.messages[row.number]
    return _parsed(row, ledger.result.transcript)


def _parsed(row: Item, transcript: Transcript) -> Message | None:
    """The message that goes out."""
    if row.message is None:
        return None
    return parse_message(row.message, "", {}, ("message",) if transcript.format == "claude-code" else ())


def _stands_for(ledger: LedgerAnswer[Pruned], item: int) -> Item | None:
    """The summary in which a message is told: the first of those right before the run of messages it belongs to."""
    row = _item(ledger, item)
    if row is None or row.action != "summarize" or row.number < 0:
        return None
    items = ledger.result.items
    place = item - _offset(ledger)
    while place >= 0 and items[place].number >= 0:
        place -= 1
    while place > 0 and items[place - 1].number < 0:
        place -= 1
    return items[place] if place >= 0 else None


def _placeholders(row: Item, message: Message | None, ledger: LedgerAnswer[Pruned], cells: int) -> list[Line]:
    """The texts of results that are others now."""
    out = _parsed(row, ledger.result.transcript)
    if message is None or out is None:
        return []
    pairs = zip(message.parts, out.parts, strict=False)
    return [part for then, now in pairs if then.text != now.text for part in _beginning(now.text, cells, "shortened")]


def _beginning(text: str, cells: int, role: str) -> list[Line]:
    """How a text begins, line by line; that there is more is said."""
    shown = text[:_FIRST_CHARS] + (ELLIPSIS if len(text) > _FIRST_CHARS else "")
    return [line(Span(part, role)) for part in wrapped_text(visible(shown, keep_newlines=True), cells)]


def _told(row: Item, ledger: LedgerAnswer[Pruned]) -> str:
    message = _parsed(row, ledger.result.transcript)
    return _text(message) if message is not None else ""


def _text(message: Message) -> str:
    """A message for people: texts as they are, calls and results under a heading."""
    if isinstance(message.raw, UnreadLine):
        return message.raw
    told = []
    for part in message.parts:
        heading = {
            PartKind.CALL: f"── call of {part.tool} ──\n",
            PartKind.RESULT: f"── result of {part.tool} ──\n",
        }.get(part.kind, "")
        media = f"\n({part.media} picture{'s' if part.media > 1 else ''} or the like)" if part.media else ""
        text = f"{part.arguments}" if part.kind is PartKind.CALL else part.text
        told.append(f"{heading}{text}{media}")
    return "\n".join(told)


def _first_words(message: Message) -> str:
    """How a message begins."""
    if isinstance(message.raw, UnreadLine):
        return " ".join(message.raw[:_FIRST_CHARS].split())
    text = " ".join(part.text[:_FIRST_CHARS] for part in message.parts[:_FIRST_PARTS] if part.text)
    return " ".join(text[:_FIRST_CHARS].split())


def _digits(ledger: LedgerAnswer[Pruned]) -> int:
    return max(4, len(f"{len(ledger.result.transcript.messages):,}"))
