"""Connects the tools to the protocol: their descriptions for clients, and the handling of calls.

Runs calls on threads: a few at once, others wait in a short queue, and a cancelled or overlong call ends soon.

The engine blocks, and reports its progress often. A call is ended by an exception from that report, as soon as Ctrl-C
would end it, and nothing continues in its thread. A call whose work does not report is answered all the same; its
thread, and what it reads, stay taken until it ends. While no call runs, background work runs.
"""

import json
import logging
import math
import threading
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
import mcp_types
import msgspec
from anyio import CapacityLimiter, from_thread, to_thread
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from secateur import Progress, SecateurError, __version__, count_tokens, separate_call

from secateur_agents.mcp import shapes
from secateur_agents.mcp.pages import CODEX_BYTES, MOST_BYTES, answer_bytes, text_of
from secateur_agents.mcp.roots import RootFolder, Roots, folder_of_uri, make_roots
from secateur_agents.mcp.tools import Toolbox

T = TypeVar("T")

# Calls that run at the same time. Python computes in one thread at a time; a second thread keeps a search from waiting
# until another repository is indexed.
THREADS = 2

MOST_WAITING = 16  # calls that wait for a thread; one more is refused at once

# Longest time for a call, with its wait for a thread: many times that of the first index of a large repository, which
# the next call continues.
CALL_SECONDS = 300.0

ENDING_SECONDS = 1.0  # longest time that an ended call waits for its thread
REPORT_SECONDS = 0.25  # time between two reports of progress
Report = Callable[[float, str], Awaitable[None]]  # receives progress, which only grows, and the current phase


class CallEnded(BaseException):
    """Ends the work of a cancelled call. Work does not catch it, just as it does not catch Ctrl-C."""


@dataclass(eq=False)
class _Stage:
    stopped: threading.Event = field(default_factory=threading.Event)
    phase: str = ""
    done: int = 0
    total: int = 0
    phases: int = 0

    def report(self, phase: str, done: int, total: int) -> None:
        if self.stopped.is_set():
            raise CallEnded
        if phase != self.phase:
            self.phases += 1
        self.phase, self.done, self.total = phase, done, total


class CallQueue:
    """See the module docstring.

    >>> answer = await calls.run(lambda progress: toolbox.search(call, roots, progress), key, report)
    """

    def __init__(self) -> None:
        self._threads = CapacityLimiter(THREADS)
        self._turns: WeakValueDictionary[Hashable, CapacityLimiter] = WeakValueDictionary()
        self._number = 0
        self._idle = anyio.Event()
        self._background: anyio.CancelScope | None = None

    async def run(self, work: Callable[[Progress], T], key: Hashable, report: Report | None = None) -> T:
        """Returns the value of `work`, which receives the progress function that ends it.

        Args:
            key: a resource that one call at a time uses, such as the root that it reads.

        Raises:
            SecateurError: from the work; `BUSY`: too many calls are waiting; `CALL_TIMEOUT`: it took CALL_SECONDS.
        """
        if self._number >= THREADS + MOST_WAITING:
            raise SecateurError(
                f"busy: {self._number} calls are under way", hint="wait for an answer, then call again", code="BUSY"
            )
        self._number += 1
        if self._background is not None:
            self._background.cancel()
        try:
            with anyio.move_on_after(CALL_SECONDS):
                turn = self._turns[key] = self._turns.get(key) or CapacityLimiter(1)
                return await self._on_thread(work, report, turn, self._threads)
        finally:
            self._number -= 1
            if not self._number:
                self._idle.set()
        raise SecateurError(
            f"the call was ended after {CALL_SECONDS:,.0f} seconds",
            hint="ask for less, or call again: what was indexed is kept",
            code="CALL_TIMEOUT",
        )

    async def use_idle_time(self, work: Callable[[Progress], None]) -> None:
        """Runs `work` after every call until it ends or the next call comes, which ends it as a cancelled call ends.
        Never returns."""
        while True:
            await self._idle.wait()
            self._idle = anyio.Event()
            if self._number or self._background is not None:
                continue
            with anyio.CancelScope() as self._background, suppress(Exception):  # a call fails too, and says so
                await self._on_thread(work, None, self._threads)
            self._background = None

    async def _on_thread(self, work: Callable[[Progress], T], report: Report | None, *limits: CapacityLimiter) -> T:
        """Runs work on a thread that holds `limits` until it ends, which may be after its call was cancelled."""
        stage, ended, failure = _Stage(), anyio.Event(), None
        claim = threading.Lock()  # taken by the thread that begins, or by a call that ends before
        held: list[CapacityLimiter] = []

        def end() -> None:
            for limit in held:
                limit.release_on_behalf_of(stage)
            ended.set()

        def run() -> T | None:
            if not claim.acquire(blocking=False):
                return None
            try:
                return work(stage.report)
            except CallEnded:
                return None  # the call was cancelled, so nothing reads it
            finally:
                with suppress(RuntimeError):  # the server has ended
                    from_thread.run_sync(end)

        async with anyio.create_task_group() as beside:
            if report is not None:
                beside.start_soon(_report_progress, stage, report)
            try:
                for limit in limits:
                    await limit.acquire_on_behalf_of(stage)
                    held.append(limit)
                value = await to_thread.run_sync(run, abandon_on_cancel=True, limiter=CapacityLimiter(1))
            except Exception as error:
                failure = error
            finally:
                stage.stopped.set()
                if claim.acquire(blocking=False):
                    end()
                with anyio.CancelScope(shield=True), anyio.move_on_after(ENDING_SECONDS):
                    await ended.wait()
            beside.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return value  # type: ignore[return-value]


