"""Conversations as a kind of context: a transcript under a safe zone of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType, structs

from secateur.kind_places import place_of
from secateur.kinds.base import PIN, Delivery, EntryDescription, Flag, Input, Kind, Outcome, Wording
from secateur.kinds.conversation.api_formats import parse_value
from secateur.kinds.conversation.decisions import (
    CacheShape,
    MeasuredTranscript,
    MessageDecision,
    Pruned,
    Statistics,
    measure_for_model,
)
from secateur.kinds.conversation.folds import describe_cut, describe_ledger, recorded_ledger
from secateur.kinds.conversation.growing_transcript import FOLLOWED, GrowingTranscript
from secateur.kinds.conversation.media import without_encoded
from secateur.kinds.conversation.messages import ASIDE, Message, MessagePart, PartKind
from secateur.kinds.conversation.opencode_store import stored_session
from secateur.kinds.conversation.session_facts import SessionFacts, SessionShape, session_facts, session_shape
from secateur.kinds.conversation.session_report import session_page
from secateur.kinds.conversation.strategies import decide
from secateur.kinds.conversation.summarized_groups import SummaryCosts
from secateur.kinds.conversation.transcripts import FORMATS, Transcript, read_messages, read_transcript
from secateur.kinds.conversation.unreadable import UnreadLine
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs
from secateur.kinds.knobs import FilePlace, Knob, location_in, warn_unknown_pins
from secateur.ledger import VERBS, LedgerShape, Notice
from secateur.model import Entry, State, TrimReport
from secateur.render.page import Column, Page, Section, change, count_noun, not_shown, phrase, sentence
from secateur.settings import Settings
from secateur.shape import SCHEMA_VERSION, Shape, Version
from secateur.terminal import cell_width, clip, visible
from secateur.tokens import get_counter
from secateur.what_if import CurveShape, KnobRanges, NotExaminedShape, NotKnownShape, Ranges

if TYPE_CHECKING:
    from secateur.what_if.trials import Trials

# Strategies whose summaries a language model may write, if one is set (`[llm]`).
SUMMARIZING = ("summarize", "hybrid", "staged")

NAME_CELLS = 16  # least width of the names of messages
LONGEST_ROW_NAME = 40  # longest name of a tool in the text, in cells
SHOWN_MESSAGES = 40  # most changed messages that the text lists without --verbose

_ROLE_CELLS = 32
# Role and tools of a message, tokens before and after, share of the budget, and the decision.
_COLUMNS = (
    Column(_ROLE_CELLS, gap=1),
    *(Column(9, right=True, gap=1), Column(2, gap=1), Column(7, right=True, gap=1), Column(6, right=True)),
    Column(),
)
# Parts of a message that are searched for its tools and its beginning, and characters of the beginning.
_NAMED_PARTS, _FIRST_CHARS = 20, 400
_TABLE = "conversation_prune."
_RESULT = re.compile(r"^<tool_result[\s>]", re.MULTILINE)


class ConversationOutput(Shape, frozen=True, kw_only=True):
    """The output of `secateur conversation --format json`."""

    schema_version: Version
    messages: Annotated[list[dict[str, Any]], Meta(description="In the shape in which they came in.")]
    format: Annotated[str, Meta(extra_json_schema={"enum": [*FORMATS]})]
    statistics: Statistics
    cache: CacheShape
    session: SessionShape | UnsetType = UNSET
    counter: Annotated[str | UnsetType, Meta(description="Of the model, if it is not that of the settings.")] = UNSET
    report: TrimReport
    ledger: LedgerShape
    warnings: list[Notice]
    ranges: Ranges | UnsetType = UNSET
    knob_ranges: KnobRanges | UnsetType = UNSET
    curve: CurveShape | UnsetType = UNSET
    not_known: NotKnownShape | UnsetType = UNSET
    not_examined: NotExaminedShape | UnsetType = UNSET


class Conversation(Kind[MeasuredTranscript, Pruned]):
    """See `Kind`; spec pruner."""

    name = "conversation"
    wording = Wording(
        "Conversation",
        place_of("conversation").about,
        "Messages",
        "A transcript can be opened here: OpenAI or Anthropic messages (JSON or JSONL), a session of a coding agent, or"
        " <tool_result …> text.",
        unit="parts",
    )
    inputs: ClassVar[Sequence[Input]] = (
        Input(
            "path",
            "a transcript: OpenAI or Anthropic messages, a session of Claude Code, Codex CLI, Gemini CLI, opencode,"
            " Copilot CLI or Cline, <tool_result …> text; - reads stdin",
            positional=True,
            required=True,
            title="Transcript",
            placeholder="the file of a transcript",
            sessions=True,
        ),
        Input("out", "write the pruned transcript to this file, in its own format", holds="output"),
    )
    flags: ClassVar[Sequence[Flag]] = (
        Flag(_TABLE + "strategy", "S", "summarize, truncate, hybrid, staged or tool-results (default)"),
        Flag(_TABLE + "safe_zone_tokens", "N", "most tokens of the conversation (default 50000)"),
        Flag(_TABLE + "cut_to", "SHARE", "cut down to this share of the safe zone, beside what must stay (default 1)"),
        Flag(_TABLE + "group_size", "G", "fewest messages to drop or summarise together (default 4)"),
        Flag(
            _TABLE + "keep_last",
            "N",
            "how many of the last tool results to keep (default 0; unanswered ones always stay)",
        ),
        Flag(_TABLE + "keep_tools", "A,B", "tools whose results are kept"),
        PIN,
    )
    budget = Knob(_TABLE + "safe_zone_tokens", "safe zone", fine_step=100, rounded=True)
    knobs: ClassVar[Sequence[Knob]] = (
        Knob(_TABLE + "strategy", "strategy", asking=SUMMARIZING),
        budget,
        Knob(_TABLE + "group_size", "group size"),
        Knob(_TABLE + "keep_last", "keep last", mutable=True),
        Knob(_TABLE + "cut_to", "cut to"),
    )

    def recognises(self, path: Path, head: str) -> bool:
        return head.startswith(("[", "{")) or path.suffix == ".jsonl" or _RESULT.search(head) is not None

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> MeasuredTranscript:
        environment.progress("reading", 0, 0)
        path, counter = inputs["path"], get_counter(settings.tokens.counter)
        file_path = path if path == "-" else str(environment.place_of(path))
        own = environment.folder is None  # a store has several files, and each may be a link that leads out
        stored = stored_session(file_path) if own and path != "-" else None
        if stored is not None:
            stored = environment.redactor.json_value(stored)
            transcript = read_messages(stored["messages"], container=stored)
            return replace(measure_for_model(transcript, counter, environment.progress), redactor=environment.redactor)
        growing = environment.shared.get(FOLLOWED) if environment.shared is not None and path != "-" else None
        if growing is not None:  # the file is followed
            scanning = environment.redactor.scanning
            followed = growing.setdefault((file_path, scanning.id), GrowingTranscript(Path(file_path), path, scanning))
            measured: MeasuredTranscript | None = followed.look(counter, environment.progress)
            if measured is not None:
                return measured
        data = environment.bytes_of(path, "transcript")
        transcript = read_transcript(data, "standard input" if path == "-" else path)
        return replace(measure_for_model(transcript, counter, environment.progress), redactor=environment.redactor)

    def decide(
        self, material: MeasuredTranscript, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[Pruned]:
        asks = settings.llm.enabled and settings.conversation_prune.strategy in SUMMARIZING
        pruned = decide(material, settings, progress=during.progress, asks=asks, replies=during.replies)
        return Outcome(
            self.name,
            settings,
            pruned,
            lambda: pruned.ledger,
            (*pruned.warnings, *warn_unknown_pins(settings, pruned.ledger.ids)),
            questions=pruned.questions,
            calls=pruned.calls,
            measures=lambda: {"cache_reread": pruned.cache.reread_tokens},
        )

    def trials(
        self, material: MeasuredTranscript, inputs: Inputs, settings: Settings, outcome: Outcome[Pruned]
    ) -> Trials:
        from secateur.kinds.kind_trials import KindTrials  # it needs numpy, which a conversation does not

        return KindTrials(
            self, material, inputs, settings, outcome, find_entries=SummaryCosts(outcome.payload).find_entries
        )

    def hold(self, outcome: Outcome[Pruned], index: int, settings: Settings) -> Settings | str:
        if (item := item_of(outcome.payload, index)) is None or item.number < 0:
            return "only a message can be pinned"
        return super().hold(outcome, index, settings)

    def location(
        self, outcome: Outcome[Pruned], index: int, inputs: Inputs, environment: Environment
    ) -> FilePlace | None:
        """The file of the transcript; for a message in a JSONL file its line."""
        whole = location_in(environment.base, inputs["path"])
        message = message_of(outcome.payload, index)
        own = re.fullmatch(r"line (\d+)", message.location) if message is not None else None
        return FilePlace(whole.path, int(own[1])) if whole is not None and own else whole

    def described(self, material: MeasuredTranscript) -> str:
        transcript = material.transcript
        messages = count_noun(len(transcript.messages), "message")
        return f"{transcript.format}, {messages}, {count_noun(material.total, 'token')}"

    def output(self, outcome: Outcome[Pruned]) -> ConversationOutput:
        pruned = outcome.payload
        session = session_shape(pruned.measured, outcome.settings) if pruned.measured is not None else None
        return ConversationOutput(
            schema_version=SCHEMA_VERSION,
            messages=pruned.messages,
            format=pruned.transcript.format,
            statistics=pruned.statistics,
            counter=_own_counter(outcome) or UNSET,
            cache=pruned.cache,
            session=session or UNSET,
            report=pruned.report,
            ledger=outcome.ledger.shape(),
            warnings=list(outcome.warnings),
        )

    def pieces(self, outcome: Outcome[Pruned]) -> Sequence[str]:
        """The messages as JSON lines."""
        return ["".join(json.dumps(message, ensure_ascii=False) + "\n" for message in outcome.payload.messages)]

    def page(self, outcome: Outcome[Pruned], *, verbose: bool = False) -> Page:
        """Figures, and one line for each changed message; with `verbose` for every message."""
        pruned, rules = outcome.payload, outcome.settings.conversation_prune
        figures, ledger = pruned.statistics, pruned.ledger
        count = sum(message.role == ASIDE for message in pruned.transcript.messages)
        unsent = f" ({count:,} of them reach{'' if count > 1 else 'es'} no model)" if count else ""
        messages = f"{pruned.transcript.format}, {count_noun(figures.total_messages, 'message')}{unsent}"
        cut_to = f", cut to {pruned.target:,}" if rules.cut_to < 1 else ""
        counted = f" ({own})" if (own := _own_counter(outcome)) else ""
        tokens = f"{change(ledger.before, ledger.after)} tokens{counted}, {figures.tokens_saved:,} saved"
        count = sum(item.state is State.SHORTENED and not item.cleaned + item.pictures for item in pruned.items)
        contents = f", contents of {count_noun(count, 'call')} that wrote files" if count else ""
        count = sum(item.pictures for item in pruned.items)
        contents += f", {count_noun(count, 'picture')} of the user" if count else ""
        head = [
            ("format", f"{messages}; strategy {rules.strategy}"),
            ("tokens", f"{tokens}, safe zone {ledger.budget:,}{cut_to}"),
            ("results", f"{count_noun(figures.tool_results_cleaned, 'tool result')} gone{contents}"),
            ("cache", _describe_cache(pruned.cache)),
            ("share", "of the safe zone, by what goes out of a message"),
        ]
        if request := head_of(pruned):
            head.insert(2, ("request", _describe_request(pruned, request)))
        listed = [item for item in pruned.items if verbose or item.state is not State.KEPT]
        shown = listed if verbose else listed[:SHOWN_MESSAGES]
        rows = [_row(pruned, item) for item in shown]
        if verbose:
            rows[:0] = [_request_row(pruned, entry, part) for entry, part in zip(ledger.entries, request, strict=False)]
        wide = max(NAME_CELLS, *(cell_width(row[1]) for row in rows)) if rows else NAME_CELLS
        columns = Column(1, gap=0), Column(wide, gap=1), *_COLUMNS
        sections = [Section(rows, more=not_shown(len(listed) - len(shown)), apart=False, columns=columns)]
        if pruned.measured is not None:
            lines, further = session_page(pruned.measured, outcome.settings)
            head[3:3], sections = lines, [*sections, *further]
            if (sent := recorded_ledger(pruned.measured)) is not None:
                head.append(("sent", f"by secateur with: {describe_ledger(sent)}"))
                sections.append(Section([describe_cut(cut) for cut in sent.cuts]))
        return Page(head, sections, outcome.warnings, pruned.report.calls)

    def describe(self, outcome: Outcome[Pruned], index: int) -> EntryDescription:
        """Describes a message by its role, its tools and its first words."""
        description, pruned = super().describe(outcome, index), outcome.payload
        item, message = item_of(pruned, index), message_of(pruned, index)
        if message is not None:
            title = f"{message.role} {tools_of(message)}".strip()
            description = structs.replace(description, place=title, beside=first_words(message))
        if item is None:
            return description
        cached = "still" if pruned.cache.holds(item.number) else "no longer"
        facts = ("share", describe_share(pruned, index)), ("prompt cache", f"{cached} in the cached prefix")
        return structs.replace(description, facts=facts)

    def texts(self, outcome: Outcome[Pruned], index: int) -> tuple[str, str]:
        pruned = outcome.payload
        item, message = item_of(pruned, index), message_of(pruned, index)
        came = message is not None and (item is None or item.number >= 0)
        before = text_of(message) if message is not None and came else ""
        if item is None or (item.state is State.KEPT and item.message is not None):
            return before, before
        return before, text_going_out(pruned, item)

    def deliver(self, delivery: Delivery, outcome: Outcome[Pruned], inputs: Inputs) -> Delivery:
        """Writes the pruned transcript to `out`, in the shape it came in."""
        if not inputs["out"]:
            return delivery
        written = (Path(inputs["out"]), outcome.payload.write())
        return Delivery(delivery.text, (written,), (f"written: {inputs['out']}",))


# --- one entry --------------------------------------------------------------------------------------------------------


def _own_counter(outcome: Outcome[Pruned]) -> str:
    return outcome.payload.counter if outcome.payload.counter != outcome.settings.tokens.counter else ""


def head_of(pruned: Pruned) -> tuple[MessagePart, ...]:
    """The request's system prompt and tools; each is an entry before the messages."""
    return pruned.transcript.head.parts if pruned.transcript.head is not None else ()


