"""Counts a conversation in the tokens of the model that reads it.

A session of an agent tells what its first requests took. Two of them give a factor between these tokens and counted
ones, and the tokens of the system prompt and the tools. The factor depends on the beginning of the session alone, so it
stays as the session grows, and after a compaction.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.api_formats import SESSION_FORMATS
from secateur.kinds.conversation.messages import Message
from secateur.kinds.conversation.session_formats.base import SessionFormat, text_at
from secateur.kinds.conversation.transcripts import Transcript
from secateur.kinds.conversation.unreadable import SessionMessages
from secateur.tokens import Counter, ScaledCounter, counter_for, encoding_of, tokenizer_notice

MOST_FIRST_REQUESTS = 60  # requests that are looked at for a factor
LEAST_BETWEEN = 3_000  # counted tokens between two requests that give a factor: a reminder is small beside them
FACTORS = (0.5, 3.0)  # a factor outside of this range is that of another change, as of a compaction
NEAR_ONE = 0.02  # a smaller difference from 1 is left alone


def count_for_model(transcript: Transcript, counter: Counter) -> tuple[Transcript, Counter, int]:
    """Returns the transcript, maybe with a warning; the counter for its model; and the tokens of a session's first
    request that the session does not hold."""
    values = [message.raw if isinstance(message.raw, dict) else {} for message in transcript.messages]
    form = SESSION_FORMATS.get(transcript.format)
    head = transcript.container
    model = form.heading(values, head).model if form is not None else text_at(head, "model")
    counter, overhead = counter_for(model, counter), 0
    first: tuple[int, int] | None = None  # tokens as reported and as counted
    known: dict[str, int] = {}
    for read, messages in _first_requests(form, values, head) if form is not None else ():
        parts = [part for message in messages for part in message.parts]
        new = dict.fromkeys(part.text for part in parts if part.text not in known)
        known.update(zip(new, counter.count_many(new), strict=True))
        counted = sum(known[part.text] + part.media_tokens for part in parts)
        if first is None:
            first, overhead = (read, counted), max(0, read - counted)
        elif counted - first[1] >= LEAST_BETWEEN:
            factor = round((read - first[0]) / (counted - first[1]), 2)
            if FACTORS[0] <= factor <= FACTORS[1]:
                scaled = ScaledCounter(counter, factor) if abs(factor - 1) > NEAR_ONE else counter
                return transcript, scaled, max(0, first[0] - round(first[1] * factor))
            first = read, counted
        if encoding_of(model):
            break
    notice = tokenizer_notice(model, counter.name)
    return replace(transcript, notices=(*transcript.notices, *notice)), counter, overhead


def _first_requests(
    form: SessionFormat, values: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None
) -> Iterator[tuple[int, Sequence[Message]]]:
    """Yields the first requests that report their tokens, each with what it sent."""
    requests = set[str]()
    for index, value in enumerate(values):
        usage = form.usage(value)
        if usage is None or usage.request in requests or len(requests) >= MOST_FIRST_REQUESTS:
            continue
        if not form.tells_usage_aside and index not in form.list_sent(values[: index + 1], head):
            continue
        requests.add(usage.request)
        sent = [
            one for one in values[:index] if one.get("id", index) != value.get("id")
        ]  # an answer may be written twice
        try:
            messages = list(SessionMessages(form).read(sent, [""] * len(sent), head)[0])
        except SecateurError:
            continue
        while form.tells_usage_aside and messages and messages[-1].role in ("assistant", "aside"):
            messages.pop()  # the answer, whose usage comes after it
        yield usage.read, messages