async def _report_progress(stage: _Stage, report: Report) -> None:
    reported = -math.inf
    while True:
        await anyio.sleep(REPORT_SECONDS)
        phase, done, total = stage.phase, stage.done, stage.total
        part = done / total if total else 0.5  # half of a phase whose size is unknown
        if stage.phases and (now := stage.phases - 1 + min(0.99, part)) > reported:
            reported = now
            await report(now, f"{phase}: {done:,} of {total:,}" if total else phase)


# The key of an answer's facts beside its text, for programs. They are not structured content, whose JSON agents give
# the model in place of the text, or beside it.
FACTS = "secateur/answer"

ROOTS_SECONDS = 5.0  # time limit for a client to list its roots

INSTRUCTIONS = (
    "Finds and prunes what is worth reading, within a budget of tokens, and says why each item was kept or left out. "
    "Use search before reading files, expand for source and calls, prune for long output, review for a pull request, "
    "explain for what was left out. All tools are read only."
)

_ASKED = "roots"
_logger = logging.getLogger(__name__)


# The arguments of each tool, and what clients tell their models about it.
TOOLS: Mapping[str, tuple[type[shapes.ToolCall], str]] = {
    "search": (
        shapes.SearchCall,
        "Find code that answers a question, in budget tokens: the best places, to expand; detail source: their text.",
    ),
    "expand": (shapes.ExpandCall, "A symbol's source, its callers and callees with certainty, up to 3 steps away."),
    "prune": (
        shapes.PruneCall,
        "Shorten one of: a text (log, diff), messages, files (need a request) to budget tokens. Lines are verbatim.",
    ),
    "explain": (shapes.ExplainCall, "Why an item of a result was kept or left out, and what turns that, proven."),
    "review": (shapes.ReviewCall, "The changes from base to head in chunks of budget tokens, with every file."),
    "recall": (shapes.RecallCall, "What a placeholder says that recall DIGEST gives back."),
}


