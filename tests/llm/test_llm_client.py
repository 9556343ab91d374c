"""A model asked over the loopback interface: order, cap, retries, and every fault of a server."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import traceback
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import force_setattr
from secateur.errors import ConfigError
from secateur.http import ServerKey, server_at
from secateur.llm import open_model
from secateur.llm.client import AT_ONCE, LONGEST_WAIT, ServerModel
from secateur.llm.interface import Question, Reply, notices_of
from secateur.settings import Llm
from support.chat_server import KEY, Answer, Back, ChatServer, chat_server, refusal, said


class Score(msgspec.Struct):
    score: int


class Waits:
    """Stands in for the clock: remembers how long was to be waited."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def question(number: int, most_tokens: int = 20, text: str = "") -> Question:
    return Question(f"score {number}", "Say what stands in the text.", text or f"number {number}", Score, most_tokens)


def model_of(server: ChatServer | str, waits: Waits | None = None, **changes: Any) -> ServerModel:
    url = server if isinstance(server, str) else server.url
    given = {"enabled": True, "base_url": url, "model": "m", "api_key_env": "KEY"} | changes
    timeout = given.pop("timeout", 60)
    chosen = Llm(**given)
    force_setattr(chosen, "timeout", timeout)  # less than a user may set, so that the tests are fast
    model = open_model(chosen, {"KEY": KEY})
    assert isinstance(model, ServerModel)
    model._wait = waits or Waits()
    return model


def number_in(body: dict[str, Any]) -> int:
    return int(body["messages"][-1]["content"].split("number ")[1].split()[0])


def right(body: dict[str, Any]) -> Back:
    """The answer that is asked for."""
    return said({"score": number_in(body)})


def outcomes(replies: Sequence[Reply]) -> list[str]:
    return [reply.call.outcome for reply in replies]


# --- questions and replies --------------------------------------------------------------------------------------------


def test_a_question_is_sent_as_the_protocol_has_it_and_its_cost_is_the_servers() -> None:
    with chat_server(right) as server:
        (reply,) = model_of(server).ask([question(3)])
    assert reply.value == Score(3)
    assert reply.problem == ""
    assert reply.call.to_dict() == {
        "what": "score 3",
        "outcome": "answered",
        "attempts": 1,
        "promptTokens": 11,
        "completionTokens": 5,
    }
    (body,) = server.bodies
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert {key: body[key] for key in ("model", "temperature", "stream", "max_tokens")} == {
        "model": "m",
        "temperature": 0,
        "stream": False,
        "max_tokens": 20,
    }
    assert body["seed"] == 7
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["score"]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_replies_come_in_the_order_of_the_questions_whatever_answers_first() -> None:
    last = threading.Event()

    def slow_first(body: dict[str, Any]) -> Back:
        if number_in(body) == 9:
            last.set()
        elif number_in(body) == 1:
            last.wait(20)  # the second question is answered after the last
        return right(body)

    steps: list[tuple[str, int, int]] = []
    with chat_server(slow_first) as server:
        replies = model_of(server).ask([question(number) for number in range(10)], lambda *step: steps.append(step))
    assert [reply.value for reply in replies] == [Score(number) for number in range(10)]
    assert steps == [("asking", number, 10) for number in range(1, 11)]
    assert number_in(server.bodies[0]) == 0
    assert server.most_at_once <= AT_ONCE


def test_it_can_be_asked_inside_an_event_loop_and_more_than_once() -> None:
    with chat_server(right) as server:
        model = model_of(server)

        async def inside() -> list[Reply]:
            return model.ask([question(1), question(2)])

        assert [reply.value for reply in asyncio.run(inside())] == [Score(1), Score(2)]
        assert model.ask([question(5)])[0].value == Score(5)
    assert model.ask([]) == []


def test_without_a_key_no_header_is_sent() -> None:
    with chat_server(right) as server:
        model_of(server, api_key_env="").ask([question(1)])
    assert "Authorization" not in server.headers[0]


def test_text_from_outside_is_bounded() -> None:
    with chat_server(lambda _: said({"score": 1})) as server:
        model_of(server, text_tokens=100).ask([question(1, text="word " * 5000)])
    assert server.texts()[0].count("word") <= 101
    assert "not shown" in server.texts()[0]


