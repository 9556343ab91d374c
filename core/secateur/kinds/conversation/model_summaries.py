"""Abstractive summaries: a model, if one is set, rewrites summaries made of excerpts in its own words.

    job = plan_summaries(measured, items, settings)     # after everything else is decided
    job.questions                                           # values: deciding asks nobody
    job.apply(replies).items

The messages that a summary replaces, and its position, are decided without a model. A model's words are cut to the free
tokens, and unusable ones are replaced by excerpts. So whatever a model says, the safe zone holds, the roles alternate,
and calls keep their results.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from secateur.kinds.conversation.api_formats import parse_value
from secateur.kinds.conversation.decisions import SUMMARY_MARK, MeasuredTranscript, MessageDecision
from secateur.kinds.conversation.extractive_summaries import summary_lines
from secateur.kinds.conversation.media import without_encoded
from secateur.kinds.conversation.messages import Message, PartKind, replace_texts
from secateur.kinds.conversation.summarized_groups import SUMMARY_SHARE
from secateur.llm.interface import Question, Reply, notices_of
from secateur.model import ModelCall, Notice, Reason, State
from secateur.settings import Settings
from secateur.tokens import Counter

ANSWER_TOKENS = 2000  # most tokens of one answer: what a small model writes at once without losing the thread
LEAST_ROOM = 32  # summaries with less room than this, in tokens, stay excerpts
SHARE_OF_QUESTION = 0.25  # share of a question's text that one message may take; a longer one is sent as excerpts
WORDS_A_TOKEN = 0.6  # words of English prose in a token, estimated low: models count words better than tokens
PART_TOKENS = 8  # tokens of the words that name the speaker of a part
JSON_TOKENS = 64  # tokens of an answer's brackets, quotes and field name
CHARACTERS_A_TOKEN = 3  # characters of a transcript in a token, estimated low

# A text with more characters than this for each token it may have is rejected without counting it.
MOST_CHARACTERS_A_TOKEN = 16

INSTRUCTIONS = """The text is the early part of a conversation between a user and an assistant who works with tools.
It will be taken out, and your notes will stand in its place. Write short notes that let the assistant go on.
Keep what the user wants and forbids, what was decided and why, errors, open questions, \
and every name, path and number that matters, letter by letter.
Leave out greetings and what is said twice. Add nothing. Put what matters most first. \
All notes together have at most {words} words."""


class Notes(msgspec.Struct):
    """The answer of a model."""

    notes: list[str]


@dataclass(frozen=True, slots=True)
class ModelSummaries:
    """The items with summaries in a model's words, the model's calls, and notices."""

    items: tuple[MessageDecision, ...]
    calls: tuple[ModelCall, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class _MessageSpan:
    numbers: tuple[int, ...]
    messages: tuple[Message, ...]
    room: int  # tokens the notes may take

    @property
    def is_asked(self) -> bool:
        return self.room >= LEAST_ROOM


@dataclass(frozen=True, slots=True)
class _Summary:
    """A summary made of excerpts that a model may rewrite."""

    row: int  # position of its item
    gone: int  # tokens of the messages that it replaces
    heading: str
    most: int  # the most tokens it may have
    pieces: tuple[_MessageSpan, ...]


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """The questions about the summaries of a pruning; `apply` puts the replies into its items."""

    measured: MeasuredTranscript
    items: tuple[MessageDecision, ...]
    summaries: tuple[_Summary, ...]
    questions: tuple[Question, ...]
    counter: Counter

    def unasked_notices(self) -> tuple[Notice, ...]:
        """Warns that no summary has room enough for a question."""
        if not any(item.number < 0 and item.message is not None for item in self.items):
            return ()
        why = (
            f"There is no room for a model's words in the summaries (less than {LEAST_ROOM} tokens a question); they"
            " are in excerpts."
        )
        return (Notice("summary_in_excerpts", why),)

    def apply(self, replies: Sequence[Reply]) -> ModelSummaries:
        """Puts the model's words into the summaries, as far as the replies, one per question, are usable."""
        new_items, rewritten, answers = list(self.items), 0, iter(replies)
        for summary in self.summaries:
            own = [next(answers) if piece.is_asked else None for piece in summary.pieces]
            item = _apply_notes(self.measured, self.items[summary.row], summary, own, self.counter)
            new_items[summary.row] = item
            rewritten += item is not self.items[summary.row]
        notices = list(notices_of(replies))
        kept_excerpts = len(self.summaries) - rewritten
        if any(reply.value is None for reply in replies):
            message = "Parts without a usable summary from the model are summarised in excerpts."
            notices.append(Notice("summary_in_excerpts", message))
        elif kept_excerpts:
            message = f"{kept_excerpts:,} of the model's summaries do not fit their room; excerpts take their place."
            notices.append(Notice("summary_in_excerpts", message))
        return ModelSummaries(tuple(new_items), tuple(reply.call for reply in replies), tuple(notices))


def plan_summaries(measured: MeasuredTranscript, items: Sequence[MessageDecision], settings: Settings) -> SummaryJob:
    """Finds the summaries among `items` that a model may rewrite, and makes one or more questions for each. `items`:
    the items of a pruning by summaries, in the order of the conversation; a summary comes before the messages that it
    replaces."""
    counter = measured.counter
    spare = max(0, settings.conversation_prune.safe_zone_tokens - measured.head - sum(item.after for item in items))
    summaries: list[_Summary] = []
    for row, numbers in _find_stretches(items):
        item = items[row]
        gone = sum(measured.tokens[index] for index in numbers)
        most = max(item.after, min(int(gone * SUMMARY_SHARE), item.after + spare))
        heading = f"{SUMMARY_MARK}{len(numbers):,} earlier messages, in a model's words]"
        if pieces := _pieces(measured, numbers, most - counter.count(heading) - 1, settings):
            spare -= max(0, most - item.after)
            summaries.append(_Summary(row, gone, heading, most, pieces))
    questions = tuple(
        _question(piece, settings.llm.text_tokens, counter)
        for summary in summaries
        for piece in summary.pieces
        if piece.is_asked
    )
    return SummaryJob(measured, tuple(items), tuple(summaries), questions, counter)


