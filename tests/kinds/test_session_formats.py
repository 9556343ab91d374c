"""Sessions of each agent as conversations: what is sent, what its tools did, what the agent reported."""

import json

import pytest
from secateur.kinds.conversation.decisions import measure, measure_for_model
from secateur.kinds.conversation.folds import live_ledger
from secateur.kinds.conversation.messages import ASIDE
from secateur.kinds.conversation.session_facts import SessionRequest, forecast, session_facts, strategy_cuts
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.tool_results import results_in_order
from secateur.kinds.conversation.transcripts import read_messages, read_transcript
from secateur.kinds.conversation.window_contents import dead_weight, window_contents
from secateur.model import Reason
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support import agent_sessions as agents
from support.agent_sessions import SCRIPT, as_lines, compacted, said, tool, user

COUNTER = get_counter("estimate")
SESSIONS = {
    "claude-code": lambda script: as_lines(agents.claude_code(script)),
    "codex": lambda script: as_lines(agents.codex(script)),
    "gemini-cli": lambda script: as_lines(agents.gemini_cli(script)),
    "gemini-cli, one object": lambda script: json.dumps(agents.gemini_cli_whole(script)),
    "copilot": lambda script: as_lines(agents.copilot(script)),
    "opencode": lambda script: json.dumps(agents.opencode(script)),
    "opencode 2": lambda script: json.dumps(
        [{**row["data"], "id": row["id"], "type": row["type"]} for row in agents.opencode_2(script)]
    ),
}
"""The same script in every format that is known."""

LINES = ("claude-code", "codex", "gemini-cli", "copilot")


def read(form, script=SCRIPT):
    return measure(read_transcript(SESSIONS[form](script).encode()), COUNTER)


def told(measured):
    """What a model is sent: role and text of every part, without what only one agent adds."""
    return [
        (part.kind.value, part.text)
        for message in measured.transcript.messages
        if message.role not in (ASIDE, "system")
        for part in message.parts
        if part.kind.value in ("text", "result") and not part.text.startswith("<environment")
    ]


@pytest.mark.parametrize("form", SESSIONS)
def test_every_format_is_told_by_its_fields_and_says_the_same(form):
    measured = read(form)
    assert measured.transcript.format == form.replace(",", " ").split()[0]
    assert measured.transcript.notices == ()
    texts = [text.removeprefix("Process exited with code 0\nOutput:\n") for _, text in told(measured)]
    assert [text.removeprefix("Process exited with code 1\nOutput:\n") for text in texts] == [
        one.text for one in SCRIPT
    ]


@pytest.mark.parametrize("form", SESSIONS)
def test_repeated_and_outdated_reads_are_found_in_every_format(form):
    measured = read(form)
    found = [one.why for one in sorted(results_in_order(measured), key=lambda one: (one.message, one.number))]
    whole = [Reason.REPEATED, Reason.OLDEST_RESULT, Reason.OUTDATED, *[Reason.OLDEST_RESULT] * 3]
    assert found == whole
    failed = [part.success for message in measured.transcript.messages for _, part in message.results]
    assert failed[1] is False and failed[4] is not False


@pytest.mark.parametrize("form", SESSIONS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_leaves_a_session_of_the_same_format(form, strategy):
    transcript = read_transcript(SESSIONS[form](SCRIPT).encode())
    settings = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 500, "tokens.counter": "estimate"})
    pruned = prune(transcript, settings, strategy)
    again = measure(read_transcript(pruned.write().encode("utf-8", "surrogateescape")), COUNTER)
    assert pruned.results_cleaned > 0
    assert again.transcript.format == transcript.format
    assert again.total == pruned.ledger.after
    assert again.transcript.notices == ()


@pytest.mark.parametrize("form", LINES)
def test_lines_that_did_not_change_are_written_byte_for_byte(form):
    text = SESSIONS[form](SCRIPT)
    transcript = read_transcript(text.encode())
    assert transcript.write([message.raw for message in transcript.messages]) == text


@pytest.mark.parametrize("form", [form for form in SESSIONS if "one object" not in form])
def test_a_compaction_stands_for_what_came_before(form):
    script = (
        *SCRIPT[:7],
        compacted("Vouchers count once."),
        user("Go on."),
        tool("read", "shop/tax.py", "TAX = 7\n" * 40),
    )
    measured = read(form, script)
    texts = [part.text for message in measured.transcript.messages for part in message.parts]
    assert any("Vouchers count once." in text for text in texts)
    assert not any("def total" in text or "used twice" in text for text in texts)
    assert sum("TAX = 7" in text for text in texts) == 1
    assert session_facts(measured).compactions == 1