# --- the cap ----------------------------------------------------------------------------------------------------------


@settings(max_examples=12)
@given(st.lists(st.integers(1, 300), max_size=8), st.integers(0, 2000), st.integers(0, 2000))
def test_what_is_asked_depends_on_order_and_size_alone(sizes: list[int], cap: int, spent: int) -> None:
    """What is sent in a round is reserved within the rest of the cap; what is not sent did not fit into it."""
    model = ServerModel(
        server_at("http://127.0.0.1:9", ServerKey(""), "llm", ConfigError),
        Llm(enabled=True, base_url="http://127.0.0.1:9", model="m", spend_cap=cap),
    )
    model._spent = spent
    plans = [model._plan(question(number, most)) for number, most in enumerate(sizes)]
    left = cap - spent
    for plan, reply in zip(plans, model._refuse_over_cap(plans), strict=True):
        assert plan.reserved > plan.question.most_tokens
        assert (reply is None) == (plan.reserved <= left)
        left -= plan.reserved if reply is None else 0
    assert left >= min(0, cap - spent)


def test_what_the_cap_does_not_hold_is_not_sent_and_later_ones_that_fit_are() -> None:
    with chat_server(right) as server:
        room = sum(model_of(server)._plan(question(number)).reserved for number in (0, 2))
        model = model_of(server, spend_cap=room)
        replies = model.ask([question(0), question(1, most_tokens=10_000), question(2), question(3)])
        assert outcomes(replies) == ["answered", "not_sent", "answered", "not_sent"]
        assert sorted(number_in(body) for body in server.bodies) == [0, 2]
        assert replies[1].call.attempts == replies[1].call.prompt_tokens == 0
        assert "llm.spend_cap" in replies[1].problem
        assert outcomes(model.ask([question(4)])) == ["not_sent"]  # the cap is that of the run
    assert len(server.bodies) == 2


def test_a_cap_of_nothing_sends_nothing() -> None:
    with chat_server(right) as server:
        assert outcomes(model_of(server, spend_cap=0).ask([question(1)])) == ["not_sent"]
    assert server.bodies == []


def test_a_server_that_counts_more_is_told_of_and_what_it_counted_is_gone() -> None:
    with chat_server(lambda _: said({"score": 1}, prompt_tokens=50_000)) as server:
        model = model_of(server, spend_cap=60_000)
        replies = model.ask([question(1)])
        (notice,) = notices_of(replies)
        assert notice.code == "llm_spend"
        assert "50,005 tokens" in notice.message
        assert outcomes(model.ask([question(1, most_tokens=20_000)])) == ["not_sent"]


@pytest.mark.parametrize(
    "usage",
    [
        None,
        3,
        [],
        {},
        {"prompt_tokens": "9"},
        {"prompt_tokens": -4},
        {"prompt_tokens": True},
        {"prompt_tokens": 10**30},
    ],
)
def test_a_count_that_is_none_is_estimated(usage: object) -> None:
    body = json.dumps({"choices": [{"message": {"content": '{"score": 1}'}}], "usage": usage}).encode()
    with chat_server(lambda _: Back(body=body)) as server:
        model = model_of(server)
        (reply,) = model.ask([question(1)])
    assert reply.value == Score(1)
    assert reply.call.prompt_tokens == model._plan(question(1)).prompt_tokens
    assert 0 < reply.call.completion_tokens < 20


# --- faults -----------------------------------------------------------------------------------------------------------


def test_nobody_listening_is_found_out_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    waits = Waits()
    replies = model_of(url, waits).ask([question(number) for number in range(5)])
    assert outcomes(replies) == ["failed", *["not_sent"] * 4]
    assert replies[0].call.attempts == 3
    assert waits.seconds == [0.5, 1.0]
    assert url in replies[0].problem
    assert sum(reply.call.prompt_tokens for reply in replies) == 0
    assert [notice.code for notice in notices_of(replies)] == ["llm_unanswered", "llm_unanswered"]


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_server_that_fails_at_first_is_asked_again(status: int) -> None:
    waits = Waits()
    with chat_server(right, [refusal(status), refusal(status)]) as server:
        (reply,) = model_of(server, waits).ask([question(4)])
    assert (reply.value, reply.call.attempts) == (Score(4), 3)
    assert waits.seconds == [0.5, 1.0]