def item_of(pruned: Pruned, index: int) -> MessageDecision | None:
    """The decision on a message, by the index of its entry; None for the request's head and the wrapper."""
    row = index - len(head_of(pruned))
    return pruned.items[row] if 0 <= row < len(pruned.items) else None


def message_of(pruned: Pruned, index: int) -> Message | None:
    """The message of an entry as it came; a message that the pruner added, as it goes out."""
    if (item := item_of(pruned, index)) is None:
        return Message("$", "system", {}, head_of(pruned)[index : index + 1]) if index < len(head_of(pruned)) else None
    return pruned.transcript.messages[item.number] if item.number >= 0 else parse_item(item, pruned.transcript)


def parse_item(item: MessageDecision, transcript: Transcript) -> Message | None:
    """Parses the message that goes out; None if the message is dropped."""
    if item.message is None:
        return None
    came = transcript.messages[item.number].parts if item.number >= 0 else ()
    return parse_value(item.message, "", {part.call: part for part in came if part.call}, transcript.format)


def text_going_out(pruned: Pruned, item: MessageDecision) -> str:
    """The text, for people, of the message that goes out."""
    message = parse_item(item, pruned.transcript)
    return text_of(message) if message is not None else ""


def text_of(message: Message) -> str:
    """The text of a message for people: texts unchanged, calls and results under a heading."""
    if isinstance(message.raw, UnreadLine):
        return message.raw
    texts = []
    for part in message.parts:
        heading = f"── {part.kind} of {part.tool} ──\n" if part.kind in (PartKind.CALL, PartKind.RESULT) else ""
        media = f"\n({count_noun(part.media, 'picture')} or similar)" if part.media else ""
        text = part.arguments if part.kind is PartKind.CALL else part.text
        texts.append(f"{heading}{without_encoded(text)}{media}")
    return "\n".join(texts)


