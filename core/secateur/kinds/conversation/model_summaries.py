"""Abstractive summaries: a model, where one is set, rewrites in its own words what a summary told in excerpts.

    asked = retelling(measured, items, settings, counter)     # after everything else is decided
    asked.questions                                           # values: whoever decides asks nobody
    asked.told(replies).items

The messages that a summary replaces, and its place, are decided without a model. A model's words are cut to the tokens
that are free, and excerpts stay where the words are not usable: whatever a model says, the safe zone holds, the roles
alternate, and calls keep their results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from secateur.kinds.conversation.decisions import SUMMARY_MARK, MeasuredTranscript, MessageDecision
from secateur.kinds.conversation.extractive_summaries import summary_lines
from secateur.kinds.conversation.messages import Message, PartKind, replaced
from secateur.kinds.conversation.session_formats.registry import parse_value
from secateur.llm.interface import Question, Reply, notices_of
from secateur.model import ModelCall, Notice, Reason, State
from secateur.settings import Settings
from secateur.tokens import Counter

LEAST_ROOM = 32
"""Summaries smaller than this, in tokens, stay in excerpts."""

SHARE_OF_QUESTION = 0.25
"""Share of a question's text that one message may take; of a longer one, excerpts are sent."""

WORDS_A_TOKEN = 0.6
"""Words of English prose in a token, rather too few than too many: models count words better than tokens."""

PART_TOKENS = 8
"""Tokens of the words that say who said a part."""

JSON_TOKENS = 64
"""Tokens of the brackets, quotes and the field's name of an answer, besides its words."""

CHARACTERS_A_TOKEN = 3
"""Characters of a transcript in a token, rather too few than too many."""

MOST_CHARACTERS_A_TOKEN = 16
"""A text with more characters than this for each token it may have is rejected without counting it."""

INSTRUCTIONS = """The text is the early part of a conversation between a user and an assistant who works with tools.
It will be taken out, and your notes will stand in its place. Write short notes that let the assistant go on.
Keep what the user wants and forbids, what was decided and why, errors, open questions, \
and every name, path and number that matters, letter by letter.
Leave out greetings and what is said twice. Add nothing. Put what matters most first. \
All notes together have at most {words} words."""


class Notes(msgspec.Struct):
    """The answer that a model gives: notes."""

    notes: list[str]