@pytest.mark.parametrize(
    ("form", "model", "version", "filled"),
    [
        ("claude-code", "claude-opus-4-1-20250805", "2.1.230", 27_060),
        ("codex", "gpt-5.2-codex", "0.128.0", 15_380),
        ("gemini-cli", "gemini-3-pro", "", 20_140),
        ("opencode", "gpt-5.2", "1.18.21", 18_250),
        ("opencode 2", "gpt-5.2", "", 18_250),
    ],
)
def test_usage_is_what_the_provider_reported_and_what_came_since_is_counted(form, model, version, filled):
    facts = session_facts(read(form))
    assert (facts.heading.model, facts.heading.version, facts.filled_from) == (model, version, "reported")
    assert facts.usage.filled == filled
    assert facts.filled == filled + facts.since
    assert facts.unseen == facts.filled - facts.counted > 0


def reads(model, factor, overhead):
    """A session of reads whose requests report `factor` times the counted tokens, and an overhead."""
    counter, session, sent = get_counter(), "5", 0
    lines = [{"uuid": "u", "parentUuid": None, "type": "user", "message": {"role": "user", "content": "Mend it."}}]
    for number in range(8):
        sent = sum(measure(read_transcript(as_lines(lines).encode()), counter).tokens)
        usage = {"input_tokens": 4, "cache_read_input_tokens": overhead - 4 + round(factor * sent), "output_tokens": 30}
        call = {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {"file_path": f"{number}.py"}}
        said = {"id": f"m{number}", "role": "assistant", "model": model, "content": [call], "usage": usage}
        text = "\n".join(
            f"def part{number}_{row}(order): return order.cents * {row}" for row in range(60 + 30 * number)
        )
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
        lines += [
            {"uuid": f"a{number}", "parentUuid": lines[-1]["uuid"], "type": "assistant", "message": said},
            {
                "uuid": f"r{number}",
                "parentUuid": f"a{number}",
                "type": "user",
                "message": {"role": "user", "content": [result]},
            },
        ]
    return [line | {"sessionId": session} for line in lines]


def for_model(lines):
    return measure_for_model(read_transcript(as_lines(lines).encode()), get_counter())


@pytest.mark.parametrize(("model", "factor"), [("claude-opus-5", 1.53), ("claude-sonnet-4-5", 1.2), ("qwen4", 0.8)])
def test_the_first_requests_tell_how_many_tokens_the_model_counts(model, factor):
    lines = reads(model, factor, 18_000)
    measured, plain = for_model(lines), measure(read_transcript(as_lines(lines).encode()), get_counter())
    assert measured.counter.name == f"o200k_base x {factor}"
    assert measured.total == pytest.approx(factor * plain.total, rel=0.01)
    facts = session_facts(measured)
    assert facts.unseen == pytest.approx(18_000, abs=200) and measured.transcript.notices == ()
    cut = prune(measured.transcript, with_values(Settings(), {"conversation_prune.safe_zone_tokens": 9_000}))
    again = measure(read_messages(cut.messages), get_counter())
    assert factor * again.total <= 9_050 and cut.counter == measured.counter.name
    assert live_ledger(measured, Settings()).requests == 9  # the history's figures are its own


def test_what_the_first_requests_told_stays_as_the_session_grows_and_after_a_compaction():
    lines = reads("claude-opus-5", 1.5, 18_000)
    known = for_model(lines[:10])
    told = [(known.counter.name, known.overhead) for known in (known, for_model(lines))]
    boundary = {"uuid": "b", "parentUuid": None, "type": "system", "subtype": "compact_boundary", "sessionId": "5"}
    summary = {"uuid": "s", "parentUuid": "b", "type": "user", "message": {"role": "user", "content": "Mended."}}
    measured = for_model([*lines, boundary, summary])
    assert {*told, (measured.counter.name, measured.overhead)} == {("o200k_base x 1.5", known.overhead)}
    facts = session_facts(measured)
    assert (facts.filled, facts.filled_from) == (facts.counted + known.overhead, "counted") and facts.filled > 17_900


def test_without_two_requests_far_enough_apart_a_warning_names_the_tokenizer():
    measured = for_model(reads("claude-opus-5", 1.5, 18_000)[:4])
    assert [notice.code for notice in measured.transcript.notices] == ["other_tokenizer"]
    exact = for_model(reads("gpt-5.2", 1.3, 18_000))  # its encoding is built in: the rest is what is not in the session
    assert exact.counter.name == "o200k_base" and exact.transcript.notices == () and exact.overhead >= 18_000


def test_the_window_is_the_one_the_session_reports_else_that_of_the_model():
    assert (session_facts(read("codex")).window, session_facts(read("codex")).window_from) == (258_400, "reported")
    assert (session_facts(read("claude-code")).window, session_facts(read("claude-code")).window_from) == (
        200_000,
        "model",
    )
    known = {"claude-opus-4-1-20250805": 500_000}
    assert session_facts(read("claude-code"), known).window == 500_000


