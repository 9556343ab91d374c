"""Which results later ones make needless: the shapes of real agents, the order of clearing, and the way back that a
placeholder names."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.messages import MessagePart, PartKind
from secateur.kinds.conversation.placeholders import MARK, FileAccess, FileOperation, file_accesses
from secateur.kinds.conversation.strategies import decide
from secateur.kinds.conversation.tool_results import AgenticConversationPruner
from secateur.kinds.conversation.transcripts import read_messages
from secateur.model import State
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter

CODE = "value = 1\n" * 200


def deeds(tool: str, arguments: Any) -> list[tuple[str, str]]:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return [
        (touch.path, touch.operation.value)
        for touch in file_accesses(MessagePart(PartKind.RESULT, "x", (), tool=tool, arguments=given))
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Read", {"file_path": "/r/a.py"}, [("/r/a.py", "read")]),
        ("Read", {"file_path": "/r/a.py", "offset": 10, "limit": 5}, [("/r/a.py", "read_part")]),
        ("Read", {"file_path": "/r/a.py", "offset": None}, [("/r/a.py", "read")]),
        ("Edit", {"file_path": "/r/a.py", "old_string": "a", "new_string": "b"}, [("/r/a.py", "changed")]),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, [("a.py", "changed")]),
        ("Write", {"file_path": "a.py", "content": "x"}, [("a.py", "written")]),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"}, [("a.ipynb", "changed")]),
        ("Bash", {"command": "cat src/a.py", "description": "Read it"}, [("src/a.py", "read")]),
        ("Bash", {"command": "cat -n 'my file.py'"}, [("my file.py", "read")]),
        ("Bash", {"command": "cat a.py b.py"}, []),
        ("Bash", {"command": "cat a.py | head"}, []),
        ("Bash", {"command": "cat a.py > b.py"}, []),
        ("Bash", {"command": "cat *.py"}, []),
        ("Bash", {"command": "cat 'a"}, []),
        ("Bash", {"command": "pytest a.py"}, []),
        ("shell", {"command": ["bash", "-lc", "cat a.py"]}, [("a.py", "read")]),
        ("shell", {"command": ["cat", "a b.py"]}, [("a b.py", "read")]),
        ("exec_command", {"cmd": "cat a.py"}, [("a.py", "read")]),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py"}, [("a.py", "read")]),
        (
            "str_replace_based_edit_tool",
            {"command": "view", "path": "a.py", "view_range": [1, 5]},
            [("a.py", "read_part")],
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "a.py", "old_str": "", "new_str": ""},
            [("a.py", "changed")],
        ),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a.py", "file_text": ""}, [("a.py", "written")]),
        ("mcp__files__read_file", {"path": "a.py"}, [("a.py", "read")]),
        ("mcp__files__read_multiple_files", {"paths": ["a.py", "b.py"]}, []),
        ("mcp__files__write_file", {"path": "a.py", "content": ""}, [("a.py", "written")]),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n*** Add File: b.py\n*** End Patch"},
            [("a.py", "changed"), ("b.py", "written")],
        ),
        ("apply_patch", "*** Begin Patch\n*** Update File: a.py\n*** End Patch", [("a.py", "changed")]),
        ("update_spreadsheet", {"path": "a.xls"}, [("a.xls", "changed")]),
        ("apply_diff", {"path": "a.py", "diff": ""}, [("a.py", "changed")]),
        ("get_diff", {"path": "a.py"}, []),
        ("get_file_info", {"path": "a.py"}, []),
        ("review_thread", {"path": "a.py"}, []),
        ("Grep", {"pattern": "x", "path": "src"}, []),
        ("Read", {"file_path": 7}, []),
        ("Read", [], []),
        ("Read", "{", []),
        ("Read", {"file_path": "x" * 5000}, []),
    ],
)
def test_what_a_call_did_to_which_file(tool: str, arguments: Any, expected: list[tuple[str, str]]) -> None:
    assert deeds(tool, arguments) == expected


def test_calls_written_as_text_are_known_by_the_text_before() -> None:
    part = MessagePart(PartKind.RESULT, "<tool_result>x</tool_result>", (), span=(0, 10))
    assert list(file_accesses(part, "I look. <read_file><path> a.py </path></read_file>")) == [
        FileAccess("a.py", FileOperation.READ)
    ]
    assert list(file_accesses(part, "<write_to_file>\n<path>a.py</path><content>x</content></write_to_file>")) == [
        FileAccess("a.py", FileOperation.WRITTEN)
    ]
    assert (
        list(file_accesses(part, "<read_file><path>a.py</path></read_file><read_file><path>b.py</path></read_file>"))
        == []
    )


def conversation(*steps: tuple[str, dict[str, Any], str]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend it."}]
    for number, (tool, arguments, result) in enumerate(steps):
        messages.append(
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": f"c{number}", "name": tool, "input": arguments}],
            }
        )
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": result}]}
        )
    return [*messages, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks?"}]


def cleared(messages: list[dict[str, Any]], saving: int) -> dict[int, str]:
    """Step -> reason, after as much was cleared as saves `saving` tokens."""
    before = AgenticConversationPruner(with_values(Settings(), {"tokens.counter": "chars4"}))
    before.prune_conversations(messages)
    assert before.report
    zone = before.report.before - saving
    pruner = AgenticConversationPruner(
        with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": max(zone, 0)})
    )
    pruner.prune_conversations(messages)
    assert pruner.result
    return {item.number // 2 - 1: item.reason.label for item in pruner.result.items if item.state.label == "shortened"}


def test_what_is_needless_goes_first_then_what_was_changed_since_then_the_oldest() -> None:
    messages = conversation(
        ("Grep", {"pattern": "a"}, CODE + "0"),
        ("Read", {"file_path": "changed.py"}, CODE + "1"),
        ("Read", {"file_path": "again.py"}, CODE + "2"),
        ("Edit", {"file_path": "changed.py", "old_string": "1", "new_string": "2"}, "ok"),
        ("Read", {"file_path": "again.py"}, CODE + "3"),
        ("Bash", {"command": "make"}, CODE + "4"),
        ("Bash", {"command": "make"}, CODE + "4"),
    )
    assert cleared(messages, 300) == {2: "superseded"}
    assert cleared(messages, 700) == {2: "superseded", 5: "repeated"}
    assert cleared(messages, 1200) == {2: "superseded", 5: "repeated", 1: "outdated"}
    assert cleared(messages, 1600) == {2: "superseded", 5: "repeated", 1: "outdated", 0: "oldest_result"}


def test_a_file_written_anew_replaces_what_was_read_of_it() -> None:
    messages = conversation(
        ("Bash", {"command": "ls"}, CODE),
        ("Read", {"file_path": "a.py"}, CODE + "1"),
        ("Write", {"file_path": "a.py", "content": "x"}, "ok"),
    )
    assert cleared(messages, 300) == {1: "superseded"}


def test_a_part_is_replaced_by_the_same_part_or_the_whole_and_never_the_other_way_round() -> None:
    part, other, whole = {"file_path": "a.py", "offset": 1}, {"file_path": "a.py", "offset": 500}, {"file_path": "a.py"}
    assert cleared(conversation(("Read", part, CODE), ("Read", whole, CODE + "1")), 300) == {0: "superseded"}
    assert cleared(conversation(("Read", part, CODE), ("Read", part, CODE + "1")), 300) == {0: "superseded"}
    assert cleared(conversation(("Read", part, CODE), ("Read", other, CODE + "1")), 300) == {0: "oldest_result"}
    assert cleared(conversation(("Read", whole, CODE), ("Read", part, CODE + "1")), 300) == {0: "oldest_result"}


def test_a_note_that_a_file_is_unchanged_replaces_nothing() -> None:
    note = "File unchanged since last read: refer to the earlier result."
    messages = conversation(
        ("Bash", {"command": "make"}, CODE + "x"),
        ("Read", {"file_path": "a.py"}, CODE),
        ("Read", {"file_path": "a.py"}, note),
    )
    assert cleared(messages, 300) == {0: "oldest_result"}


def test_a_change_that_failed_makes_nothing_outdated() -> None:
    messages = conversation(
        ("Bash", {"command": "ls"}, CODE),
        ("Read", {"file_path": "a.py"}, CODE + "1"),
        ("Edit", {"file_path": "a.py"}, "no such text"),
    )
    messages[6]["content"][0]["is_error"] = True
    assert cleared(messages, 300) == {0: "oldest_result"}


@pytest.mark.parametrize(
    ("steps", "back"),
    [
        (
            [("Read", {"file_path": "a.py"}, CODE), ("Read", {"file_path": "a.py"}, CODE + "1")],
            "the file was read again or written anew later]",
        ),
        ([("Bash", {"command": "make"}, CODE), ("Bash", {"command": "make"}, CODE)], "the same text came again later]"),
        (
            [("Read", {"file_path": "a.py"}, CODE), ("Edit", {"file_path": "a.py"}, "ok")],
            'the file was changed since, call it again with {"file_path":"a.py"}, or for another range if it only says'
            " unchanged]",
        ),
        ([("Bash", {"command": "make"}, CODE)], 'call it again with {"command":"make"} for its present result]'),
        ([("Bash", {"command": "make " * 50}, CODE)], "call the tool again for its present result]"),
    ],
)
def test_the_placeholder_names_the_way_back(steps: list[tuple[str, dict[str, Any], str]], back: str) -> None:
    pruner = AgenticConversationPruner(
        with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 0})
    )
    text = pruner.prune_conversations(conversation(*steps))[2]["content"][0]["content"]
    assert text.startswith(MARK)
    assert text.endswith(back)


def test_what_a_way_back_would_make_longer_is_told_the_short_way_so_that_pruning_twice_is_pruning_once() -> None:
    short = "x = 1\n" * 20
    messages = conversation(("Read", {"file_path": "a.py"}, short), ("Read", {"file_path": "a.py"}, CODE))
    settings = with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 0})
    once = AgenticConversationPruner(settings).prune_conversations(messages)
    assert AgenticConversationPruner(settings).prune_conversations(once) == once


def test_a_change_whose_own_result_was_cleared_still_changed_the_file() -> None:
    messages = conversation(
        ("Bash", {"command": "ls"}, CODE),
        ("Read", {"file_path": "a.py"}, CODE + "1"),
        ("Edit", {"file_path": "a.py"}, f"{MARK}Edit, 900 tokens]"),
    )
    assert cleared(messages, 300) == {1: "outdated"}


def wrote(call: str, tool: str, arguments: Any, form: str = "anthropic", told: str = "Done.") -> list[dict[str, Any]]:
    if form == "openai":
        given = arguments if isinstance(arguments, str) else json.dumps(arguments)
        asked = {"id": call, "type": "function", "function": {"name": tool, "arguments": given}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": call, "content": told},
        ]
    used = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
    return [
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": told}]},
    ]


def after(*steps: list[dict[str, Any]], zone: int) -> list[int]:
    """Numbers of the steps whose contents are cleared, in a conversation that is to have `zone` tokens."""
    values = {"conversation_prune.safe_zone_tokens": zone}
    pruner = AgenticConversationPruner(with_values(Settings(), values))
    messages = [{"role": "user", "content": "Go."}, *(message for step in steps for message in step)]
    messages.append({"role": "assistant", "content": "All done."})
    pruner.prune_conversations(messages)
    assert pruner.result is not None
    return [(item.number - 1) // 2 for item in pruner.result.items if item.state is State.SHORTENED]


V1, V2, V3 = (f"value_{number} = {number}\n" * 200 for number in (1, 2, 3))


@pytest.mark.parametrize("form", ["anthropic", "openai"])
@pytest.mark.parametrize(
    ("tool", "key", "more"),
    [
        ("Write", "content", {"file_path": "a.py"}),
        ("create_file", "content", {"path": "a.py"}),
        ("write_file", "text", {"path": "a.py"}),
        ("str_replace_based_edit_tool", "file_text", {"command": "create", "path": "a.py"}),
    ],
)
def test_contents_that_were_overwritten_go_first_and_the_last_version_last(
    form: str, tool: str, key: str, more: dict[str, Any]
) -> None:
    steps = [wrote(f"w{number}", tool, {**more, key: text}, form) for number, text in enumerate((V1, V2, V3))]
    listed = wrote("ls", "Bash", {"command": "ls"}, form, told="a.py\n" * 500)
    assert after(listed, *steps, zone=3500) == [1, 2]
    assert after(listed, *steps, zone=2600) == [0, 1, 2]
    assert after(listed, *steps, zone=100) == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ["anthropic", "openai"])
def test_edits_that_a_later_edit_replaces_go_first(form: str) -> None:
    steps = [
        wrote(f"e{number}", "Edit", {"file_path": "a.py", "old_string": old, "new_string": new}, form)
        for number, (old, new) in enumerate([("x", V1), (V1, V2), ("y", V3)])
    ]
    assert after(*steps, zone=4500) == [0]


def test_a_patch_is_cleared_where_all_its_files_were_written_anew() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n" + V1 + "*** Update File: b.py\n" + V2 + "*** End Patch\n"
    wrote_a, wrote_b = (wrote(name, "Write", {"file_path": name, "content": V3}, "openai") for name in ("a.py", "b.py"))
    one = wrote("p", "apply_patch", patch, "openai")
    assert after(one, wrote_a, wrote_b, zone=5000) == [0]
    assert after(one, wrote_a, wrote("w", "Write", {"file_path": "c.py", "content": V3}, "openai"), zone=5000) == [0]


def test_what_stands_for_a_content_is_of_the_shape_of_the_call_and_names_its_file() -> None:
    steps = [
        wrote(f"w{number}", "Write", {"file_path": "a.py", "content": text}) for number, text in enumerate((V1, V2))
    ]
    pruner = AgenticConversationPruner(with_values(Settings(), {"conversation_prune.safe_zone_tokens": 100}))
    messages = [{"role": "user", "content": "Go."}, *steps[0], *steps[1], {"role": "assistant", "content": "Done."}]
    once = pruner.prune_conversations(messages)
    first, last = (once[number]["content"][0]["input"] for number in (1, 3))
    assert list(first) == ["file_path", "content"] and first["file_path"] == "a.py"
    assert "the file was read again or written anew later" in first["content"]
    assert "read the file for its present text" in last["content"]
    assert pruner.prune_conversations(once) == once
    assert pruner.report is not None and not pruner.report.applied


def test_a_cut_that_lasts_takes_old_contents_too_and_not_those_of_the_last_results() -> None:
    steps = [wrote(f"w{number}", "Write", {"file_path": f"{number}.py", "content": V1}) for number in range(3)]
    reads = [wrote(f"r{number}", "Read", {"file_path": f"{number}.txt"}) for number in range(4)]
    for number, (_, result) in enumerate(reads):
        result["content"][0]["content"] = f"line {number} of a text\n" * 600
    messages = [{"role": "user", "content": "Go."}, *(message for step in (*steps, *reads) for message in step)]
    values = {"conversation_prune.safe_zone_tokens": 14_000, "conversation_prune.keep_last": 1}

    def cleared_contents(cut_to: float) -> list[int]:
        settings = with_values(Settings(), {**values, "conversation_prune.cut_to": cut_to})
        pruned = AgenticConversationPruner(settings).prune_conversations(messages)
        return [number for number in (1, 3, 5) if "[content cleared" in str(pruned[number])]

    assert cleared_contents(1.0) == []  # results were enough
    assert cleared_contents(0.9) == [1, 3, 5]
    values["conversation_prune.keep_last"] = 6
    assert cleared_contents(0.9) == [1]


def test_a_content_is_not_needless_because_a_write_failed_later() -> None:
    failed = wrote("w1", "Write", {"file_path": "a.py", "content": V2})
    failed[1]["content"][0]["is_error"] = True
    other = wrote("w2", "Write", {"file_path": "b.py", "content": V3})
    again = wrote("w3", "Write", {"file_path": "b.py", "content": V1})
    first = wrote("w0", "Write", {"file_path": "a.py", "content": V1})
    assert after(first, failed, other, again, zone=5500) == [2]


def test_a_note_that_a_file_is_unchanged_keeps_the_read_that_it_names() -> None:
    note = "File unchanged since last read. Refer to the earlier result."
    steps = [("Read", {"file_path": f"{name}.py"}, f"{name} = 1\n" * 200) for name in "abc"]
    messages = conversation(*steps, ("Read", {"file_path": "a.py"}, note))
    assert list(cleared(messages, 200)) == [1]
    assert list(cleared(messages, 400)) == [1, 2]
    waiting = messages[:-2]  # the note is not answered yet: the read that it names stays as long as the note
    assert list(cleared(waiting, 9000)) == [1, 2]


def test_where_originals_are_kept_a_placeholder_names_what_recall_takes() -> None:
    settings = with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 0})
    content = {"file_path": "b.py", "content": "y = 2\n" * 200}
    messages = conversation(("Read", {"file_path": "a.py"}, CODE), ("Write", content, "done"), ("Bash", {}, "z\n" * 99))
    measured = measure(read_messages(messages), get_counter("chars4"))
    pruned = decide(measured, settings, recalls=True)
    named = [digest for message in pruned.messages for digest in re.findall(r"recall ([0-9a-f]{12})", str(message))]
    assert set(named) == set(pruned.originals) and len(named) == 3
    assert [text for text in pruned.originals.values() if text.startswith("value")] == [CODE]
    assert "sha256" not in str(pruned.messages)
    again = measure(read_messages(pruned.messages), get_counter("chars4"))
    assert decide(again, settings, recalls=True).messages == pruned.messages