@dataclass(frozen=True, slots=True)
class Retold:
    """The items with the summaries in a model's words, and what that cost."""

    items: tuple[MessageDecision, ...]
    calls: tuple[ModelCall, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class _MessageSpan:
    """Messages that one question is about."""

    numbers: tuple[int, ...]
    messages: tuple[Message, ...]
    room: int  # tokens the notes may take

    @property
    def asked(self) -> bool:
        """Tells whether the notes are large enough for a model's words; smaller ones hold excerpts."""
        return self.room >= LEAST_ROOM


@dataclass(frozen=True, slots=True)
class _Summary:
    """A summary in excerpts, and what it may become."""

    row: int  # of its item
    gone: int  # tokens of the messages it stands for
    heading: str
    most: int  # tokens it may have
    pieces: tuple[_MessageSpan, ...]


@dataclass(frozen=True, slots=True)
class Retelling:
    """The questions about the summaries of a pruning, and what its items become under the replies to them."""

    measured: MeasuredTranscript
    items: tuple[MessageDecision, ...]
    summaries: tuple[_Summary, ...]
    questions: tuple[Question, ...]
    counter: Counter

    def unasked(self) -> tuple[Notice, ...]:
        """The warning that no summary is large enough for a question."""
        if not any(item.number < 0 and item.message is not None for item in self.items):
            return ()
        why = (
            f"There is no room for a model's words in the summaries (less than {LEAST_ROOM} tokens a question); they"
            " are in excerpts."
        )
        return (Notice("summary_in_excerpts", why),)

    def told(self, replies: Sequence[Reply]) -> Retold:
        """The items with the summaries in a model's words, as far as the replies, one per question, are usable."""
        told, new, answers = list(self.items), 0, iter(replies)
        for summary in self.summaries:
            own = [next(answers) if piece.asked else None for piece in summary.pieces]
            item = _retold(self.measured, self.items[summary.row], summary, own, self.counter)
            told[summary.row] = item
            new += item is not self.items[summary.row]
        notices = list(notices_of(replies))
        stay = len(self.summaries) - new
        if any(reply.value is None for reply in replies):
            said = "What the model gave no usable summary of is summarised in excerpts."
            notices.append(Notice("summary_in_excerpts", said))
        elif stay:
            said = f"{stay:,} summaries of the model do not fit their room; they stay in excerpts."
            notices.append(Notice("summary_in_excerpts", said))
        return Retold(tuple(told), tuple(reply.call for reply in replies), tuple(notices))


def retelling(
    measured: MeasuredTranscript, items: Sequence[MessageDecision], settings: Settings, counter: Counter
) -> Retelling:
    """The summaries among `items` that a model may tell in its own words, with one question or more for each.

    Args:
        items: those of a pruning by summaries, in the order of the conversation; each summary stands before the
        messages it stands for.
    """
    summaries = _summaries(measured, items, settings, counter)
    questions = tuple(
        _question(piece, settings.llm.text_tokens, counter)
        for summary in summaries
        for piece in summary.pieces
        if piece.asked
    )
    return Retelling(measured, tuple(items), tuple(summaries), questions, counter)


# --- what is asked ----------------------------------------------------------------------------------------------------


def _summaries(
    measured: MeasuredTranscript, items: Sequence[MessageDecision], settings: Settings, counter: Counter
) -> list[_Summary]:
    """The summaries that have room for a model's words. What the safe zone leaves free is shared out from the front."""
    spare = max(0, settings.conversation_prune.safe_zone_tokens - measured.head - sum(item.after for item in items))
    found: list[_Summary] = []
    for row, numbers in _stretches(items):
        item = items[row]
        gone = sum(measured.tokens[number] for number in numbers)
        most = max(item.after, min(int(gone * settings.conversation_prune.summary_share), item.after + spare))
        heading = f"{SUMMARY_MARK}{len(numbers):,} earlier messages, in a model's words]"
        pieces = _pieces(measured, numbers, most - counter.count(heading) - 1, settings)
        if pieces:
            spare -= max(0, most - item.after)
            found.append(_Summary(row, gone, heading, most, pieces))
    return found


def _stretches(items: Sequence[MessageDecision]) -> Iterator[tuple[int, list[int]]]:
    """(row of a summary that goes out, numbers of the messages it stands for)."""
    row, numbers = -1, list[int]()
    for place, item in enumerate(items):
        if item.number < 0 and (
            place == 0 or items[place - 1].section != item.section
        ):  # a summary, not what joins it to the rest
            if numbers:
                yield row, numbers
            row, numbers = place if item.message is not None else -1, []
        elif row >= 0 and item.number >= 0 and item.state is State.SUMMARISED:
            numbers.append(item.number)
    if numbers:
        yield row, numbers


def _pieces(
    measured: MeasuredTranscript, numbers: Sequence[int], room: int, settings: Settings
) -> tuple[_MessageSpan, ...]:
    """The messages of a summary by questions, as few as the size of a question allows; none where there is room for a
    model's words in none."""
    text_tokens, answer = settings.llm.text_tokens, settings.conversation_prune.summary_tokens
    most = int(text_tokens * SHARE_OF_QUESTION)
    parts: list[list[int]] = [[]]
    size = 0
    for number in numbers:
        tokens = min(most, measured.tokens[number] + PART_TOKENS * len(measured.transcript.messages[number].parts))
        if parts[-1] and size + tokens > text_tokens:
            parts.append([])
            size = 0
        parts[-1].append(number)
        size += tokens
    total = sum(measured.tokens[number] for number in numbers) or 1
    pieces = [
        _MessageSpan(
            tuple(part),
            tuple(measured.transcript.messages[number] for number in part),
            min(answer, room * sum(measured.tokens[number] for number in part) // total),
        )
        for part in parts
    ]
    return tuple(pieces) if any(piece.asked for piece in pieces) else ()


def _question(piece: _MessageSpan, text_tokens: int, counter: Counter) -> Question:
    first, last = piece.numbers[0], piece.numbers[-1]
    return Question(
        f"summarize messages[{first}-{last}]",
        INSTRUCTIONS.format(words=max(8, int(piece.room * WORDS_A_TOKEN))),
        "\n\n".join(
            filter(None, (_told(message, int(text_tokens * SHARE_OF_QUESTION), counter) for message in piece.messages))
        ),
        Notes,
        most_tokens=piece.room + JSON_TOKENS,
        check=lambda notes: (
            "" if _fitting(notes, piece.room, counter) else f"it has no note that fits into {piece.room:,} tokens"
        ),
    )


def _told(message: Message, most: int, counter: Counter) -> str:
    """A message as text: who said what; excerpts where it has more than `most` tokens."""
    told: list[str] = []
    for part in message.parts:
        if part.kind is PartKind.CALL:
            told.append(f"call of {part.tool or 'a tool'}: {part.written}")
        elif part.kind is PartKind.RESULT:
            told.append(f"result of {part.tool or 'a tool'}: {part.text}")
        elif part.kind is PartKind.TEXT:
            told.append(f"{message.role}: {part.text}")
    text = "\n".join(told)
    if len(text) > most * MOST_CHARACTERS_A_TOKEN or counter.count(text) > most:
        return "\n".join(summary_lines([message], most * CHARACTERS_A_TOKEN))
    return text


# --- what comes back --------------------------------------------------------------------------------------------------


def _retold(
    measured: MeasuredTranscript,
    item: MessageDecision,
    summary: _Summary,
    replies: Sequence[Reply | None],
    counter: Counter,
) -> MessageDecision:
    """The item of a summary in a model's words; the item as it is where no words are usable or they do not fit."""
    notes: list[Notes | None] = [reply.value if reply is not None else None for reply in replies]
    if not any(notes):
        return item
    lines: list[str] = []
    for piece, said in zip(summary.pieces, notes, strict=True):
        lines += _fitting(said, piece.room, counter) if said is not None else _excerpts(piece, counter)
    heading = summary.heading if all(notes) else summary.heading.replace("words]", "words and in excerpts]")
    text = "\n".join([heading, *dict.fromkeys(lines)])
    tokens = counter.count(text)
    if tokens > summary.most or tokens >= summary.gone:
        return item
    message = _parsed(measured, item)
    return replace(
        item, message=replaced(message.raw, {message.parts[0]: text}), after=tokens, reason=Reason.SUMMARY_BY_MODEL
    )


def _fitting(notes: Notes, room: int, counter: Counter) -> list[str]:
    """The notes as lines, from the first on, as far as there is room."""
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
    """Excerpts in the room of notes."""
    characters = piece.room * CHARACTERS_A_TOKEN
    while characters >= LEAST_ROOM:
        lines = summary_lines(piece.messages, characters)
        if counter.count("\n".join(lines)) < piece.room:
            return lines
        characters = characters * 2 // 3
    return []


def _parsed(measured: MeasuredTranscript, item: MessageDecision) -> Message:
    return parse_value(item.message, item.section, {}, measured.transcript.format)