def test_a_request_larger_than_the_usual_window_shows_the_wide_one():
    lines = agents.claude_code(SCRIPT)
    for line in lines:
        if line["type"] == "assistant":
            line["message"]["usage"]["cache_read_input_tokens"] += 300_000
    facts = session_facts(measure(read_transcript(as_lines(lines).encode()), COUNTER))
    assert (facts.window, facts.window_from) == (1_000_000, "observed")


def test_without_usage_the_tokens_are_counted_and_so_is_the_rate():
    text = as_lines(agents.claude_code(SCRIPT, usage=False))
    facts = session_facts(measure(read_transcript(text.encode()), COUNTER))
    assert (facts.filled, facts.filled_from, facts.unseen) == (facts.counted, "counted", 0)
    assert facts.forecast.growth > 0
    assert facts.requests == 7


def test_the_forecast_is_made_of_the_session_s_own_requests_and_times():
    requests = [SessionRequest(number, 10_000 + 1_000 * number, 60.0 * number) for number in range(6)]
    found = forecast(requests, 15_000, 20_000)
    assert (found.requests, found.minutes, found.growth, found.over) == (5, 5.0, 1_000.0, 6)
    away = [*requests, SessionRequest(6, 16_000, 90_000.0)]  # an hour at lunch is no pace
    assert forecast(away, 16_000, 20_000).pause == 60.0
    assert forecast(requests, 15_000, None) is None
    assert forecast(requests[::-1], 10_000, 20_000) is None
    assert forecast(requests[:1], 10_000, 20_000) is None
    assert forecast([SessionRequest(0, 10, None), SessionRequest(1, 20, None)], 20, 100).minutes is None


@pytest.mark.parametrize("form", SESSIONS)
def test_the_contents_of_a_window_sum_to_its_tokens(form):
    measured = read(form)
    shares = window_contents(measured)
    assert sum(share.tokens for share in shares) == measured.total
    assert [share.tokens for share in shares] == sorted((share.tokens for share in shares), reverse=True)
    dead = {Reason.REPEATED, Reason.SUPERSEDED, Reason.OUTDATED}
    known = {(one.message, one.number) for one in results_in_order(measured) if one.why in dead}
    assert dead_weight(measured) == sum(measured.parts[message][part] for message, part in known) > 0


def test_each_strategy_is_measured_as_deciding_under_it_would():
    measured = read("claude-code")
    settings = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 500, "tokens.counter": "estimate"})
    cuts = {cut.strategy: cut for cut in strategy_cuts(measured, settings)}
    assert set(cuts) == set(STRATEGIES)
    for strategy, cut in cuts.items():
        pruned = prune(measured.transcript, settings, strategy)
        assert (cut.tokens, cut.results, cut.reread_tokens) == (
            pruned.ledger.after,
            pruned.results_cleaned,
            pruned.cache.reread_tokens,
        )


