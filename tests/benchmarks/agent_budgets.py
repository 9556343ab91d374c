"""What coding agents give their model of an answer over MCP: the requests that real agents send, beside the budget.

    PYTHONPATH=tests/benchmarks python tests/benchmarks/agent_budgets.py --repo PATH
        [--claude PROGRAM] [--codex PROGRAM] [--copilot PROGRAM]

Each agent runs without a person, in a home of its own, against a scripted model on the loopback interface, which calls
the tools one after the other and keeps what it is sent. Claude Code and Copilot speak the messages of Anthropic, Codex
the responses of OpenAI. Prints Markdown: tokens (o200k) of each result as the model gets it, with what the agent puts
around it, and of the descriptions of the tools.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from secateur import Engine, count_tokens

QUERY = "where is the budget of an answer checked?"
LOG = (
    "".join(f"2026-01-01 00:00:{n % 60:02} INFO step {n} is done\n" for n in range(2_000)) + "ERROR the disk is full\n"
)
CALLS: Sequence[tuple[str, dict[str, Any]]] = (
    ("search", {"query": QUERY}),
    ("search", {"query": QUERY, "budget": 1_200}),
    ("search", {"query": QUERY, "detail": "source", "budget": 1_000}),
    ("search", {"query": QUERY, "detail": "source", "budget": 4_000}),
    ("prune", {"text": LOG, "budget": 1_000}),
)
NAMES = 600  # the default
WAITS = 30
SECONDS = 300

Event = tuple[str, dict[str, Any]]


class Model:
    """The scripted model: `bodies` are the requests that it got."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.calls = 0
        self.waits = 0

    def next_call(self, tools: Sequence[dict[str, Any]]) -> tuple[str, dict[str, Any], str] | None:
        """The name, arguments and namespace of the next call; a pause while the server is not connected."""
        named = {(tool.get("name", ""), space): tool for tool, space in spread(tools)}
        if not any("secateur" in name + space for name, space in named):
            self.waits += 1
            shell, argument = ("exec_command", "cmd") if ("exec_command", "") in named else ("Bash", "command")
            shell = next((name for name, _ in named if name.lower() == shell.lower()), "")
            told = {argument: "sleep 3", "description": "Wait"} if argument == "command" else {argument: "sleep 3"}
            return (shell, told, "") if shell and self.waits < WAITS else None
        if self.calls == len(CALLS):
            return None
        tool, arguments = CALLS[self.calls]
        name, space = next(
            (name, space) for name, space in named if f"{space}{name}".endswith(tool) and ours(space + name)
        )
        self.calls += 1
        return name, arguments, space

    def anthropic(self, body: dict[str, Any]) -> list[Event]:
        call = self.next_call(body.get("tools", [])) if body.get("tools") else None
        identity = f"toolu_{self.waits}_{self.calls}" + ("" if call and not ours(call[0]) else "_ours")
        usage = {"input_tokens": 1, "output_tokens": 1}
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": "Done."}
        if call is not None:
            block = {"type": "tool_use", "id": identity, "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        message = {"id": f"msg_{len(self.bodies)}", "type": "message", "role": "assistant", "model": "scripted"}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        return [
            ("message_start", {"message": message}),
            ("content_block_start", {"index": 0, "content_block": block}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": stop, "usage": {"output_tokens": 1}}),
            ("message_stop", {}),
        ]

    def responses(self, body: dict[str, Any]) -> list[Event]:
        call = self.next_call(body.get("tools", []))
        said = {"type": "output_text", "text": "Done.", "annotations": []}
        item: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant", "content": [said]}
        if call is not None:
            name, arguments, space = call
            mine = "_ours" if ours(space + name) else ""
            item = {"type": "function_call", "id": f"fc_{len(self.bodies)}", "name": name}
            item |= {"call_id": f"call_{self.waits}_{self.calls}{mine}", "arguments": json.dumps(arguments)}
            item |= {"namespace": space} if space else {}
        item["status"] = "completed"
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        response = {"id": f"resp_{len(self.bodies)}", "object": "response", "model": "scripted"}
        end = response | {"status": "completed", "output": [item], "usage": usage}
        return [
            ("response.created", {"response": response | {"status": "in_progress", "output": []}}),
            ("response.output_item.added", {"output_index": 0, "item": item}),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": end}),
        ]


def ours(name: str) -> bool:
    return "secateur" in name


def spread(tools: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """Tools with their namespaces."""
    within = [(tool, space["name"]) for space in tools for tool in space.get("tools", [])]
    return [*((tool, "") for tool in tools if "tools" not in tool), *within]


class Handler(BaseHTTPRequestHandler):
    """Answers for a model."""

    def __init__(self, model: Model, *rest: Any) -> None:
        self.model = model
        super().__init__(*rest)

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.give(json.dumps({"data": [], "models": []}), "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("count_tokens"):
            return self.give('{"input_tokens": 1}', "application/json")
        self.model.bodies.append(body)
        events = (self.model.responses if path.endswith("responses") else self.model.anthropic)(body)
        lines = (f"event: {name}\ndata: {json.dumps({'type': name} | data)}\n\n" for name, data in events)
        return self.give("".join(lines), "text/event-stream")

    def give(self, text: str, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


# --- the agents -------------------------------------------------------------------------------------------------------


def claude(program: str, home: Path, port: int, server: list[str]) -> tuple[list[str], dict[str, str]]:
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"secateur": {"command": server[0], "args": server[1:]}}}))
    flags = ["--model", "claude-sonnet-4-5", "--strict-mcp-config", "--mcp-config", f"{home}/mcp.json"]
    allowed = "Bash mcp__secateur__search mcp__secateur__prune"
    environ = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "sk-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    return [program, "-p", "go", *flags, "--allowedTools", allowed], environ