def test_a_server_that_keeps_failing_is_given_up() -> None:
    waits = Waits()
    with chat_server(lambda _: refusal(500)) as server:
        replies = model_of(server, waits).ask([question(1), question(2)])
    assert outcomes(replies) == ["failed", "failed"]
    assert [reply.call.attempts for reply in replies] == [3, 3]
    assert replies[0].problem == "the server failed (status 500)"


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry_After": "3"}, [3.0]),
        ({"Retry_After": "0.25"}, [0.25]),
        ({"Retry_After": "0"}, [0.0]),
        ({"Retry_After": "Wed, 21 Oct 2026 07:28:07 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, [7.0]),
        ({"Retry_After": "Wed, 21 Oct 1999 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, [0.0]),
        ({"Retry_After": "soon"}, [0.5]),
        ({"Retry_After": "-5"}, [0.5]),
        ({"Retry_After": "9" * 400}, [0.5]),
    ],
)
def test_a_busy_server_says_how_long_to_wait(headers: dict[str, str], waited: list[float]) -> None:
    waits = Waits()
    with chat_server(right, [refusal(429, **headers)]) as server:
        (reply,) = model_of(server, waits).ask([question(4)])
    assert reply.value == Score(4)
    assert waits.seconds == waited


def test_longer_than_the_bound_is_not_waited() -> None:
    waits = Waits()
    with chat_server(right, [refusal(429, Retry_After=str(LONGEST_WAIT + 1))]) as server:
        (reply,) = model_of(server, waits).ask([question(4)])
    assert (reply.value, reply.call.attempts, waits.seconds) == (None, 1, [])
    assert "retry after 31 s" in reply.problem


def test_a_slow_server_is_not_waited_for_nor_asked_twice() -> None:
    """It may be at work on the question, which somebody pays for."""
    release = threading.Event()
    with chat_server(right, [Back(until=release)]) as server:
        model = model_of(server, timeout=0.2)
        replies = model.ask([question(1), question(2)])
        release.set()
    assert outcomes(replies) == ["failed", "answered"]
    assert replies[0].call.attempts == 1
    assert replies[0].call.prompt_tokens == model._plan(question(1)).prompt_tokens
    assert "within 0.2 s" in replies[0].problem


def test_a_server_that_drips_is_not_waited_for() -> None:
    """Each byte comes in time; the answer never does."""
    stop = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not stop.wait(0.01):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,))
        thread.start()
        (reply,) = model_of(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=0.3).ask([question(1)])
        stop.set()
        thread.join()
    assert reply.call.outcome == "failed"
    assert "within 0.3 s" in reply.problem


CHOICE = b'{"choices": [{"message": {"content": %s}}]}'