def test_a_turn_that_codex_took_back_is_not_sent():
    lines = agents.codex(SCRIPT)
    lines.append(
        {"timestamp": agents.stamp(9), "type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    )
    measured = measure(read_transcript(as_lines(lines).encode()), COUNTER)
    texts = [text for _, text in told(measured)]
    assert "And in the invoice?" not in texts
    assert "The total counts each voucher once now." in texts


def test_what_gemini_rewound_is_not_sent_and_a_message_counts_as_it_was_written_last():
    lines = agents.gemini_cli(SCRIPT)
    answered = read("gemini-cli")
    assert sum(message.role == "assistant" for message in answered.transcript.messages) == 7
    lines.append({"$rewindTo": "m7"})
    measured = measure(read_transcript(as_lines(lines).encode()), COUNTER)
    assert [text for _, text in told(measured)][-1] == "The total counts each voucher once now."
    everything = measure(read_transcript(as_lines([*lines, {"$rewindTo": "unknown"}]).encode()), COUNTER)
    assert told(everything) == []


def test_what_opencode_reverted_or_cleared_itself_is_not_charged():
    exported = agents.opencode(SCRIPT)
    exported["messages"][1]["parts"][0]["state"]["time"]["compacted"] = 5
    cleared = measure(read_transcript(json.dumps(exported).encode()), COUNTER)
    assert told(cleared)[1] == ("result", "[Old tool result content cleared]")
    exported["info"]["revert"] = {"messageID": "msg_0007"}
    reverted = measure(read_transcript(json.dumps(exported).encode()), COUNTER)
    assert told(reverted)[-1] == ("text", "The total counts each voucher once now.")


def test_a_subagent_s_own_file_is_a_conversation():
    lines = [line | {"isSidechain": True, "agentId": "a1"} for line in agents.claude_code(SCRIPT)]
    measured = measure(read_transcript(as_lines(lines).encode()), COUNTER)
    assert len(told(measured)) == len(SCRIPT)
    assert session_facts(measured).heading.parent == agents.CLAUDE


@pytest.mark.parametrize(
    ("form", "line", "named"),
    [
        ("codex", {"timestamp": "x", "type": "response_item", "payload": {"type": "dream"}}, "response_item dream"),
        ("codex", {"timestamp": "x", "type": "mood", "payload": {}}, "mood"),
        ("claude-code", {"type": "robot", "message": {"role": "user", "content": "hi"}}, "robot"),
    ],
)
def test_records_of_unknown_kinds_are_named_and_not_counted(form, line, named):
    text = SESSIONS[form](SCRIPT) + as_lines([line, line])
    measured = measure(read_transcript(text.encode()), COUNTER)
    (notice,) = measured.transcript.notices
    assert notice.code == "unknown_records"
    assert f"2 records are of unknown kinds ({named})" in notice.message
    assert measured.total == read(form).total


def test_a_usage_record_of_codex_is_the_request_that_the_count_after_its_results_reports_too():
    lines = agents.codex(SCRIPT)
    counts = [line for line in lines if line["payload"].get("type") == "token_count"]
    for count in counts:
        info, at = count["payload"]["info"], lines.index(count)
        used = {"usage": info["last_token_usage"] | {"cache_write_input_tokens": 7}, "response_id": f"r{at}"}
        record = {"thread_token_usage": info["total_token_usage"]} | used
        lines.insert(at, {"timestamp": count["timestamp"], "type": "token_usage_record", "payload": record})
    both = measure(read_transcript(as_lines(lines).encode()), COUNTER)
    assert both.transcript.notices == ()
    assert session_facts(both) == session_facts(read("codex"))

    records = [line for line in lines if line not in counts]
    next(line for line in reversed(records) if line["type"] == "token_usage_record")["payload"].pop(
        "thread_token_usage"
    )
    facts = session_facts(measure(read_transcript(as_lines(records).encode()), COUNTER))
    assert (facts.requests, facts.filled_from, facts.usage.written) == (len(counts), "reported", 7)

    last = lines.index(counts[-1])
    call, result = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "z"}, {"call_id": "z"}
    result |= {"type": "function_call_output", "output": "what came back " * 99}
    late = [{"timestamp": "x", "type": "response_item", "payload": item} for item in (call, result)]
    lines[last - 1 : last] = [late[0], lines[last - 1], late[1]]
    assert session_facts(measure(read_transcript(as_lines(lines).encode()), COUNTER)).since > 250


@pytest.mark.parametrize("form", LINES)
@pytest.mark.parametrize(
    "bad",
    [
        '{"type":',
        "[]",
        "null",
        '{"type": "response_item", "payload": 7}',
        "[" * 9_999,
        "\udcff",
        '{"a":NaN}',
        "\x1b[31m",
    ],
)
def test_a_bad_line_costs_itself(form, bad):
    head, _, rest = SESSIONS[form](SCRIPT).partition("\n")
    text = f"{head}\n{bad}\n{rest}"
    measured = measure(read_transcript(text.encode("utf-8", "surrogateescape")), COUNTER)
    assert told(measured) == told(read(form))
    assert len(measured.transcript.notices) <= 1


@pytest.mark.parametrize("value", [None, -1, "x", [[]], {"a": None}, 10**400], ids=lambda value: str(value)[:9])
@pytest.mark.parametrize("form", SESSIONS)
def test_odd_values_in_any_field_end_nothing(form, value):
    whole = (
        json.loads(SESSIONS[form](SCRIPT[:4]).strip().split("\n")[-1])
        if form in LINES
        else json.loads(SESSIONS[form](SCRIPT[:4]))
    )
    lines = [json.loads(line) for line in SESSIONS[form](SCRIPT[:4]).strip().split("\n")] if form in LINES else None

    def places(one, path=()):
        yield path
        if isinstance(one, dict | list):
            for key in one if isinstance(one, dict) else range(len(one)):
                yield from places(one[key], (*path, key))

    def put(one, path, new):
        if not path:
            return new
        copy = one.copy()
        copy[path[0]] = put(one[path[0]], path[1:], new)
        return copy

    for path in list(places(whole))[1:]:
        changed = put(whole, path, value)
        data = as_lines([*lines[:-1], changed]) if lines is not None else json.dumps(changed)
        try:
            measured = measure(read_transcript(data.encode()), COUNTER)
        except Exception as error:
            assert type(error).__name__ == "SecateurError", (path, error)
            continue
        session_facts(measured)
        assert sum(share.tokens for share in window_contents(measured)) == measured.total


def test_a_list_of_messages_of_another_interface_is_no_session():
    assert read_messages([{"role": "user", "content": "hi"}]).format == "openai"
    assert session_facts(measure(read_messages([{"role": "user", "content": "hi"}]), COUNTER)) is None
    assert said("x").kind == "said"
