"""`secateur with AGENT`: runs an agent whose requests are pruned on their way to its model provider."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from secateur import CommandCall, CommandParser, SecateurError, Settings, isolated_python, suggestion, visible

if TYPE_CHECKING:
    from secateur_agents.proxy.agents import LaunchPlan
    from secateur_agents.proxy.pruning import RequestPruner

# Exit codes of a shell; a program that a signal ended has the last and the number of the signal.
NOT_FOUND, NOT_EXECUTABLE, SIGNALLED = 127, 126, 128
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "--check", action="store_true", help="show what would be set, where requests go and what is sent; start nothing"
    )
    parser.add_argument("agent", metavar="AGENT", help="claude, codex, gemini, opencode, or any program (after --)")
    parser.add_argument("words", metavar="WORDS", nargs=argparse.REMAINDER, help="the agent's arguments, unchanged")
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Runs the agent; its exit code."""
    from secateur_agents.proxy.agents import AGENTS, plan_for

    plan = plan_for(options.agent, os.environ)
    missing = [name for name in ("uvicorn", "httpx2") if find_spec(name) is None]
    program = shutil.which(options.agent)
    if options.check:
        return _check(options, plan, program, missing)
    if missing:
        raise SecateurError.missing_extra("secateur with", "proxy")
    if program is None:
        near = suggestion(options.agent, [name for name in AGENTS if name != options.agent])
        options.say(f"secateur: there is no program {options.agent}" + (f"; did you mean {near}?" if near else ""))
        return NOT_FOUND
    if plan.refusal:
        raise SecateurError(f"{plan.title} cannot run with secateur: {plan.refusal}", code="REFUSED")
    return _serve(options, plan, program)


def _serve(options: CommandCall, plan: LaunchPlan, program: str) -> int:
    from secateur_agents.proxy.agents import Launch
    from secateur_agents.proxy.pruning import RequestPruner
    from secateur_agents.proxy.record import RequestRecorder, folder_of_records
    from secateur_agents.proxy.server import HOST, TOKEN_HEADER, ProxyServer
    from secateur_agents.store import user_store

    settings, mcp = _load_settings(options), _mcp_command(plan)
    recorder = RequestRecorder(folder_of_records(os.environ), os.getpid())
    pruner = RequestPruner(settings, user_store(os.environ) if mcp else None, recorder.observe, plan.outputs)
    with (
        tempfile.TemporaryDirectory(prefix="secateur-with-") as folder,
        ProxyServer(plan.upstreams, pruner.edit) as server,
    ):
        launch = Launch(server.address, server.token, TOKEN_HEADER, Path(folder), mcp, options.words)
        plan.prepare(launch)
        environ = {**os.environ, **launch.variables}
        if any(name.lower().endswith("_proxy") for name in environ):
            direct = environ.get("no_proxy") or environ.get("NO_PROXY")
            environ["no_proxy"] = environ["NO_PROXY"] = f"{direct},{HOST}" if direct else HOST
        try:
            code = _run_agent(program, [options.agent, *launch.flags, *options.words], environ)
        except OSError as error:
            options.say(f"secateur: cannot run {options.agent}: {error.strerror or error}")
            return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    record = recorder.close()
    for text in _report(pruner, server.passed, record):
        options.say(f"[secateur] {text}")
    return code


def _load_settings(options: CommandCall) -> Settings:
    """Returns the user's settings, under the profile `recommended` unless the user names another. A repository's file
    has no say."""
    loaded = options.load_settings(None)
    if "profile" not in loaded.origins:
        loaded = options.quiet_settings(None, {"profile": "recommended"}, None)
    return loaded.settings


def _mcp_command(plan: LaunchPlan) -> list[str]:
    if not plan.takes_mcp or find_spec("mcp") is None:
        return []
    return isolated_python("from secateur.__main__ import run; sys.exit(run())", "mcp")


def _run_agent(program: str, words: list[str], environ: dict[str, str]) -> int:
    """Runs a program in the terminal of this one; its exit code. Signals that ask for an end are passed on. Ctrl-C
    reaches both, and is the program's alone. Raises OSError: it cannot be started."""
    pid = 0

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if pid:
            os.kill(pid, number)

    # Ours until the program has ended; a handler is not inherited, which an ignored signal would be.
    before = {signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)}
    for number in _PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup`
            before[number] = signal.signal(number, pass_on)
    try:
        pid = os.posix_spawn(program, words, environ, setsigdef=[signal.SIGPIPE])
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                pid, code = 0, os.waitstatus_to_exitcode(status)
                return code if code >= 0 else SIGNALLED - code
            os.kill(os.getpid(), signal.SIGSTOP)  # Ctrl-Z in the program: the shell sees us stop, and continues us
            os.kill(pid, signal.SIGCONT)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _report(pruner: RequestPruner, passed: int, record: Path | None) -> Iterator[str]:
    from secateur_agents.savings import summarize

    total = summarize(pruner.records, 0).total
    whole = sum(pruner.whole.values())
    yield (
        f"requests passed: {passed:,}, with a history that was read: {total.requests:,}, cuts: {total.cuts:,},"
        f" sent unchanged: {whole:,}" + "".join(f" ({times:,}: {why})" for why, times in pruner.whole.most_common(3))
    )
    if total.requests and total.paid_share is not None:
        yield (
            f"{total.taken_out:,} of {total.whole:,} tokens of messages not sent; with a prompt cache they cost"
            f" {total.paid_share:.0%} of the price without pruning"
        )
    if record is not None:
        yield f"what was sent, and what was cut and why: secateur inspect {shlex.quote(str(record))}"
    if not passed:
        came = total.requests or whole
        yield "no provider answered" if came else "no request came this way: the agent asked another provider, or none"


def _check(options: CommandCall, plan: LaunchPlan, program: str | None, missing: list[str]) -> int:
    from secateur import dumps

    problem = plan.refusal
    try:
        if not (missing or problem):
            from secateur_agents.proxy.server import make_client

            make_client()
    except SecateurError as error:
        problem = f"{error.message}: {error.hint}"
    if missing:
        problem = "the extra proxy is not installed: see docs/use/install.md"
    elif program is None:
        problem = f"there is no program {options.agent}"
    mcp = bool(_mcp_command(plan))
    if options.format == "json":
        facts = {"agent": plan.title, "program": program, "problem": problem, "sets": plan.sets, "recall": mcp}
        options.emit(dumps({**facts, "upstreams": plan.upstreams, "asides": plan.asides}))
        return 1 if problem else 0
    lines = [f"agent     {plan.title}: {program or 'not found'}"]
    lines += [f"sets      {text}, for this process alone" for text in plan.sets]
    lines += [f"answers   {name}: {url}" for name, url in plan.upstreams.items()]
    lines.append(
        "leaves    the agent's requests to these hosts, with its keys; what was cut is replaced by placeholders"
    )
    lines.append(f"recall    {'secateur mcp, for this run' if mcp else 'none: a placeholder says which call to make'}")
    lines += [f"aside     {text}" for text in plan.asides]
    lines.append(f"cannot    {problem}" if problem else "would start, and change no file of the agent")
    options.emit("".join(f"{visible(text)}\n" for text in lines))
    return 1 if problem else 0
