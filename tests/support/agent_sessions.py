"""Sessions of coding agents from one neutral script, in the format of each, as their programs write them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

START = 1_790_000_000
"""Seconds since 1970 of the first line: 2026-09-21."""

PROJECT = "/home/ada/shop"
CLAUDE, CODEX = "3f2a9c1e-0000-4000-8000-000000000001", "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"
GEMINI, OPENCODE = "24e7203e-8840-4c58-91f1-5ab32f11e899", "ses_4f2a01"


@dataclass(frozen=True)
class Step:
    """One thing in a session: words of a user or of the model, or a call of a tool with its result."""

    kind: str  # "user", "said", "tool", "compacted"
    text: str  # what is said; of a tool its result; of a compaction the summary
    tool: str = ""  # "read", "edit", "write", "run"
    path: str = ""  # of the file, or the command
    success: bool = True


def user(text: str) -> Step:
    return Step("user", text)


def said(text: str) -> Step:
    return Step("said", text)


def tool(name: str, path: str, result: str, success: bool = True) -> Step:
    return Step("tool", result, name, path, success)


def compacted(summary: str) -> Step:
    return Step("compacted", summary)


SCRIPT = (
    user("The total is wrong when a voucher is used twice."),
    tool("read", "shop/cart.py", "def total(cart):\n    return sum(cart)\n" * 30),
    tool("run", "pytest -q", "1 failed, 3 passed\n" * 20, success=False),
    tool("read", "shop/cart.py", "def total(cart):\n    return sum(cart)\n" * 30),
    tool("edit", "shop/cart.py", "The file was updated."),
    tool("run", "pytest -q", "4 passed\n" * 20),
    said("The total counts each voucher once now."),
    user("And in the invoice?"),
    tool("read", "shop/invoice.py", "def invoice(cart):\n    return total(cart)\n" * 30),
)
"""The first read of the cart is repeated by the second, which is outdated by the edit."""


def stamp(number: int) -> str:
    """The time of a step, half a minute after the one before."""
    return datetime.fromtimestamp(START + 30 * number, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


# --- Claude Code ------------------------------------------------------------------------------------------------------

_CLAUDE_TOOLS = {"read": ("Read", "file_path"), "edit": ("Edit", "file_path"), "write": ("Write", "file_path")}
_CLAUDE_TOOLS |= {"run": ("Bash", "command")}


def claude_code(script: Sequence[Step], *, usage: bool = True, session: str = CLAUDE) -> list[dict[str, Any]]:
    """Lines of Claude Code 2.1."""
    lines: list[dict[str, Any]] = []
    tokens = 18_000

    def add(number: int, kind: str, message: dict[str, Any], **more: Any) -> None:
        parent = next((line["uuid"] for line in reversed(lines) if "uuid" in line), None)
        envelope = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": PROJECT}
        envelope |= {"sessionId": session, "version": "2.1.230", "gitBranch": "main", "type": kind}
        own = {"uuid": f"u{len(lines):04}", "timestamp": stamp(number)}
        lines.append({**envelope, "message": message, **own, **more})

    def answer(number: int, content: list[dict[str, Any]]) -> None:
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-opus-4-1-20250805"}
        used = {"input_tokens": 4, "cache_creation_input_tokens": 800, "cache_read_input_tokens": tokens - 804}
        used |= {"output_tokens": 60, "service_tier": "standard"}
        for block in content:
            one = message | {"content": [block]} | ({"usage": used} if usage else {})
            add(number, "assistant", one, requestId=f"req_{number}")

    for number, step in enumerate(script):
        tokens += 1_000
        if step.kind == "user":
            add(number, "user", {"role": "user", "content": step.text})
        elif step.kind == "said":
            answer(number, [{"type": "thinking", "thinking": "Done.", "signature": "c2ln"}, text_block(step.text)])
        elif step.kind == "compacted":
            boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
            boundary |= {
                "parentUuid": None,
                "logicalParentUuid": lines[-1]["uuid"] if lines else None,
                "uuid": f"u{len(lines):04}",
            }
            boundary |= {"compactMetadata": {"trigger": "auto", "preTokens": tokens}, "timestamp": stamp(number)}
            lines.append(boundary | {"sessionId": session})
            add(number, "user", {"role": "user", "content": step.text}, isCompactSummary=True)
            tokens = 18_000
        else:
            name, key = _CLAUDE_TOOLS[step.tool]
            answer(number, [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {key: step.path}}])
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": step.text}
            result |= {} if step.success else {"is_error": True}
            add(number, "user", {"role": "user", "content": [result]}, toolUseResult={"stdout": step.text})
    return lines


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# --- Codex CLI --------------------------------------------------------------------------------------------------------


def codex(script: Sequence[Step], *, session: str = CODEX) -> list[dict[str, Any]]:
    """Lines of Codex CLI 0.128."""
    lines: list[dict[str, Any]] = []
    tokens = total = 9_000

    def add(number: int, kind: str, payload: dict[str, Any]) -> None:
        lines.append({"timestamp": stamp(number), "type": kind, "payload": payload})

    def item(number: int, **payload: Any) -> None:
        add(number, "response_item", payload)

    def counted(number: int) -> None:
        nonlocal total
        total += tokens
        last = {"input_tokens": tokens, "cached_input_tokens": tokens - 500, "output_tokens": 80}
        last |= {"reasoning_output_tokens": 16, "total_tokens": tokens + 80}
        whole = last | {"input_tokens": total, "total_tokens": total + 80 * number}
        info = {"total_token_usage": whole, "last_token_usage": last, "model_context_window": 258_400}
        add(number, "event_msg", {"type": "token_count", "info": info, "rate_limits": None})

    meta = {
        "id": session,
        "timestamp": stamp(0),
        "cwd": PROJECT,
        "originator": "codex_cli_rs",
        "cli_version": "0.128.0",
    }
    meta |= {"source": "cli", "model_provider": "openai", "base_instructions": {"text": "You are Codex." * 40}}
    add(0, "session_meta", meta)
    add(0, "turn_context", {"cwd": PROJECT, "approval_policy": "never", "model": "gpt-5.2-codex", "effort": "high"})
    context = f"<environment_context>\n  <cwd>{PROJECT}</cwd>\n</environment_context>"
    item(0, type="message", role="user", content=[{"type": "input_text", "text": context}])
    for number, step in enumerate(script):
        tokens += 700
        if step.kind == "user":
            item(number, type="message", role="user", content=[{"type": "input_text", "text": step.text}])
            add(number, "event_msg", {"type": "user_message", "message": step.text, "kind": "plain"})
        elif step.kind == "said":
            item(
                number, type="reasoning", summary=[{"type": "summary_text", "text": "**Done**"}], encrypted_content="x"
            )
            item(number, type="message", role="assistant", content=[{"type": "output_text", "text": step.text}])
            add(number, "event_msg", {"type": "agent_message", "message": step.text})
            counted(number)
        elif step.kind == "compacted":
            kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": step.text}]}]
            add(number, "compacted", {"message": step.text, "replacement_history": kept})
            add(number, "event_msg", {"type": "context_compacted"})
            tokens = 9_000
        else:
            call = f"call_{number}"
            if step.tool == "edit":
                patch = f"*** Begin Patch\n*** Update File: {step.path}\n@@\n-a\n+b\n*** End Patch"
                item(number, type="custom_tool_call", name="apply_patch", input=patch, call_id=call, status="completed")
                item(number, type="custom_tool_call_output", call_id=call, output=step.text)
            else:
                command = step.path if step.tool == "run" else f"cat {step.path}"
                given = json.dumps({"cmd": command, "workdir": PROJECT})
                item(number, type="function_call", name="exec_command", arguments=given, call_id=call)
                counted(number)
                code = 0 if step.success else 1
                text = f"Process exited with code {code}\nOutput:\n{step.text}"
                item(number, type="function_call_output", call_id=call, output=text)
    return lines


# --- Gemini CLI -------------------------------------------------------------------------------------------------------

_GEMINI_TOOLS = {
    "read": ("read_file", "file_path"),
    "edit": ("replace", "file_path"),
    "write": ("write_file", "file_path"),
}
_GEMINI_TOOLS |= {"run": ("run_shell_command", "command")}


def gemini_cli(script: Sequence[Step], *, session: str = GEMINI) -> list[dict[str, Any]]:
    """Records of Gemini CLI 0.56: an answer is written first without, then again with its calls."""
    heading = {"sessionId": session, "projectHash": "ab12", "startTime": stamp(0), "lastUpdated": stamp(0)}
    lines: list[dict[str, Any]] = [heading | {"kind": "main"}]
    tokens = 12_000
    for number, step in enumerate(script):
        tokens += 900
        one: dict[str, Any] = {"id": f"m{number}", "timestamp": stamp(number)}
        used = {"input": tokens, "output": 40, "cached": tokens - 1_000, "thoughts": 9, "tool": 0, "total": tokens + 49}
        model = {"tokens": used, "model": "gemini-3-pro", "thoughts": [{"subject": "Look", "description": "first"}]}
        if step.kind == "user":
            lines.append(one | {"type": "user", "content": [{"text": step.text}]})
        elif step.kind == "said":
            lines.append(one | {"type": "gemini", "content": step.text, **model})
        elif step.kind == "compacted":
            kept = [one | {"type": "user", "content": [{"text": step.text}]}]
            lines.append({"$set": {"messages": kept}})
            tokens = 12_000
        else:
            name, key = _GEMINI_TOOLS[step.tool]
            lines.append(one | {"type": "gemini", "content": "", **model})
            response = {"output" if step.success else "error": step.text}
            result = [{"functionResponse": {"id": f"c{number}", "name": name, "response": response}}]
            call = {"id": f"c{number}", "name": name, "args": {key: step.path}, "result": result}
            call |= {"status": "success" if step.success else "error", "timestamp": stamp(number)}
            lines.append(one | {"type": "gemini", "content": "", **model, "toolCalls": [call]})
        lines.append({"$set": {"lastUpdated": stamp(number)}})
    return lines


def gemini_cli_whole(script: Sequence[Step]) -> dict[str, Any]:
    """The one object that Gemini CLI wrote before 0.40."""
    heading, *lines = gemini_cli(script)
    latest = {line["id"]: line for line in lines if "id" in line}
    return heading | {"messages": list(latest.values())}


# --- Copilot CLI ------------------------------------------------------------------------------------------------------

_COPILOT_TOOLS = {"read": ("view", "path"), "edit": ("edit", "path"), "write": ("create", "path")}
_COPILOT_TOOLS |= {"run": ("bash", "command")}


def copilot(script: Sequence[Step]) -> list[dict[str, Any]]:
    """Events of Copilot CLI 0.0.407."""
    start = {"sessionId": "cop", "version": 1, "copilotVersion": "0.0.407", "context": {"cwd": PROJECT}}
    events: list[tuple[str, dict[str, Any]]] = [("session.start", start)]
    events.append(("session.model_change", {"newModel": "gpt-5.2"}))
    for number, step in enumerate(script):
        if step.kind == "user":
            events.append(("user.message", {"content": step.text, "transformedContent": step.text}))
        elif step.kind == "said":
            events.append(("assistant.message", {"messageId": f"m{number}", "content": step.text, "toolRequests": []}))
        elif step.kind == "compacted":
            events.append(("session.compaction_complete", {"success": True, "summaryContent": step.text}))
        else:
            (name, key), call = _COPILOT_TOOLS[step.tool], {"toolCallId": f"c{number}"}
            asked = call | {"name": name, "arguments": {key: step.path}}
            events.append(("assistant.message", {"messageId": f"m{number}", "content": "", "toolRequests": [asked]}))
            events.append(("tool.execution_start", call | {"toolName": name, "arguments": {key: step.path}}))
            result = {"result": {"content": step.text}} if step.success else {"error": {"message": step.text}}
            events.append(("tool.execution_complete", call | {"success": step.success, **result}))
    return [
        {"type": kind, "data": data, "id": f"e{at}", "timestamp": stamp(at), "parentId": f"e{at - 1}" if at else None}
        for at, (kind, data) in enumerate(events)
    ]


# --- opencode ---------------------------------------------------------------------------------------------------------

_OPENCODE_TOOLS = {"read": ("read", "filePath"), "edit": ("edit", "filePath"), "write": ("write", "filePath")}
_OPENCODE_TOOLS |= {"run": ("bash", "command")}


def opencode(script: Sequence[Step], *, session: str = OPENCODE) -> dict[str, Any]:
    """What `opencode export` of 1.18 prints."""
    messages: list[dict[str, Any]] = []
    tokens = 11_000
    asked = ""
    for number, step in enumerate(script):
        tokens += 800
        time = {"created": (START + 30 * number) * 1000}
        own = {"id": f"msg_{number:04}", "sessionID": session, "time": time}
        used = {"input": 300, "output": 50, "reasoning": 0, "cache": {"read": tokens - 800, "write": 500}}
        mine = own | {
            "role": "assistant",
            "modelID": "gpt-5.2",
            "providerID": "openai",
            "tokens": used,
            "parentID": asked,
        }
        if step.kind == "user":
            asked = own["id"]
            messages.append({"info": own | {"role": "user"}, "parts": [text_block(step.text)]})
        elif step.kind == "compacted":
            messages.append({"info": own | {"role": "user"}, "parts": [{"type": "compaction", "auto": True}]})
            summary = mine | {"id": own["id"] + "s", "summary": True, "parentID": own["id"], "tokens": {}}
            messages.append({"info": summary, "parts": [text_block(step.text)]})
            tokens = 11_000
        elif step.kind == "said":
            parts = [{"type": "step-start"}, {"type": "reasoning", "text": "Done."}, text_block(step.text)]
            messages.append({"info": mine, "parts": [*parts, {"type": "step-finish", "reason": "stop"}]})
        else:
            name, key = _OPENCODE_TOOLS[step.tool]
            state = {"status": "completed" if step.success else "error", "input": {key: step.path}, "title": ""}
            state |= {"output" if step.success else "error": step.text, "time": {"start": 1, "end": 2}}
            part = {"type": "tool", "callID": f"call_{number}", "tool": name, "state": state}
            messages.append({"info": mine, "parts": [part]})
    info = {"id": session, "directory": PROJECT, "title": "Vouchers", "version": "1.18.21", "time": {"created": START}}
    return {"info": info, "messages": messages}


def opencode_2(script: Sequence[Step]) -> list[dict[str, Any]]:
    """Rows of `session_message` of opencode 2.0: `id`, `type` and `data`."""
    rows: list[dict[str, Any]] = []
    tokens = 11_000
    for number, step in enumerate(script):
        tokens += 800
        time = {"created": (START + 30 * number) * 1000}
        used = {"input": 300, "output": 50, "reasoning": 0, "cache": {"read": tokens - 800, "write": 500}}
        mine = {"agent": "build", "model": {"id": "gpt-5.2", "providerID": "openai"}, "tokens": used, "time": time}
        if step.kind == "user":
            row = {"type": "user", "data": {"text": step.text, "time": time}}
        elif step.kind == "compacted":
            row = {"type": "compaction", "data": {"summary": step.text, "reason": "auto", "time": time}}
            tokens = 11_000
        elif step.kind == "said":
            thought = {"type": "reasoning", "id": "r1", "text": "Done."}
            row = {"type": "assistant", "data": mine | {"content": [thought, text_block(step.text)]}}
        else:
            name, key = _OPENCODE_TOOLS[step.tool]
            state: dict[str, Any] = {"status": "completed", "input": {key: step.path}, "structured": {}}
            if step.success:
                state |= {"content": [text_block(step.text)]}
            else:
                state |= {"status": "error", "content": [], "error": {"type": "unknown", "message": step.text}}
            part = {"type": "tool", "id": f"call_{number}", "name": name, "state": state, "time": time}
            row = {"type": "assistant", "data": mine | {"content": [part]}}
        rows.append({"id": f"msg_{number:04}", **row})
    return rows


# --- on disk ----------------------------------------------------------------------------------------------------------


def as_lines(values: Sequence[Any]) -> str:
    """Values a line each."""
    return "".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in values)


def write_claude_code(home: Path, script: Sequence[Step], session: str = CLAUDE) -> Path:
    path = home / ".claude" / "projects" / "-home-ada-shop" / f"{session}.jsonl"
    return written(path, as_lines(claude_code(script, session=session)))


def write_codex(home: Path, script: Sequence[Step], session: str = CODEX) -> Path:
    path = home / ".codex" / "sessions" / "2026" / "09" / "21" / f"rollout-2026-09-21T13-33-20-{session}.jsonl"
    return written(path, as_lines(codex(script, session=session)))


def write_gemini_cli(home: Path, script: Sequence[Step]) -> Path:
    folder = home / ".gemini" / "tmp" / "shop"
    written(folder / ".project_root", PROJECT)
    return written(folder / "chats" / "session-2026-09-21T13-33-24e7203e.jsonl", as_lines(gemini_cli(script)))


def write_copilot(home: Path, script: Sequence[Step]) -> Path:
    return written(home / ".copilot" / "session-state" / "cop" / "events.jsonl", as_lines(copilot(script)))


def write_opencode_database(home: Path, script: Sequence[Step], *, second: bool = False) -> Path:
    """The database of opencode 1.2 and later; `second`: that of 2.0."""
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    times = "time_created INTEGER, time_updated INTEGER"
    now = START * 1000
    with closing(sqlite3.connect(path)) as database:
        table = "session_v2" if second else "session"
        database.execute(
            f"CREATE TABLE {table} (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
            f" version TEXT, revert TEXT, {times})"
        )
        known = (OPENCODE, "p1", None, PROJECT, "Vouchers", "2.0.12" if second else "1.18.21", None, now, now + 9_000)
        database.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", known)
        if second:
            database.execute(
                f"CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, {times}, data TEXT)"
            )
        else:
            database.execute(f"CREATE TABLE message (id TEXT, session_id TEXT, {times}, data TEXT)")
            database.execute(f"CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, {times}, data TEXT)")
        database.commit()
    add_to_database(path, script, second=second)
    return path


def add_to_database(path: Path, script: Sequence[Step], *, second: bool = False) -> None:
    """Writes the rows of a script that are not there yet."""
    now = START * 1000
    with closing(sqlite3.connect(path)) as database:
        if second:
            there = database.execute("SELECT count(*) FROM session_message").fetchone()[0]
            for seq, row in enumerate(opencode_2(script)):
                if seq >= there:
                    values = (row["id"], OPENCODE, row["type"], seq, now, now, json.dumps(row["data"]))
                    database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        else:
            there = database.execute("SELECT count(*) FROM message").fetchone()[0]
            for number, message in enumerate(opencode(script)["messages"]):
                if number < there:
                    continue
                info = {key: value for key, value in message["info"].items() if key not in ("id", "sessionID")}
                name = message["info"]["id"]
                database.execute(
                    "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (name, OPENCODE, now + number, now, json.dumps(info))
                )
                for place, part in enumerate(message["parts"]):
                    values = (f"prt_{number:04}_{place}", name, OPENCODE, now, now, json.dumps(part))
                    database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
        database.commit()


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path