def mcp_server(toolbox: Toolbox, folders: Sequence[RootFolder], *, asks: bool = False) -> Server[dict[str, Any]]:
    """Returns a server of the protocol, for one client over stdio or many over HTTP.

    Args:
        folders: the folders that may be read.
        asks: the client's roots replace `folders` if it has any. Only for a single client.
    """
    calls = CallQueue()
    known: Sequence[RootFolder] | None = None  # the roots of the client, until they change; None: not asked yet

    async def list_tools(_context: Any, _params: Any) -> mcp_types.ListToolsResult:
        hints = mcp_types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        tools = [
            mcp_types.Tool(name=name, description=about, input_schema=shapes.schema_of(call), annotations=hints)
            for name, (call, about) in TOOLS.items()
        ]
        return mcp_types.ListToolsResult(tools=tools)

    async def readable(context: Any, params: mcp_types.CallToolRequestParams) -> Sequence[RootFolder] | None:
        """Returns the folders that a call may read; None if the client must be asked first."""
        nonlocal known
        capabilities = context.session.client_capabilities
        if not asks or capabilities is None or capabilities.roots is None:
            return folders
        if known is None:
            listed = (params.input_responses or {}).get(_ASKED)
            if not isinstance(listed, mcp_types.ListRootsResult):
                if not context.session.can_send_request:
                    return None
                listed = await context.session.send_request(
                    mcp_types.ListRootsRequest(), mcp_types.ListRootsResult, request_read_timeout_seconds=ROOTS_SECONDS
                )
            named = (folder_of_uri(str(root.uri)) for root in listed.roots)
            known = make_roots(folder for folder in named if folder is not None)
        return known

    async def call_tool(
        context: Any, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult | mcp_types.InputRequiredResult:
        """Handles one call. An error in it, or in what it reads, becomes a result that says what to do."""
        name = params.name
        if name not in TOOLS:
            raise MCPError(
                code=mcp_types.INVALID_PARAMS, message=f"unknown tool {name[:100]!r}; tools: {', '.join(TOOLS)}"
            )
        try:
            readable_now = await readable(context, params)
        except (MCPError, ValueError):
            return _failure("the client does not say what its roots are", "start `secateur mcp PATH` with folders")
        if readable_now is None:
            return mcp_types.InputRequiredResult(input_requests={_ASKED: mcp_types.ListRootsRequest()})
        roots = Roots(readable_now, toolbox.cache)

        async def report(progress: float, words: str) -> None:
            await context.session.report_progress(progress, None, words)

        client = context.session.client_params
        answer_bytes.set(CODEX_BYTES if client and client.client_info.name.startswith("codex") else MOST_BYTES)
        try:
            call = shapes.convert(params.arguments or {}, TOOLS[name][0])
            work = partial(_run, getattr(toolbox, name), call, roots)
            text, facts = await calls.run(work, _turn_of(call, roots), report)
        except SecateurError as error:
            return _failure(roots.hide_paths(error.message), roots.hide_paths(error.hint))
        except Exception as error:
            _logger.exception("the tool %s failed", name)
            return _failure(f"unexpected {type(error).__name__} in {name}", "call again; if it stays, report it")
        return mcp_types.CallToolResult(
            content=[mcp_types.TextContent(type="text", text=text)], _meta={FACTS: json.loads(facts)}
        )

    async def roots_changed(_context: Any, _params: Any) -> None:
        nonlocal known
        known = None

    @asynccontextmanager
    async def lifespan(_server: Server[dict[str, Any]]) -> Any:
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(calls.use_idle_time, toolbox.finish_indexes)
                try:
                    yield {}
                finally:
                    beside.cancel_scope.cancel()
        finally:
            toolbox.close()

    server: Server[dict[str, Any]] = Server(
        "secateur",
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.add_notification_handler("notifications/roots/list_changed", mcp_types.NotificationParams, roots_changed)
    return server


# Most characters of an argument that is a name or a question, which an error may repeat; a longer one is content.
_TYPED = 4_096


def _run(
    run: Callable[[Any, Roots, Progress], shapes.ToolAnswer], call: shapes.ToolCall, roots: Roots, progress: Progress
) -> tuple[str, str]:
    """Returns the text of the answer and its other facts as JSON, without credentials. Calls share no recognised ones.
    Raises SecateurError: from the tool; its texts hold no credentials either."""
    given = (value if isinstance(value, list) else [value] for value in msgspec.to_builtins(call).values())
    typed = "\n".join(text for texts in given for text in texts if isinstance(text, str) and len(text) <= _TYPED)
    with separate_call(typed) as outgoing:
        try:
            answer = run(call, roots, progress)
        except SecateurError as error:
            error.message, error.hint = outgoing(error.message), outgoing(error.hint)
            raise
        facts = {name: value for name, value in msgspec.to_builtins(answer).items() if name != "text"}
        texts = text_of(answer, count_tokens), json.dumps(facts, ensure_ascii=False)
        return _sendable(outgoing(texts[0])), _sendable(outgoing(texts[1]))


def _turn_of(call: shapes.ToolCall, roots: Roots) -> str:
    path = getattr(call, "path", "")
    for root in roots.folders:
        if path and (path == root.name or path.startswith((f"{root.name}/", f"{root.folder}"))):
            return str(root.folder)
    return str(roots.folders[0].folder) if roots.folders else ""


def _failure(message: str, hint: str) -> mcp_types.CallToolResult:
    text = _sendable(f"error: {message}" + (f"\nhint: {hint}" if hint else ""))
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=text)], is_error=True)


def _sendable(text: str) -> str:
    """Replaces halves of surrogate pairs, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
