"""Pruning in agents of OpenAI's kit: `RunConfig(call_model_input_filter=input_filter)`.

`Agent(tools=[recall_tool()])` gives the model back what was taken out. A program's own `Live` goes in by
`functools.partial(input_filter, live=live)` and `recall_tool(live)`.
"""

from __future__ import annotations

from typing import Any

from agents import FunctionTool, function_tool
from agents.run import CallModelData, ModelInputData
from secateur import count_tokens

from secateur_agents.live import Live, user_live


def input_filter(data: CallModelData[Any], *, live: Live | None = None) -> ModelInputData:
    """Returns what is to be sent to the model: what is left of the items, and the instructions."""
    given = data.model_data
    step = (live or user_live()).step(given.input, count_tokens(given.instructions or ""))
    return ModelInputData(input=step.messages, instructions=given.instructions)


def recall_tool(live: Live | None = None) -> FunctionTool:
    """Returns the tool `recall`."""
    about = "Give back what a placeholder in this conversation says that recall gives back."
    return function_tool((live or user_live()).recall, name_override="recall", description_override=about)
