"""A model behind an OpenAI-compatible server: what is asked is settled before anything is sent, then asked side by
side, answered in order.

Whether a question is sent depends on its place, its size and the cap alone, never on what answers first. Each is
charged the estimate of its prompt and its most tokens. Only what cannot have cost anything is sent again: where nobody
listened, or the server refused or failed with a status.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec

from secateur.llm.answers import bounded, read_answer, schema_of
from secateur.llm.asking import Question, Reply
from secateur.llm.dialect import REFUSALS, Dialect
from secateur.llm.exchange import Trouble, client_for, post
from secateur.llm.opening import Server
from secateur.llm.prompts import MARGIN, Prompt, characters_within, compose, estimate
from secateur.model import ModelCall
from secateur.progress import Progress
from secateur.settings import Llm
from secateur.tokens import get_counter

FIRST_WAIT = 0.5
"""Seconds before the second attempt; doubled before each further one."""

LONGEST_WAIT = 30.0
"""Seconds between two attempts at most; where a server asks for more, there is no further attempt."""

MOST_COUNTED = 10**9
"""Tokens of one call above which a server's figure is none."""

Sleep = Callable[[float], Awaitable[None]]


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: Any = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """A question and what it may cost."""

    question: Question
    schema: dict[str, Any]
    characters: int  # of its text that are sent
    prompt_tokens: int  # estimated
    reserved: int  # for prompt and answer

    def prompt(self) -> Prompt:
        return compose(self.question, self.schema, self.characters)