def first_words(message: Message) -> str:
    """The beginning of a message on one line."""
    if isinstance(message.raw, UnreadLine):
        return " ".join(message.raw[:_FIRST_CHARS].split())
    text = " ".join(without_encoded(part.text)[:_FIRST_CHARS] for part in message.parts[:_NAMED_PARTS] if part.text)
    return " ".join(text[:_FIRST_CHARS].split())


def tools_of(message: Message) -> str:
    """Names the tools in the calls and results of a message; text from outside."""
    return ", ".join(dict.fromkeys(part.tool for part in message.parts[:_NAMED_PARTS] if part.tool))


def share_of(pruned: Pruned, tokens: int) -> float:
    """The fraction of the safe zone that these tokens take."""
    return tokens / max(pruned.ledger.budget, 1)


def describe_share(pruned: Pruned, index: int) -> str:
    """Says which share of the safe zone an entry takes, and which it took before, if that differs."""
    entry = pruned.ledger.entries[index]
    came = entry.before and entry.before != entry.after
    share = f"{share_of(pruned, entry.after):.1%} of the safe zone"
    return f"{share}, {share_of(pruned, entry.before):.1%} as it came in" if came else share


def _row(pruned: Pruned, item: MessageDecision) -> Sequence[str]:
    message = pruned.transcript.messages[item.number] if item.number >= 0 else None
    tools = tools_of(message) if message else ""
    cached = "=" if pruned.cache.holds(item.number) else " "
    speaker = clip(visible(f"{message.role if message else 'summary'} {tools}".strip()), _ROLE_CELLS)
    figures = f"{item.before:,}", "->", f"{item.after:,}", f"{share_of(pruned, item.after):.1%}"
    return cached, item.name, speaker, *figures, f"{VERBS[item.state]}: {phrase(item.reason, item.figures)}"


