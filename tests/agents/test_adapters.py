"""The adapters, each with the real library: what its model is sent is pruned, and the tool gives back what went."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from secateur.settings import Settings, with_values
from secateur_agents import Live, Store

STEPS = 12
TEXT = "value = {number}\n" * 100


@pytest.fixture
def live(tmp_path: Path) -> Live:
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 3_000}
    return Live(with_values(Settings(profile="recommended"), values), Store.at(tmp_path))


def show(number: int) -> str:
    """Shows a file."""
    return TEXT.replace("{number}", str(number))


def digests(sent: list[str]) -> list[str]:
    """What the last request names for `recall`, in place of the first results."""
    first = repr(show(0))[1:-1]
    assert first in sent[1] and first not in sent[-1]
    return re.findall(r"recall ([0-9a-f]{12}) gives it back", sent[-1])


def test_langchain(live: Live) -> None:
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from secateur_agents.langchain import Secateur

    sent: list[str] = []

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            assert {"show", "recall"} <= {tool.name for tool in tools}
            return self

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            sent.append(str([message.content for message in messages]))
            return super()._generate(messages, *args, **kwargs)

    calls = [{"name": "show", "args": {"number": number}, "id": f"c{number}"} for number in range(STEPS)]
    answers = [AIMessage(content="", tool_calls=[call]) for call in calls]
    model = Model(messages=iter([*answers, AIMessage(content="Done.")]))
    agent = agents.create_agent(model, [show], middleware=[Secateur(live)])
    state = agent.invoke({"messages": [{"role": "user", "content": "Look."}]}, {"recursion_limit": 100})
    assert sum(message.content == show(number) for number in range(STEPS) for message in state["messages"]) == STEPS
    assert live.recall(digests(sent)[0]) == show(0) and not live.failures


def test_pydantic_ai(live: Live) -> None:
    ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from secateur_agents.pydantic_ai import prune_history

    sent: list[str] = []

    def answer(messages: Any, _info: Any) -> ModelResponse:
        sent.append(str([getattr(part, "content", "") for message in messages for part in message.parts]))
        number = len(sent) - 1
        return ModelResponse([ToolCallPart("show", {"number": number}) if number < STEPS else TextPart("Done.")])

    history = ProcessHistory(partial(prune_history, live=live))
    agent = ai.Agent(FunctionModel(answer), tools=[show, live.recall], capabilities=[history])
    assert agent.run_sync("Look.").output == "Done."
    assert live.recall(digests(sent)[0]) == show(0) and not live.failures


async def test_openai_agents(live: Live) -> None:
    pytest.importorskip("agents.run")  # `agents` alone is the folder of this test
    import agents
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
    from secateur_agents.openai_agents import input_filter, recall_tool

    sent: list[str] = []

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:  # noqa: ARG002
            sent.append(str(input))
            number, call = len(sent) - 1, {"type": "function_call", "name": "show"}
            made = ResponseFunctionToolCall(**call, call_id=f"c{number}", arguments=f'{{"number": {number}}}')
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            output = [made if number < STEPS else said]
            return agents.ModelResponse(output=output, usage=agents.Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    agents.set_tracing_disabled(True)
    agent = agents.Agent(
        name="a", instructions="Look.", model=Scripted(), tools=[agents.function_tool(show), recall_tool(live)]
    )
    config = agents.RunConfig(call_model_input_filter=partial(input_filter, live=live))
    ran = await agents.Runner.run(agent, "Look.", run_config=config, max_turns=STEPS + 2)
    assert ran.final_output == "Done."
    assert live.recall(digests(sent)[0]) == show(0) and not live.failures