@pytest.mark.parametrize(
    ("back", "outcome", "problem"),
    [
        (Back(body=CHOICE % b'"{}"', promised=4000), "failed", "broke before"),
        (Back(body=b"", promised=10), "failed", "broke before"),
        (Back(body=b""), "refused", "does not follow the chat protocol"),
        (Back(body=b'{"choices": [{"mess'), "refused", "no answer of the chat protocol"),
        (Back(body=b"<html>"), "refused", "no answer of the chat protocol"),
        (Back(body=b"[" * 100_000), "refused", "no answer of the chat protocol"),
        (Back(body=b"\xff\xfe"), "refused", "no answer of the chat protocol"),
        (Back(body=b"{}"), "refused", "no answer of the chat protocol"),
        (Back(body=b'{"choices": 3}'), "refused", "no answer of the chat protocol"),
        (Back(body=CHOICE % b"7"), "refused", "no answer of the chat protocol"),
        (Back(body=b'{"choices": []}'), "refused", "empty"),
        (Back(body=CHOICE % b"null"), "refused", "empty"),
        (Back(body=CHOICE % b'" "'), "refused", "empty"),
        (said("I would say seven."), "refused", "no JSON object"),
        (said({"score": "seven"}), "refused", "wrong shape"),
        (said({"points": 7}), "refused", "wrong shape"),
        (Back(body=b"x" * 100, headers={"Content-Encoding": "gzip"}), "failed", "compression"),
        (refusal(401, f"Incorrect API key provided: {KEY}"), "failed", "the key is not accepted"),
        (refusal(403), "failed", "the key does not allow it"),
        (refusal(404), "failed", "address or the model does not exist"),
        (Back(400, b'{"error": {"code": "context_length_exceeded"}}'), "failed", "lower llm.text_tokens"),
        (Back(429, b'{"error": {"code": "insufficient_quota"}}'), "failed", "quota is used up"),
        (Back(500, b"half", promised=5000), "failed", "the server failed"),
        (Back(418), "failed", "status 418"),
    ],
)
def test_every_fault_is_a_reply_with_a_problem(back: Back, outcome: str, problem: str) -> None:
    with chat_server(lambda _: back) as server:
        (reply,) = model_of(server).ask([question(1)])
    assert (reply.value, reply.call.outcome) == (None, outcome)
    assert problem in reply.problem
    assert KEY not in reply.problem
    (notice,) = notices_of([reply])
    assert reply.problem in notice.message


def test_a_huge_reply_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secateur.llm.client.MOST_BYTES", 1000)
    with chat_server(lambda _: said("x" * 2_000_000)) as server:
        (reply,) = model_of(server).ask([question(1)])
    assert (reply.value, reply.call.attempts) == (None, 1)
    assert "more than 1,000 bytes" in reply.problem


def test_of_several_questions_only_the_broken_ones_fail() -> None:
    def some(body: dict[str, Any]) -> Back:
        return [right(body), said("no"), Back(body=b"{"), refusal(500)][number_in(body) % 4]

    with chat_server(some) as server:
        replies = model_of(server).ask([question(number) for number in range(8)])
    assert outcomes(replies) == ["answered", "refused", "refused", "failed"] * 2


def test_a_fault_that_will_not_go_away_stops_the_rest() -> None:
    with chat_server(lambda _: refusal(401)) as server:
        replies = model_of(server).ask([question(number) for number in range(4)])
    assert outcomes(replies) == ["failed", "not_sent", "not_sent", "not_sent"]
    assert len(server.bodies) == 1


# --- what a server takes ----------------------------------------------------------------------------------------------


def refusing(name: str, message: str) -> Answer:
    """A server that does not take a parameter."""

    def answer(body: dict[str, Any]) -> Back:
        return refusal(400, message) if name in body else right(body)

    return answer


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("temperature", "Unsupported value: 'temperature' does not support 0 with this model."),
        ("seed", "Extra inputs are not permitted: seed"),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
    ],
)
def test_a_parameter_that_is_refused_is_left_out_from_then_on(name: str, message: str) -> None:
    with chat_server(refusing(name, message)) as server:
        replies = model_of(server).ask([question(number) for number in range(4)])
    assert [reply.value for reply in replies] == [Score(number) for number in range(4)]
    assert [reply.call.attempts for reply in replies] == [2, 1, 1, 1]
    assert all(name not in body for body in server.bodies[1:])
    optional = {"response_format", "temperature", "seed"} - {name}
    assert all(optional <= body.keys() for body in server.bodies)
    assert all(20 in (body.get("max_tokens"), body.get("max_completion_tokens")) for body in server.bodies)


@pytest.mark.parametrize(
    "message", ["response_format is not supported by this model", "Unrecognized request.", "failed to parse grammar"]
)
def test_a_schema_that_is_refused_goes_without_its_limits_and_then_not_at_all(message: str) -> None:
    with chat_server(refusing("response_format", message)) as server:
        replies = model_of(server).ask([question(number) for number in range(4)])
    assert [reply.value for reply in replies] == [Score(number) for number in range(4)]
    assert [reply.call.attempts for reply in replies] == [3, 1, 1, 1]
    assert all("response_format" not in body for body in server.bodies[2:])


