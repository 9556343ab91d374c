"""Pruning in agents of LangChain and LangGraph: `create_agent(model, tools, middleware=[Secateur()])`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import messages_from_dict, messages_to_dict
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from secateur import count_tokens

from secateur_agents.live import Live, prune_objects, user_live


class Secateur(AgentMiddleware):  # type: ignore[misc]  # of the extra langchain, which may not be installed
    """Prunes what each request sends; the state of the agent keeps every message. Registers the tool `recall`."""

    def __init__(self, live: Live | None = None) -> None:
        """`live`: None: the profile `recommended`, and the user's store."""
        super().__init__()
        self.live = live or user_live()
        about = "Give back what a placeholder in this conversation says that recall gives back."
        self.tools = [StructuredTool.from_function(self.live.recall, name="recall", description=about)]

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> Any:
        """Sends what is left of the messages."""
        return handler(self._pruned(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> Any:
        """Does the same for an agent that runs asynchronously."""
        return await handler(await asyncio.to_thread(self._pruned, request))

    def _pruned(self, request: ModelRequest) -> ModelRequest:
        def overhead() -> int:
            tools = json.dumps([convert_to_openai_tool(tool) for tool in request.tools])
            return count_tokens(f"{request.system_prompt or ''}{tools}")

        return request.override(
            messages=prune_objects(self.live, request.messages, messages_to_dict, messages_from_dict, overhead)
        )
