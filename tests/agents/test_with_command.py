"""`secateur with` as a shell sees it: streams, exit codes and signals are the agent's, and nothing stays behind but
originals and the record."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.folds import recorded_ledger
from secateur.kinds.conversation.transcripts import read_messages
from secateur.model import Reason
from secateur.tokens import get_counter
from secateur_agents.proxy.pruning import RequestPruner
from secateur_agents.proxy.record import RequestRecorder, newest_record
from support.agent_requests import TASK, body, reads, settings
from support.cli import secateur
from support.scripted_provider import answer, provider

pytestmark = pytest.mark.usefixtures("default_signals")

SECONDS = 120

# An agent: sends the bodies in the files that it is given, and prints the length of the answers.
AGENT = """
import os, sys, urllib.request
print("started", flush=True)
for name in sys.argv[1:]:
    data, headers = open(name, "rb").read(), {"x-api-key": "sk-ant-api03-" + "Zq8v" * 20, "content-type": "x"}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    print(len(urllib.request.urlopen(urllib.request.Request(url, data, headers)).read()))
"""


def started(environ: dict[str, str], *words: object, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "secateur", "with", *map(str, words)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env={**os.environ, **environ}, **pipes, **options)


def ran(environ: dict[str, str], *words: object) -> tuple[int, str, str]:
    running = started(environ, *words)
    out, err = running.communicate(timeout=SECONDS)
    return running.returncode, out.decode(), err.decode()


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_requests_are_pruned_recorded_and_reported_and_no_key_is_anywhere(tmp_path: Path) -> None:
    password = "hunter2Falcon" + "9x" * 4
    names = []
    for count in (4, 30, 34):
        messages = reads(count)
        messages[0]["content"] += f" The password is: password = '{password}'"
        names.append(tmp_path / f"{count}.json")
        names[-1].write_bytes(body(messages, tools=[{"name": "Read", "description": "d", "input_schema": {}}]))
    state = tmp_path / "state"
    with provider(answer(b"abc")) as model:
        environ = {"ANTHROPIC_BASE_URL": model.url, "SECATEUR_STATE_DIR": str(state), "TMPDIR": str(tmp_path)}
        zone = "conversation_prune.safe_zone_tokens=14000"
        code, out, err = ran(environ, "--set", zone, "--", sys.executable, "-c", AGENT, *names)
    assert (code, out.split()) == (0, ["started", "3", "3", "3"])
    came = [path.read_bytes() for path in names]
    assert model.bodies[0] == came[0] and len(model.bodies[2]) - len(TASK) < (len(came[2]) - len(TASK)) / 2
    assert password.encode() in model.bodies[2], "what is not pruned keeps its credentials"
    first, second, third = err.splitlines()
    assert first == "[secateur] requests passed: 3, with a history that was read: 3, cuts: 1, sent unchanged: 0"
    assert "tokens of messages not sent" in second
    record = newest_record({"SECATEUR_STATE_DIR": str(state)}, running=False)
    assert record is not None and third.endswith(f"secateur inspect {record}")
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    written = b"".join(files_below(state).values()) + out.encode() + err.encode()
    assert b"Zq8v" not in written and password.encode() not in written and b"x-api-key" not in written
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("secateur-with-")] == []
    kept = json.loads(record.read_text())
    assert len(kept["messages"]) == len(reads(34)) and kept["tools"][0]["name"] == "Read"
    ledger = recorded_ledger(measure(read_messages(kept["messages"], container=kept), get_counter("chars4")))
    assert ledger is not None and (ledger.requests, len(ledger.cuts), ledger.recalls) == (3, 1, 0)
    assert {entry.reason for entry in ledger.cuts[0].entries} == {Reason.OLDEST_GROUP}
    kept["secateur_with"]["ledger"]["cuts"] = 7
    assert recorded_ledger(measure(read_messages(kept["messages"], container=kept), get_counter("chars4"))) is None
    text = secateur("conversation", record).out
    assert (
        "sent      by secateur with: 1 cut in 3 requests, 1 above the zone, paid " in text
        and "before request 3: " in text
    )
    seen = secateur("conversation", record, "--format", "json").json
    assert seen["format"] == "anthropic" and len(seen["messages"]) == len(reads(34))


def test_records_of_the_last_runs_stay_and_nothing_else_is_deleted(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"with-{number}-0.json").write_bytes(b"{}")
        os.utime(tmp_path / f"with-{number}-0.json", (number, number))
    others = ("with-1-0.json.bak", "mine.json", "with-x-0.json")
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
        os.utime(tmp_path / name, (1, 1))
    recorder = RequestRecorder(tmp_path, 77)
    RequestPruner(settings(10_000), None, recorder.observe).edit("/v1/messages", "", body(reads(2)))
    assert recorder.close() == tmp_path / "with-77-0.json"
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*others, "with-77-0.json", *(f"with-{number}-0.json" for number in range(10, 30))}


def test_requests_that_no_provider_answered_came_this_way(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "body.json").write_bytes(body(reads(2)))
    environ = {"ANTHROPIC_BASE_URL": url, "SECATEUR_STATE_DIR": str(tmp_path / "state")}
    code, _, err = ran(environ, "--", sys.executable, "-c", AGENT, tmp_path / "body.json")
    assert code == 1 and "HTTP Error 502" in err
    assert "requests passed: 0, with a history that was read: 1" in err and "no provider answered" in err
    assert "no request came this way" not in err


@pytest.mark.parametrize(
    ("variable", "value"),
    [("ALL_PROXY", "socks5://127.0.0.1:1080"), ("HTTPS_PROXY", "http://127.0.0.1:port"), ("SSL_CERT_FILE", "/nowhere")],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_refused_before_the_start(variable: str, value: str) -> None:
    program = ["--", sys.executable, "-c", "print('started')"]
    code, out, err = ran({variable: value}, *program)
    assert (code, out) == (1, "") and variable in err and "cannot be used" in err and "Traceback" not in err
    code, out, err = ran({variable: value}, "--check", *program)
    assert (code, err) == (1, "") and variable in out and "cannot be used" in out


def test_the_exit_code_is_the_agents(tmp_path: Path) -> None:
    environ = {"SECATEUR_STATE_DIR": str(tmp_path)}
    code, out, err = ran(
        environ, "--", sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "--", "-h"
    )
    assert (code, out) == (7, "['--', '-h']\n") and "no request came this way" in err
    code, _, err = ran(environ, "no-such-agent")
    assert code == 127 and "there is no program no-such-agent" in err
    code, _, err = ran({**environ, "PATH": str(tmp_path)}, "codex")
    assert code == 127 and err == "secateur: there is no program codex\n"
    code, _, _ = ran(environ, "--", sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert code == 128 + signal.SIGKILL
    (tmp_path / "claudee").write_text("#!/no/such/interpreter\n")
    (tmp_path / "claudee").chmod(0o700)
    code, _, err = ran(environ, tmp_path / "claudee")
    assert code == 127 and "cannot run" in err
    assert files_below(tmp_path / "with") == {}


WAITING = """
import signal, sys
def end(number, frame):
    print(number, flush=True)
    sys.exit(40 + number)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, end)