def codex(program: str, home: Path, port: int, server: list[str]) -> tuple[list[str], dict[str, str]]:
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(
        'model = "scripted"\nmodel_provider = "own"\n[model_providers.own]\nname = "own"\nwire_api = "responses"\n'
        f'base_url = "http://127.0.0.1:{port}/v1"\nenv_key = "OWN_KEY"\n[mcp_servers.secateur]\nrequired = true\n'
        f"startup_timeout_sec = 60\ncommand = {json.dumps(server[0])}\nargs = {json.dumps(server[1:])}\n"
    )
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return [program, "exec", *flags, "go"], {"OWN_KEY": "none"}


def copilot(program: str, home: Path, port: int, server: list[str]) -> tuple[list[str], dict[str, str]]:
    local = {"type": "local", "command": server[0], "args": server[1:], "tools": ["*"]}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"secateur": local}}))
    environ = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}",
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "claude-sonnet-4",
    }
    return [program, "-p", "go", "--allow-all-tools", "--additional-mcp-config", f"@{home}/mcp.json"], environ


Agent = Callable[[str, Path, int, list[str]], tuple[list[str], dict[str, str]]]
AGENTS: dict[str, Agent] = {"claude": claude, "codex": codex, "copilot": copilot}


def run(agent: Agent, program: str, repository: Path, cache: str) -> Model:
    """Runs an agent until its model is done."""
    model = Model()
    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, model))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        server = ["env", f"SECATEUR_CACHE_DIR={cache}", f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}"]
        server += [sys.executable, "-m", "secateur", "mcp", str(repository)]
        command, more = agent(program, Path(home), serving.server_port, server)
        environ = {"PATH": os.environ["PATH"], "HOME": home, "COPILOT_HOME": f"{home}/copilot", **more}
        ended = subprocess.run(
            command, cwd=repository, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS
        )
    serving.shutdown()
    if model.calls < len(CALLS):
        raise SystemExit(f"{program} made {model.calls} calls: {ended.stdout[-500:]!r} {ended.stderr[-500:]!r}")
    return model


def results_of(body: dict[str, Any]) -> list[str]:
    """The results of our tools in a request, as the model gets them."""
    if "input" in body:
        outputs = (item for item in body["input"] if item.get("type", "").endswith("_output"))
        pairs = [(item["call_id"], item["output"]) for item in outputs]
    else:
        blocks = [part for one in body["messages"] if isinstance(one["content"], list) for part in one["content"]]
        pairs = [(part["tool_use_id"], part["content"]) for part in blocks if part["type"] == "tool_result"]
    texts = [
        (key, given if isinstance(given, str) else "\n".join(part["text"] for part in given)) for key, given in pairs
    ]
    return [text for key, text in texts if key.endswith("_ours")]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True)
    for name in AGENTS:
        parser.add_argument(f"--{name}", metavar="PROGRAM")
    options = parser.parse_args(words)
    repository = options.repo.resolve()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SECATEUR_CACHE_DIR"] = cache
        with Engine.open(repository) as engine:
            engine.refresh()
        print("| agent | call | budget | tokens that the model gets | of the budget |\n|---|---|---|---|---|")
        tools = []
        for name, agent in AGENTS.items():
            if not (program := getattr(options, name)):
                continue
            body = run(agent, str(Path(program).resolve()), repository, cache).bodies[-1]
            described = [tool for tool, space in spread(body["tools"]) if ours(space + tool.get("name", ""))]
            tools.append(f"{name} {count_tokens(json.dumps(described, separators=(',', ':'))):,}")
            for (tool, arguments), text in zip(CALLS, results_of(body), strict=True):
                budget, tokens = arguments.get("budget", NAMES), count_tokens(text)
                call = f"{tool}, source" if arguments.get("detail") else tool
                print(f"| {name} | {call} | {budget:,} | {tokens:,} | {tokens / budget:.2f} |", flush=True)
        print(f"\nTokens of the descriptions of the tools in a request: {', '.join(tools)}.")


if __name__ == "__main__":
    main()
