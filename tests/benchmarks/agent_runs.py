"""Published runs of coding agents, as chat messages of one shape.

    python tests/benchmarks/agent_runs.py --mirror DIR --out DIR

Takes the runs out of bare copies of public repositories (`owner+name/...` below the mirror), one file each, as a JSON
list of OpenAI-like messages: text, `tool_calls`, results with `tool_call_id`. What no model was sent is left out: side
chains, progress. Of a session the longest part without a compaction counts, and of a session that was saved several
times, or continued in another, the longest copy.

| repository | what is taken |
|---|---|
| entireio/cli, branch entire/checkpoints/v1 | sessions of Claude Code at work on that repository |
| six more with this branch (`UNSEEN`) | sessions of Claude Code and Codex: no constant was chosen on them |
| gruckion/mini-swe-agent | 500 runs of mini-swe-agent with Gemini 3 Pro on SWE-bench Verified |
| nunu0404/Python_OpenHands | runs of OpenHands on Java issues |
| SWE-agent/SWE-agent | the demonstrations |
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

Chat = list[dict[str, Any]]

LEAST_CALLS = 20
"""Calls of tools that a run has at least."""

_COMMAND = re.compile(r"```(?:bash|mswea_bash_command)?\n(.*?)\n?```", re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for source, (repository, revision, pattern, read) in SOURCES.items():
        root = next((options.mirror / repository.replace("/", "+")).glob("*"), None)
        if root is None:
            print(f"{repository}: not in the mirror")
            continue
        best: dict[str, Chat] = {}
        absent = 0
        for path in sorted(path for path in git(root, "ls-tree", "-r", "--name-only", revision).splitlines()):
            if not re.search(pattern, path):
                continue
            try:
                text = git(root, "show", f"{revision}:{path}")
            except subprocess.CalledProcessError:
                absent += 1  # the copy does not hold its largest files
                continue
            for name, chat in read(text, path):
                if calls_of(chat) >= LEAST_CALLS and len(chat) > len(best.get(name, ())):
                    best[name] = chat
        longest = sorted(best.items(), key=lambda item: (-len(item[1]), item[0]))
        best, seen = {}, set[str]()
        for name, chat in longest:
            calls = {json.dumps(call) for message in chat for call in message.get("tool_calls", ())}
            if 2 * len(calls & seen) < len(calls):  # else it begins with a copy of another
                best[name] = chat
            seen |= calls
        for name, chat in best.items():
            (options.out / f"{source}-{name}.json").write_text(json.dumps(chat), encoding="utf-8")
        print(f"{repository}: {len(best)} runs with {LEAST_CALLS} calls or more, {absent} files absent")
    return 0


def git(root: Path, *words: str) -> str:
    run = subprocess.run(["git", "--git-dir", str(root), *words], capture_output=True, check=True)
    return run.stdout.decode("utf-8", "replace")


def calls_of(chat: Chat) -> int:
    """Calls of tools that have a result."""
    return sum(message["role"] == "tool" for message in chat)


# --- one reader a format: yields (name, messages) ------------------------------------------------------------------


def agent_session(text: str, _path: str) -> Iterator[tuple[str, Chat]]:
    """The longest part of a session of Claude Code or Codex that no compaction interrupts."""
    lines = []
    for line in text.splitlines():
        with suppress(ValueError):
            lines.append(json.loads(line))
    lines = [line for line in lines if isinstance(line, dict)]
    read = codex if lines and lines[0].get("type") == "session_meta" else claude_code
    name, parts = read(lines)
    yield name, max(map(whole, parts), key=len)


def claude_code(lines: list[dict[str, Any]]) -> tuple[str, list[Chat]]:
    parts: list[Chat] = [[]]
    name, by_id, waiting = "", dict[str, dict[str, Any]](), set[str]()
    for one in lines:
        if one.get("type") not in ("user", "assistant") or one.get("isSidechain"):
            continue
        name = name or str(one.get("sessionId", ""))
        message = one.get("message") or {}
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        if one.get("isCompactSummary"):
            parts.append([])
            by_id, waiting = {}, set()
        if one["type"] == "assistant":
            said = by_id.get(message.get("id"))  # a line has one block; results of its first calls may stand between
            if said is None:
                said = by_id[message.get("id")] = {"role": "assistant", "content": ""}
                parts[-1].append(said)
            for block in blocks:
                if block.get("type") == "text":
                    said["content"] += block["text"]
                elif block.get("type") == "tool_use":
                    waiting.add(block["id"])
                    said.setdefault("tool_calls", []).append(called(block["id"], block["name"], block["input"]))
            continue
        for block in blocks:
            if block.get("type") == "tool_result" and block["tool_use_id"] in waiting:
                waiting.discard(block["tool_use_id"])
                parts[-1].append(answered(block["tool_use_id"], plain(block.get("content"))))
            elif block.get("type") == "text":
                parts[-1].append({"role": "user", "content": block["text"]})
    return name, parts


def codex(lines: list[dict[str, Any]]) -> tuple[str, list[Chat]]:
    parts: list[Chat] = [[]]
    for line in lines:
        one = line.get("payload") or {}
        if line.get("type") == "compacted":
            kept = [item for item in one.get("replacement_history") or () if item.get("type") == "message"]
            parts.append([{"role": "user", "content": plain(item.get("content"))} for item in kept])
        if line.get("type") != "response_item":
            continue
        kind, chat = one.get("type", ""), parts[-1]
        if kind == "message":
            role = "system" if one["role"] == "developer" else one["role"]
            chat.append({"role": role, "content": plain(one.get("content"))})
        elif kind in ("function_call", "custom_tool_call"):
            if not chat or chat[-1]["role"] != "assistant":
                chat.append({"role": "assistant", "content": ""})
            made = called(one["call_id"], one["name"], {"input": one.get("input")})
            if kind == "function_call":
                made["function"]["arguments"] = one["arguments"]
            chat[-1].setdefault("tool_calls", []).append(made)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = one.get("output")
            chat.append(answered(one["call_id"], output if isinstance(output, str) else plain(output)))
    return str((lines[0].get("payload") or {}).get("id", "")), parts


def mini_swe_agent(text: str, path: str) -> Iterator[tuple[str, Chat]]:
    """A command in a fence is the call, the next message its result."""
    chat: Chat = []
    for number, message in enumerate(json.loads(text)["messages"]):
        said = plain(message["content"])
        if message["role"] == "assistant":
            command = _COMMAND.search(said)
            before = said[: command.start()] if command else said
            chat.append({"role": "assistant", "content": before.strip()})
            if command:
                chat[-1]["tool_calls"] = [called(f"call_{number}", "bash", {"command": command[1]})]
        elif chat and chat[-1].get("tool_calls"):
            chat.append(answered(chat[-1]["tool_calls"][0]["id"], said))
        else:
            chat.append({"role": message["role"], "content": said})
    yield Path(path).name.partition(".")[0], whole(chat)


def swe_agent(text: str, path: str) -> Iterator[tuple[str, Chat]]:
    """Actions of the history are calls, observations their results; demonstrations within are left out."""
    chat: Chat = []
    for number, message in enumerate(json.loads(text).get("history", [])):
        said = plain(message.get("content"))
        if message.get("is_demo"):
            continue
        if message["role"] == "assistant":
            chat.append({"role": "assistant", "content": plain(message.get("thought")) or said})
            if message.get("action"):
                chat[-1]["tool_calls"] = [called(f"call_{number}", "bash", {"command": message["action"].strip()})]
        elif chat and chat[-1].get("tool_calls"):
            chat.append(answered(chat[-1]["tool_calls"][0]["id"], said))
        else:
            chat.append({"role": "system" if message["role"] == "system" else "user", "content": said})
    folder = re.sub(r"\W+", "_", Path(path).parent.name)[:60]
    yield f"{Path(path).stem}-{folder}", whole(chat)


def openhands(text: str, _path: str) -> Iterator[tuple[str, Chat]]:
    """Events with an action of the agent are calls, observations their results."""
    for line in text.splitlines():
        try:
            run = json.loads(line)
        except ValueError:
            continue
        chat: Chat = []
        for event in run.get("history", []):
            call = event.get("tool_call_metadata") or {}
            if event.get("source") == "user":
                chat.append({"role": "user", "content": plain(event.get("message"))})
            elif "action" in event and call:
                arguments = {key: value for key, value in (event.get("args") or {}).items() if key in _ARGUMENTS}
                said = str((event.get("args") or {}).get("thought") or "")
                chat.append({"role": "assistant", "content": said})
                chat[-1]["tool_calls"] = [called(call["tool_call_id"], call["function_name"], arguments)]
            elif "observation" in event and call:
                chat.append(answered(call["tool_call_id"], plain(event.get("content"))))
        yield str(run.get("instance_id", "run")).replace("/", "_"), whole(chat)


_ARGUMENTS = ("command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range", "code")


def called(id_: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def answered(id_: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def plain(content: Any) -> str:
    """The text of content, of blocks too; pictures leave nothing."""
    if isinstance(content, list):
        return "\n".join(plain(block.get("text", block.get("content"))) for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else ""


def whole(chat: Chat) -> Chat:
    """Results right behind their calls; without calls that have no result, and messages that say nothing."""
    given = {message["tool_call_id"]: message for message in chat if message["role"] == "tool"}
    out = []
    for message in chat:
        if message["role"] == "tool":
            continue
        calls = [call for call in message.get("tool_calls", ()) if call["id"] in given]
        message = {key: value for key, value in message.items() if key != "tool_calls"}
        if calls:
            message["tool_calls"] = calls
        if calls or message["content"].strip():
            out += [message, *(given.pop(call["id"]) for call in calls)]
    return out


Reader = Callable[[str, str], Iterator[tuple[str, Chat]]]

UNSEEN = (
    "EntityProcess/agentv",
    "FSM1/cipher-box",
    "PackmindHub/context-evaluator",
    "Beep206/CyberVPN",
    "codyborders/pup-mcp",
    "blackgirlbytes/entire-token-costs-benchmark-tests",
)

SOURCES: dict[str, tuple[str, str, str, Reader]] = {
    "claude-code": ("entireio/cli", "entire/checkpoints/v1", r"full\.jsonl$", agent_session),
    **{
        f"unseen-{name.partition('/')[2]}": (name, "entire/checkpoints/v1", r"full\.jsonl$", agent_session)
        for name in UNSEEN
    },
    "mini-swe-agent": ("gruckion/mini-swe-agent", "HEAD", r"swebench_results/.*\.traj\.json$", mini_swe_agent),
    "openhands": ("nunu0404/Python_OpenHands", "HEAD", r"^output\.jsonl$|benchmarks/.*/output\.jsonl$", openhands),
    "swe-agent": ("SWE-agent/SWE-agent", "HEAD", r"demonstrations/.*\.traj$", swe_agent),
}
"""By source: repository, revision, paths, reader."""


if __name__ == "__main__":
    raise SystemExit(main())