# --- what is asked ----------------------------------------------------------------------------------------------------


def _find_stretches(items: Sequence[MessageDecision]) -> Iterator[tuple[int, list[int]]]:
    row, numbers = -1, list[int]()
    for index, item in enumerate(items):
        if item.number < 0 and (
            index == 0 or items[index - 1].section != item.section
        ):  # a summary, not the message that joins it to the rest
            if numbers:
                yield row, numbers
            row, numbers = index if item.message is not None else -1, []
        elif row >= 0 and item.number >= 0 and item.state is State.SUMMARISED:
            numbers.append(item.number)
    if numbers:
        yield row, numbers


def _pieces(
    measured: MeasuredTranscript, numbers: Sequence[int], room: int, settings: Settings
) -> tuple[_MessageSpan, ...]:
    """Splits the messages of a summary into as few questions as their size allows; empty if none has room for a model's
    words."""
    text_tokens = settings.llm.text_tokens
    most = int(text_tokens * SHARE_OF_QUESTION)
    parts: list[list[int]] = [[]]
    size = 0
    for index in numbers:
        tokens = min(most, measured.tokens[index] + PART_TOKENS * len(measured.transcript.messages[index].parts))
        if parts[-1] and size + tokens > text_tokens:
            parts.append([])
            size = 0
        parts[-1].append(index)
        size += tokens
    total = sum(measured.tokens[index] for index in numbers) or 1
    pieces = [
        _MessageSpan(
            tuple(part),
            tuple(measured.transcript.messages[index] for index in part),
            min(ANSWER_TOKENS, room * sum(measured.tokens[index] for index in part) // total),
        )
        for part in parts
    ]
    return tuple(pieces) if any(piece.is_asked for piece in pieces) else ()


def _question(piece: _MessageSpan, text_tokens: int, counter: Counter) -> Question:
    first, last = piece.numbers[0], piece.numbers[-1]
    return Question(
        f"summarize messages[{first}-{last}]",
        INSTRUCTIONS.format(words=max(8, int(piece.room * WORDS_A_TOKEN))),
        "\n\n".join(
            filter(
                None,
                (_format_message(message, int(text_tokens * SHARE_OF_QUESTION), counter) for message in piece.messages),
            )
        ),
        Notes,
        most_tokens=piece.room + JSON_TOKENS,
        check=lambda notes: (
            "" if _fit_notes(notes, piece.room, counter) else f"it has no note that fits into {piece.room:,} tokens"
        ),
    )


def _format_message(message: Message, most: int, counter: Counter) -> str:
    lines: list[str] = []
    for part in message.parts:
        if part.kind is PartKind.CALL:
            lines.append(f"call of {part.tool or 'a tool'}: {part.written}")
        elif part.kind is PartKind.RESULT:
            lines.append(f"result of {part.tool or 'a tool'}: {part.text}")
        elif part.kind is PartKind.TEXT:
            lines.append(f"{message.role}: {part.text}")
    text = without_encoded("\n".join(lines))
    if len(text) > most * MOST_CHARACTERS_A_TOKEN or counter.count(text) > most:
        return "\n".join(summary_lines([message], most * CHARACTERS_A_TOKEN))
    return text


# --- what comes back --------------------------------------------------------------------------------------------------


def _apply_notes(
    measured: MeasuredTranscript,
    item: MessageDecision,
    summary: _Summary,
    replies: Sequence[Reply | None],
    counter: Counter,
) -> MessageDecision:
    """Puts a model's words into the item of a summary; returns it unchanged if no words are usable or they do not
    fit."""
    notes: list[Notes | None] = [reply.value if reply is not None else None for reply in replies]
    if not any(notes):
        return item
    lines: list[str] = []
    for piece, piece_notes in zip(summary.pieces, notes, strict=True):
        lines += _fit_notes(piece_notes, piece.room, counter) if piece_notes is not None else _excerpts(piece, counter)
    heading = summary.heading if all(notes) else summary.heading.replace("words]", "words and in excerpts]")
    text = "\n".join([heading, *dict.fromkeys(lines)])
    tokens = counter.count(text)
    if tokens > summary.most or tokens >= summary.gone:
        return item
    message = parse_value(item.message, item.section, {}, measured.transcript.format)
    return replace(
        item, message=replace_texts(message.raw, {message.parts[0]: text}), after=tokens, reason=Reason.SUMMARY_BY_MODEL
    )


def _fit_notes(notes: Notes, room: int, counter: Counter) -> list[str]:
    lines: list[str] = []
    for note in notes.notes:
        words = " ".join("".join(sign if sign.isprintable() else " " for sign in note).split()).lstrip("-*• ")
        if not words:
            continue
        room -= counter.count(f"- {words}\n")
        if room < 0:
            break
        lines.append(f"- {words}")
    return lines


def _excerpts(piece: _MessageSpan, counter: Counter) -> list[str]:
    characters = piece.room * CHARACTERS_A_TOKEN
    while characters >= LEAST_ROOM:
        lines = summary_lines(piece.messages, characters)
        if counter.count("\n".join(lines)) < piece.room:
            return lines
        characters = characters * 2 // 3
    return []
