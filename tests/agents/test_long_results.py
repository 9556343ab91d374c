"""Long results of tools are shortened as they enter a conversation, once; source code never is."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from secateur.kinds.conversation import folds
from secateur.model import Reason
from secateur.settings import Settings, with_values
from secateur_agents import Live, Store
from support.api_conversations import API_FORMATS, api_conversation, refused

CODE = "def total(rows):\n    raise ValueError('error: no rows')\n\n\nclass Row:\n    amount = 3\n" * 300
LOG = "".join(f"2026-05-01T10:00:{at % 60:02} INFO served request {at} for user {at * 7}\n" for at in range(900))
LOG += "2026-05-01T11:00:00 ERROR cannot reach the ledger: connection refused\n"
BUILD = "".join(f"src/part{at}.c: compiling with {at * at} symbols of {at % 7}\n" for at in range(900))
BUILD += "src/money.c:41:9: error: use of undeclared identifier 'rounding'\nmake: *** [all] Error 1\n"
PODS = "NAME      READY   STATUS    RESTARTS   AGE\n"
PODS += "".join(
    f"api-{at:04}   1/1     {'CrashLoopBackOff' if at == 411 else 'Running'}   0          {at % 9}d\n"
    for at in range(900)
)
ITEMS = [{"id": at, "name": f"order {at}", "state": "lost" if at == 333 else "paid"} for at in range(900)]
FILES = "".join(f"./src/module{at}/file{at % 13}.py\n" for at in range(900))


def settings(zone: int = 100_000, **more: object) -> Settings:
    values = {"safe_zone_tokens": zone, **more}
    return with_values(
        Settings(profile="recommended"),
        {"tokens.counter": "chars4", **{f"conversation_prune.{key}": value for key, value in values.items()}},
    )


def live_of(above: int = 2_000, zone: int = 100_000, store: Store | None = None, rules: Settings | None = None) -> Live:
    return Live(rules or settings(zone), store, shorten_above=above)


def called(result: str, tool: str = "Bash", **arguments: str) -> list[dict[str, Any]]:
    arguments = arguments or {"command": "make all"}
    call = {"type": "tool_use", "id": "c1", "name": tool, "input": arguments}
    told = {"type": "tool_result", "tool_use_id": "c1", "content": result}
    return [
        {"role": "user", "content": "Why does it fail?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [told]},
    ]


def text_of(messages: list[Any]) -> str:
    text = messages[2]["content"][0]["content"]
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(
    ("result", "stays"),
    [
        (LOG, "ERROR cannot reach the ledger: connection refused"),
        (BUILD, "src/money.c:41:9: error: use of undeclared identifier 'rounding'"),
        (PODS, "CrashLoopBackOff"),
        (json.dumps(ITEMS), '{"id":333,"name":"order 333","state":"lost"}'),
        ("".join(json.dumps(item) + "\n" for item in ITEMS), '{"id":333,"name":"order 333","state":"lost"}'),
        (FILES, "./src/module899/file2.py"),
    ],
    ids=["log", "build", "table", "json", "jsonl", "listing"],
)
def test_a_long_result_is_shortened_by_its_kind_and_can_be_had_back(result: str, stays: str, tmp_path: Path) -> None:
    live = live_of(store=Store.at(tmp_path))
    step = live.step(called(result))
    text = text_of(step.messages)
    assert stays in text and len(text) < len(result) / 3
    digest = re.match(r"\[tool result shortened: it had [\d,]+ tokens; recall ([0-9a-f]{12}) gives it whole\]\n", text)
    assert digest is not None and live.recall(digest[1]) == result
    assert [(entry.id, entry.reason) for entry in step.changed] == [("messages[2]", Reason.LONG_RESULT)]
    assert (
        step.cache.first_changed is None and step.cache.tokens_saved == step.changed[0].before - step.changed[0].after
    )


def test_what_an_agent_reminds_of_below_a_result_stays() -> None:
    reminder = "\n\n<system-reminder>\nThe server secateur offers recall.\n</system-reminder>"
    plain, reminded = (text_of(live_of().step(called(text)).messages) for text in (PODS, PODS + reminder))
    assert reminded == plain + reminder


def test_rows_say_how_many_of_how_many_and_the_first_and_last_stay() -> None:
    head, rows, *lines = text_of(live_of().step(called(PODS)).messages).splitlines()
    assert "ask for less, or write it to a file" in head and "recall" not in head
    assert rows.startswith(f"[{len(lines)} of 901 rows: ")
    assert lines[:2] == PODS.splitlines()[:2] and lines[-1] == PODS.splitlines()[-1]
    kept = [int(line[4:8]) for line in lines[1:]]
    assert kept == sorted(kept) and max(after - before for before, after in pairwise(kept)) < 60


def test_a_shortened_json_is_json_below_the_first_line() -> None:
    text = text_of(live_of().step(called(json.dumps({"orders": ITEMS, "next": None}))).messages)
    value = json.loads(text.partition("\n")[2])
    note, *kept = value["orders"]
    assert note.startswith(f"[{len(kept)} of 900 items") and value["next"] is None
    assert kept[0] == ITEMS[0] and kept[-1] == ITEMS[-1] and ITEMS[333] in kept


SOURCE = [
    ("Read", {"file_path": "ledger.py"}, CODE),
    ("Read", {"file_path": "table.json"}, "".join(f"{at:6}→  {{'a': {at}}},\n" for at in range(900))),
    ("mcp__files__read_file", {"path": "ledger.py"}, CODE),
    ("Bash", {"command": "cat ledger.py"}, CODE),
    ("Bash", {"command": "cd src && sed -n 1,900p ledger.py"}, CODE),
    ("Bash", {"command": "git diff"}, "diff --git a/x b/x\n@@ -1 +1 @@\n" + CODE),
    ("Grep", {"pattern": "Row"}, "".join(f"ledger.py:{at}:    error = Row({at})\n" for at in range(900))),
    ("Edit", {"file_path": "ledger.py"}, LOG),
    ("Task", {"prompt": "look"}, "".join(f"It fails{' again' * (at % 9)}, an error.\n" for at in range(900))),
    ("mcp__secateur__recall", {"digest": "550ccfe33fea"}, LOG),
    ("Bash", {"command": "secateur recall 550ccfe33fea"}, BUILD),
]


@pytest.mark.parametrize(("tool", "arguments", "result"), SOURCE)
def test_source_code_words_and_what_was_recalled_stay_whole(tool: str, arguments: Any, result: str) -> None:
    messages = called(result, tool, **arguments)
    step = live_of().step(messages)
    assert step.messages[2] is messages[2] and step.changed == ()


def test_nothing_is_shortened_unless_it_is_asked_for_or_where_the_user_keeps_it() -> None:
    messages = called(LOG)
    assert live_of(0).step(messages).messages == messages
    assert live_of(50_000).step(messages).messages == messages
    assert live_of(rules=settings(keep_tools=("Bash",))).step(messages).messages == messages
    assert live_of(rules=with_values(settings(), {"pins": ("messages[2]",)})).step(messages).messages == messages


def test_what_was_decided_at_first_sight_stays_whoever_folds_the_history() -> None:
    live, messages, before = live_of(zone=2_000), called(LOG), list[Any]()
    cuts = 0
    for number in range(2, 26):
        step = live.step(messages)
        if step.cache.first_changed is None:
            assert step.messages[: len(before)] == before
        cuts += step.cache.first_changed is not None
        if number in (9, 25):  # from nothing, as a fresh process folds
            assert live_of(zone=2_000).step(messages).messages == step.messages
        before = step.messages
        more = called(BUILD[number * 9 :] if number % 3 else CODE[: number * 300])
        messages = [*messages, *json.loads(json.dumps(more[1:]).replace("c1", f"c{number}"))]
    assert cuts > 1


def test_over_its_bound_of_work_results_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "MOST_WORK", 100)
    messages = called(LOG)
    assert live_of().step(messages).messages == messages


@pytest.mark.parametrize("form", API_FORMATS)
def test_what_is_sent_stays_valid(form: str) -> None:
    changed = 0
    for seed in range(3):
        history = api_conversation(form, seed)
        grown = json.loads(re.sub(r'"(?:printed \\n)+"', lambda _: json.dumps(LOG), json.dumps(history)))
        step = live_of(300).step(grown)
        changed += any(entry.reason is Reason.LONG_RESULT for entry in step.changed)
        assert refused(step.messages) == [] or refused(grown)
        assert live_of(300).step(grown).messages == step.messages
    assert changed > 1


DEEP = "[1,2,3," * 900 + json.dumps("x" * 9_000) + "]" * 900


@pytest.mark.parametrize("text", [*(one * 9_000 for one in ("[", "{", "\0", "|", "\ud800\n", "1,2\n", "\n")), DEEP])
def test_damaged_texts_cost_nothing(text: str) -> None:
    live = live_of(1_000)
    assert len(live.step(called(text)).messages) == 3 and live.failures == 0
