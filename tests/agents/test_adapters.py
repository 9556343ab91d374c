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
    return Live(with_values(Settings(profile="recommended"), values), Store.at(tmp_path), seconds=600)


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


async def test_litellm(live: Live) -> None:
    pytest.importorskip("litellm")
    from secateur_agents.litellm import PruningCallback, pruner

    def chat(number: int) -> list[dict[str, Any]]:
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "show", "arguments": f'{{"number": {number}}}'},
        }
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": show(number)},
        ]

    def anthropic(number: int) -> list[dict[str, Any]]:
        call = {"type": "tool_use", "id": f"c{number}", "name": "show", "input": {"number": number}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": show(number)}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]

    def responses(number: int) -> list[dict[str, Any]]:
        call = {
            "type": "function_call",
            "name": "show",
            "call_id": f"c{number}",
            "arguments": f'{{"number": {number}}}',
        }
        return [call, {"type": "function_call_output", "call_id": f"c{number}", "output": show(number)}]

    secateur, look = PruningCallback(live), {"role": "user", "content": "Look."}
    for kind, field, turn in (
        ("acompletion", "messages", chat),
        ("anthropic_messages", "messages", anthropic),
        ("aresponses", "input", responses),
    ):
        sent: list[str] = []
        for steps in range(STEPS):
            history = [look, *(message for number in range(steps + 1) for message in turn(number))]
            data = await secateur.async_pre_call_hook(None, None, {field: history, "model": "m"}, kind)
            assert data["model"] == "m"
            sent.append(str(data[field]))
        assert live.recall(digests([sent[0], *sent])[0]) == show(0) and not live.failures
        without = await pruner.async_pre_call_hook(None, None, {field: history * 1}, kind)
        assert "gives it back" not in str(without)
    texts = {"input": [show(0)] * 100}
    assert await secateur.async_pre_call_hook(None, None, dict(texts), "aembedding") == texts