class ServerModel:
    """See `LanguageModel`. The spend cap counts over all calls of `ask`; calls of several threads at once share it in
    no certain order.

    model = open_model(settings.llm, os.environ)
    replies = model.ask(questions)
    """

    def __init__(self, server: Server, settings: Llm, sleep: Sleep = asyncio.sleep) -> None:
        self._server, self._settings, self._sleep = server, settings, sleep
        self._counter = get_counter()
        self._dialect: Dialect | None = None  # None: not known yet
        self._spent = 0

    @property
    def name(self) -> str:
        """See `LanguageModel`."""
        return self._settings.model

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
        """See `LanguageModel`. The first question to a server goes alone: from it is learnt what the server takes, or
        that asking is no use."""
        plans = [self._plan(question) for question in questions]
        replies = self._without_room(plans)
        if open_ := [number for number, reply in enumerate(replies) if reply is None]:
            answered = _run(self._round([plans[number] for number in open_], progress))
            replies = [*replies]
            for number, reply in zip(open_, answered, strict=True):
                replies[number] = reply
        done = [reply for reply in replies if reply is not None]
        used = (
            (reply.call.prompt_tokens + reply.call.completion_tokens, reply.reserved)
            for reply in done
            if reply.call.attempts
        )
        self._spent += sum(max(counted, reserved) for counted, reserved in used)
        return done

    # --- before anything is sent --------------------------------------------------------------------------------------

    def _plan(self, question: Question) -> _Plan:
        schema = schema_of(question.answer)
        characters = characters_within(question.text, self._counter, self._settings.text_tokens)
        prompt_tokens = estimate(compose(question, schema, characters), self._counter)
        # The schema may be charged twice: it stands in the prompt and beside it.
        beside = int(self._counter.count(json.dumps(bounded(schema, question.most_tokens))) * MARGIN)
        return _Plan(question, schema, characters, prompt_tokens, prompt_tokens + beside + question.most_tokens)

    def _without_room(self, plans: Sequence[_Plan]) -> list[Reply | None]:
        """A reply for each question that the cap has no room for; None for those that are asked. A later one that fits
        is asked."""
        left = self._settings.spend_cap - self._spent
        replies: list[Reply | None] = []
        for plan in plans:
            fits = plan.reserved <= left
            left -= plan.reserved if fits else 0
            replies.append(
                None
                if fits
                else _unsent(
                    plan, f"not asked, the rest of llm.spend_cap ({self._settings.spend_cap:,} tokens) does not hold it"
                )
            )
        return replies

    # --- the round ----------------------------------------------------------------------------------------------------

    async def _round(self, plans: Sequence[_Plan], progress: Progress | None) -> list[Reply]:
        gate, done = asyncio.Semaphore(self._settings.concurrency), 0

        async def answered(plan: _Plan) -> tuple[Reply, Trouble | None]:
            nonlocal done
            async with gate:
                reply = await self._asked(client, plan, alone=self._dialect is None and not done)
            done += 1
            if progress is not None:
                progress("asking", done, len(plans))
            return reply

        async with client_for(self._server, self._settings.timeout, self._settings.concurrency) as client:
            alone = 1 if self._dialect is None else 0
            replies: list[Reply] = []
            for plan in plans[:alone]:
                reply, trouble = await answered(plan)
                replies.append(reply)
                if trouble is not None and trouble.final:
                    return replies + [_unsent(other, f"not asked after that: {trouble.problem}") for other in plans[1:]]
            rest = await asyncio.gather(*(answered(plan) for plan in plans[alone:]))
        return replies + [reply for reply, _ in rest]

    async def _asked(self, client: httpx2.AsyncClient, plan: _Plan, *, alone: bool) -> tuple[Reply, Trouble | None]:
        """Ask until there is an answer, a trouble that lasts, or no attempt left."""
        dialect, attempts, failures = self._dialect or Dialect(), 0, 0
        prompt = plan.prompt()
        while True:
            messages = prompt.messages(system=dialect.system)
            body = dialect.body(self._settings.model, messages, plan.schema, plan.question.most_tokens)
            got = await post(client, self._server, body, self._settings.timeout)
            attempts += 1
            if not isinstance(got, Trouble):
                if alone:
                    self._dialect = dialect
                return self._read(plan, got, attempts), None
            simpler = dialect.simpler(got.refusal) if got.status in REFUSALS and got.refusal else None
            if simpler is not None:
                dialect = simpler
                continue
            wait = FIRST_WAIT * 2**failures if got.wait is None else got.wait
            if not got.again or failures >= self._settings.retries or wait > LONGEST_WAIT:
                return self._failed(plan, got, attempts), got
            failures += 1
            await self._sleep(wait)

    # --- replies ------------------------------------------------------------------------------------------------------

    def _failed(self, plan: _Plan, trouble: Trouble, attempts: int) -> Reply:
        cost = plan.prompt_tokens if trouble.spent else 0
        return Reply(None, ModelCall(plan.question.what, "failed", attempts, cost, 0), trouble.problem, plan.reserved)

    def _read(self, plan: _Plan, raw: bytes, attempts: int) -> Reply:
        """The reply in a body that came whole."""
        value, said, usage = None, "", None
        try:
            completion = msgspec.json.decode(raw, type=_Completion)
        except (msgspec.DecodeError, RecursionError):
            problem = "what came is no answer of the chat protocol"
        else:
            usage = completion.usage
            said = (completion.choices[0].message.content or "") if completion.choices else ""
            value, problem = read_answer(said, plan.question) if said.strip() else (None, "the answer is empty")
            if self._server.key.is_in(f"{said} {problem} {msgspec.to_builtins(value)}"):
                value, problem = None, "the answer holds the server's key"
        prompt_tokens = _counted(usage, "prompt_tokens", plan.prompt_tokens)
        completion_tokens = _counted(usage, "completion_tokens", min(self._counter.count(said), MOST_COUNTED))
        call = ModelCall(
            plan.question.what,
            "answered" if value is not None else "refused",
            attempts,
            prompt_tokens,
            completion_tokens,
        )
        return Reply(value, call, problem, plan.reserved)


def _counted(usage: Any, name: str, estimated: int) -> int:
    """The server's figure where it is one, else the estimate."""
    said = usage.get(name) if isinstance(usage, dict) else None
    return said if type(said) is int and 0 <= said <= MOST_COUNTED else estimated


def _unsent(plan: _Plan, problem: str) -> Reply:
    return Reply(None, ModelCall(plan.question.what, "not_sent", 0, 0, 0), problem, plan.reserved)


def _run(round_: Coroutine[Any, Any, list[Reply]]) -> list[Reply]:
    """The outcome of a round, also where the caller runs in an event loop, which is then blocked as by any other
    call."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(round_)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, round_).result()
