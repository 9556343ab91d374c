"""Pruning in a proxy of LiteLLM, for any program that speaks the protocol of Anthropic or OpenAI.

    litellm_settings:
      callbacks: secateur_agents.litellm.pruner

Such a program may have no tool that gives originals back, so `pruner` keeps none. For agents that have the MCP server,
make `PruningCallback(user_live())` in a module of your own.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from litellm.integrations.custom_logger import CustomLogger
from secateur import count_tokens

from secateur_agents.live import Live

_FIELDS = {
    "completion": "messages",
    "acompletion": "messages",
    "anthropic_messages": "messages",
    "aanthropic_messages": "messages",
    "responses": "input",
    "aresponses": "input",
}
"""Type of a call -> the field with its history. What other calls send, such as texts to embed, is no conversation."""


class PruningCallback(CustomLogger):  # type: ignore[misc]  # of the extra litellm, which may not be installed
    """Prunes the history of each request before LiteLLM sends it."""

    def __init__(self, live: Live | None = None) -> None:
        """`live`: None: the profile `recommended`, without a store."""
        super().__init__()
        self.live = live or Live()

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        cache: Any,  # noqa: ARG002
        data: dict[str, Any],
        call_type: Any,
    ) -> Any:
        """Replaces the history in a request."""
        name = _FIELDS.get(str(call_type), "")
        if isinstance(data.get(name), list):
            data[name] = await asyncio.to_thread(self._prune, data[name], data)
        return data

    def _prune(self, history: list[Any], data: dict[str, Any]) -> list[Any]:
        beside = [data.get(name) or "" for name in ("system", "instructions", "tools")]
        return self.live.step(history, count_tokens(json.dumps(beside, default=repr))).messages


pruner = PruningCallback()