print("ready", flush=True)
while True:
    signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_agent_and_its_end_is_ours(number: signal.Signals, tmp_path: Path) -> None:
    running = started({"SECATEUR_STATE_DIR": str(tmp_path)}, "--", sys.executable, "-c", WAITING)
    assert running.stdout and running.stdout.readline() == b"ready\n"
    running.send_signal(number)
    out, _ = running.communicate(timeout=SECONDS)
    assert (running.returncode, out) == (40 + number, b"%d\n" % number)


def test_ctrl_c_is_the_agents_alone(tmp_path: Path) -> None:
    words = ("--", sys.executable, "-c", WAITING)
    running = started({"SECATEUR_STATE_DIR": str(tmp_path)}, *words, start_new_session=True)
    assert running.stdout and running.stdout.readline() == b"ready\n"
    running.send_signal(signal.SIGINT)  # to us alone: nothing happens
    os.killpg(running.pid, signal.SIGINT)  # as a terminal sends it
    out, _ = running.communicate(timeout=SECONDS)
    assert (running.returncode, out) == (40 + signal.SIGINT, b"%d\n" % signal.SIGINT)


def test_where_the_server_is_killed_the_agent_is_told_by_its_connection(tmp_path: Path) -> None:
    orphan = """
import os, sys, urllib.request
print(os.getppid(), flush=True)
sys.stdin.readline()
try:
    urllib.request.urlopen(os.environ["ANTHROPIC_BASE_URL"] + "/v1/models")
except OSError as error:
    print(error, flush=True)
"""
    environ = {"SECATEUR_STATE_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    running = started(environ, "--", sys.executable, "-c", orphan)
    assert running.stdout and running.stdin
    assert int(running.stdout.readline()) == running.pid
    running.kill()
    running.wait()
    running.stdin.write(b"\n")
    running.stdin.flush()
    assert b"refused" in running.stdout.readline()
    running.communicate(timeout=SECONDS)


def test_check_says_what_would_be_set_and_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = tmp_path / "claude"
    agent.write_text("#!/bin/sh\ntouch started\n")
    agent.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    said = secateur("with", "--check", "claude", "-p", "hello")
    assert said.code == 0 and "answers   anthropic: https://api.anthropic.com" in said.out
    assert "sets      ANTHROPIC_BASE_URL and ENABLE_TOOL_SEARCH=true, for this process alone" in said.out
    assert said.out.splitlines()[-1] == "would start, and change no file of the agent"
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    refused = secateur("with", "--format", "json", "--check", "claude")
    assert refused.code == 1 and refused.json["problem"].startswith("CLAUDE_CODE_USE_BEDROCK is set")
    assert secateur("with", "claude").code == 1 and "Bedrock" in secateur("with", "claude").err
    assert [path.name for path in tmp_path.iterdir()] == ["claude"]


def test_a_session_named_with_is_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path))
    assert "secateur with has recorded nothing" in secateur("conversation", "--session", "with").err
    folder = tmp_path / "with"
    folder.mkdir()
    (folder / f"with-{os.getpid()}-0.json").write_bytes(body(reads(3)))
    (folder / "with-999999999-0.json").write_bytes(body(reads(5)))
    os.utime(folder / "with-999999999-0.json", (4e9, 4e9))
    (folder / "with-1-2.txt").write_bytes(b"mine")
    assert len(secateur("conversation", "--session", "with", "--format", "json").json["messages"]) == 7
    (folder / f"with-{os.getpid()}-0.json").unlink()
    assert len(secateur("conversation", "--session", "with", "--format", "json").json["messages"]) == 11