def _describe_request(pruned: Pruned, request: Sequence[MessagePart]) -> str:
    entries = pruned.ledger.entries[: len(request)]
    sizes = [(entry.after, part.tool) for entry, part in zip(entries, request, strict=True)]
    prompt, tools = (sum(size for size, tool in sizes if bool(tool) is named) for named in (False, True))
    facts = [f"system prompt {prompt:,} tokens"] if prompt else []
    if tools:
        count = sum(bool(tool) for _, tool in sizes)
        most, name = max((size for size in sizes if size[1]), key=itemgetter(0))
        largest = f", the largest {clip(visible(name), _ROLE_CELLS)} with {most:,}" if count > 1 else ""
        facts.append(f"{count_noun(count, 'tool')} {tools:,} tokens{largest}")
    return "; ".join(facts)


def _request_row(pruned: Pruned, entry: Entry, part: MessagePart) -> Sequence[str]:
    figures = f"{entry.before:,}", "->", f"{entry.after:,}", f"{share_of(pruned, entry.after):.1%}"
    name = clip(visible(entry.id), LONGEST_ROW_NAME)
    return "=", name, "definition" if part.tool else "system", *figures, f"keep: {sentence(entry)}"


def _describe_cache(cache: CacheShape) -> str:
    if cache.first_changed is None:
        return "unchanged: nothing is read again"
    before = count_noun(cache.prefix_tokens, "token before it stays", "tokens before it stay")
    stays = f"{before} cached (=), {cache.reread_tokens:,} are read again"
    sentence = f"messages[{cache.first_changed}] is the first that changed: {stays}"
    if not cache.pays_after:
        return sentence
    return f"{sentence}; with a warm cache it pays after {count_noun(cache.pays_after, 'request')}"


def session_at(
    path: str, settings: Settings, environ: Mapping[str, str], agent: str = ""
) -> tuple[SessionFacts | None, int, list[str]]:
    """Reads an agent's session. Returns its facts (see `session_facts`), how many of its messages are sent now, and the
    warnings. Raises SecateurError."""
    kind, environment = Conversation(), Environment(regular=True, environ=environ)
    measured = kind.read(kind.blank_inputs() | {"path": path}, settings, environment)
    sent = sum(message.role != ASIDE for message in measured.transcript.messages)
    warnings = [notice.message for notice in measured.transcript.notices]
    return session_facts(measured, settings.context_budget.windows, agent), sent, warnings