def test_a_server_that_knows_no_limits_of_texts_gets_a_schema_without_them() -> None:
    class Text(msgspec.Struct):
        text: str

    def answer(body: dict[str, Any]) -> Back:
        limited = "maxLength" in json.dumps(body["response_format"])
        return (
            refusal(400, "Invalid schema for response_format: 'maxLength' is not permitted")
            if limited
            else said({"text": "x" * 5000})
        )

    with chat_server(answer) as server:
        replies = model_of(server).ask([Question(f"q {number}", "i", "t", Text, 50) for number in range(2)])
    assert [reply.value for reply in replies] == [Text("x" * 5000)] * 2  # longer than asked for, and whole
    assert [reply.call.attempts for reply in replies] == [2, 1]


def test_what_a_server_takes_is_learnt_from_the_first_question_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the attempts in the report would depend on which of several questions is answered first."""
    monkeypatch.setattr("secateur.llm.client.RETRIES", 0)
    with chat_server(refusing("seed", "seed is not known"), [refusal(500)]) as server:
        replies = model_of(server).ask([question(number) for number in range(4)])
    assert [reply.call.attempts for reply in replies] == [1, 2, 2, 2]


def test_a_server_without_a_system_role_gets_one_message() -> None:
    def answer(body: dict[str, Any]) -> Back:
        return refusal(400, "System role not supported") if body["messages"][0]["role"] == "system" else right(body)

    with chat_server(answer) as server:
        (reply,) = model_of(server).ask([question(6)])
    assert reply.value == Score(6)
    assert len(server.bodies[1]["messages"]) == 1


def test_a_server_that_refuses_everything_is_given_up() -> None:
    words = "response_format max_completion_tokens temperature seed system"
    with chat_server(lambda _: refusal(400, words)) as server:
        (reply,) = model_of(server).ask([question(1)])
    assert reply.call.outcome == "failed"
    assert reply.call.attempts == len(server.bodies) == 7


# --- keys, addresses --------------------------------------------------------------------------------------------------


def test_redirects_are_not_followed_so_key_and_text_stay() -> None:
    with chat_server(right) as other:
        for status in (301, 302, 307, 308):
            away = Back(status, headers={"Location": f"{other.url}/v1/chat/completions"})
            with chat_server(right, [away]) as server:
                replies = model_of(server).ask([question(1), question(2)])
            assert outcomes(replies) == ["failed", "not_sent"]
            assert f"status {status}" in replies[0].problem
            assert len(server.bodies) == 1
    assert other.bodies == []


def test_proxies_of_the_environment_are_not_used_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(right) as server, chat_server(right) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert model_of(server).ask([question(1)])[0].value == Score(1)
    assert proxy.bodies == []


def test_an_answer_that_holds_the_key_is_none() -> None:
    class Text(msgspec.Struct):
        text: str

    for content in ({"text": f"the key is {KEY}"}, f"no JSON {KEY}", json.dumps({"text": KEY}).replace("5", "\\u0035")):
        with chat_server(lambda _, content=content: said(content)) as server:
            (reply,) = model_of(server).ask([Question("q", "i", "t", Text)])
        assert reply.value is None
        assert KEY not in reply.problem


def test_a_bug_of_ours_does_not_show_the_key_either(caplog: pytest.LogCaptureFixture) -> None:
    """Also with --debug, which prints the traceback, and with every logger on."""
    caplog.set_level("DEBUG")

    def broken(_: Any) -> str:
        raise ZeroDivisionError

    with chat_server(right) as server:
        model = model_of(server)
        with pytest.raises(ZeroDivisionError) as caught:
            model.ask([Question("q", "i", "number 1", Score, check=broken)])
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert KEY not in shown
    assert KEY not in caplog.text
    assert KEY not in repr(vars(model))


def test_many_problems_are_told_in_few_words() -> None:
    def each(body: dict[str, Any]) -> Back:
        return refusal(410 + number_in(body) % 5)

    with chat_server(each) as server:
        notices = notices_of(model_of(server).ask([question(number) for number in range(20)]))
    assert len(notices) == 4
    assert "to 4 of 20 questions (score 0 first)" in notices[0].message
    assert "8 more questions have no usable answer, for 2 other reasons" in notices[3].message
