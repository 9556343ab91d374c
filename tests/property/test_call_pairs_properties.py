"""Whatever is pruned, in every format: what leaves is what its provider takes, and the input is not changed."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.api_conversations import API_FORMATS, api_conversation, refused


@pytest.mark.parametrize("form", API_FORMATS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 1 << 40),
    strategy=st.sampled_from(STRATEGIES),
    share=st.sampled_from((0, 0.1, 0.3, 0.5, 0.7, 0.9)),
    group=st.integers(1, 5),
    first=st.booleans(),
)
def test_what_leaves_is_taken_by_its_provider(
    form: str, seed: int, strategy: str, share: float, group: int, first: bool
) -> None:
    messages = api_conversation(form, seed)
    assert not refused(messages)
    before, transcript = copy.deepcopy(messages), read_messages(messages)
    measured = measure(transcript, get_counter("chars4"))
    values = {
        "tokens.counter": "chars4",
        "conversation_prune.safe_zone_tokens": int(measured.total * share),
        "conversation_prune.group_size": group,
        "conversation_prune.keep_first": first,
    }
    result = prune(transcript, with_values(Settings(), values), strategy)
    assert messages == before and not transcript.notices
    assert refused(result.messages) == []
    assert measure(read_messages(result.messages), get_counter("chars4")).total == result.report.after
    calls = sum(bool(part.call) for message in transcript.messages for part in message.calls)
    if calls or form not in ("anthropic", "openai", "ai-sdk", "openai-responses"):
        assert transcript.format == form
