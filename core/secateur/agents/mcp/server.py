"""The tools behind the protocol: what a client is told of them, and what becomes of its calls."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import msgspec
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    ListToolsResult,
    NotificationParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from secateur.agents.mcp.accounts import text_of
from secateur.agents.mcp.calls import CallQueue
from secateur.agents.mcp.roots import RootFolder, Roots, folder_of_uri, named_roots
from secateur.agents.mcp.shapes import (
    ExpandCall,
    ExpandedSymbol,
    ExplainCall,
    ExplainedItem,
    PruneCall,
    PrunedAnswer,
    ReviewCall,
    SearchCall,
    ToolAnswer,
    ToolCall,
    convert,
    schema_of,
)
from secateur.agents.mcp.tools import Toolbox
from secateur.errors import SecateurError
from secateur.progress import Progress
from secateur.recognised import own_run
from secateur.redaction import outgoing, recognise_typed
from secateur.version import __version__

ROOTS_SECONDS = 5.0
"""Time in which a client has to say what its roots are."""

INSTRUCTIONS = (
    "Finds and prunes what is worth reading, within a budget of tokens, and says why each item was kept or left out. "
    "Use search before reading files, expand to follow calls, prune for long output, review for a pull request, "
    "explain for what was left out. All of it is read only."
)

_ASKED = "roots"
_logger = logging.getLogger(__name__)


class _ToolFunction(Protocol):
    def __call__(self, call: Any, roots: Roots, progress: Progress) -> ToolAnswer: ...


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool as clients know it."""

    name: str
    about: str
    call: type[ToolCall]
    answer: type[ToolAnswer]

    def listed(self) -> Tool:
        """Its entry in `tools/list`."""
        return Tool(
            name=self.name,
            description=self.about,
            input_schema=schema_of(self.call),
            output_schema=schema_of(self.answer),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        )


TOOLS = (
    ToolEntry(
        "search",
        "Find the code and text of a repository that answer a question, within a token budget. Says of each item why "
        "it was kept, and what was left out.",
        SearchCall,
        PrunedAnswer,
    ),
    ToolEntry(
        "expand",
        "The source of one symbol, who calls it and what it calls, with file:line and how certain each call is.",
        ExpandCall,
        ExpandedSymbol,
    ),
    ToolEntry(
        "prune",
        "Shorten a log, a diff, a transcript or files to what a request needs, within a token budget. Lines are "
        "verbatim.",
        PruneCall,
        PrunedAnswer,
    ),
    ToolEntry(
        "explain",
        "Why an item of a result was kept or left out, and which budget or setting turns that, proven by deciding "
        "again.",
        ExplainCall,
        ExplainedItem,
    ),
    ToolEntry(
        "review",
        "The changes between two revisions in chunks, one a page, with every changed file accounted for.",
        ReviewCall,
        PrunedAnswer,
    ),
)


@dataclass
class AgentServer:
    """The handlers of the protocol.

    Attributes:
        folders: what may be read.
        asks: the client says what may be read, and `folders` counts where it has no roots. Only for a single client.
        known: the roots of the client, until they change; None: it was not asked yet.
    """

    toolbox: Toolbox
    folders: Sequence[RootFolder]
    calls: CallQueue
    asks: bool = False
    known: Sequence[RootFolder] | None = None

    async def list_tools(self, _context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool.listed() for tool in TOOLS])

    async def call_tool(self, context: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        """One call. What is wrong with it, or with what it reads, is a result that says what to do."""
        tool = next((one for one in TOOLS if one.name == params.name), None)
        if tool is None:
            names = ", ".join(one.name for one in TOOLS)
            raise MCPError(code=INVALID_PARAMS, message=f"there is no tool {params.name[:100]!r}; tools: {names}")
        try:
            folders = await self._folders(context, params)
        except (MCPError, ValueError):
            return _failed("the client does not say what its roots are", "start `secateur mcp PATH` with folders")
        if folders is None:
            return InputRequiredResult(input_requests={_ASKED: ListRootsRequest()})
        roots = Roots(folders, self.toolbox.cache)
        try:
            call = convert(params.arguments or {}, tool.call)
            run: _ToolFunction = getattr(self.toolbox, tool.name)
            text, structured = await self.calls.run(
                partial(_run, run, call, roots), _turn_of(call, roots), _report(context)
            )
        except SecateurError as error:
            return _failed(roots.hidden(error.message), roots.hidden(error.hint))
        except Exception as error:
            _logger.exception("the tool %s failed", tool.name)
            return _failed(f"unexpected {type(error).__name__} in {tool.name}", "call again; if it stays, report it")
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(structured))

    async def roots_changed(self, _context: Any, _params: Any) -> None:
        """The client has other roots from now on."""
        self.known = None

    async def _folders(self, context: Any, params: CallToolRequestParams) -> Sequence[RootFolder] | None:
        """The folders that a call may read; None where the client has to be asked first."""
        capabilities = context.session.client_capabilities
        if not self.asks or capabilities is None or capabilities.roots is None:
            return self.folders
        if self.known is None:
            answered = (params.input_responses or {}).get(_ASKED)
            if isinstance(answered, ListRootsResult):
                listed = answered
            elif context.session.can_send_request:
                listed = await context.session.send_request(
                    ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=ROOTS_SECONDS
                )
            else:
                return None
            folders = (folder_of_uri(str(root.uri)) for root in listed.roots)
            self.known = named_roots(folder for folder in folders if folder is not None)
        return self.known


def mcp_server(toolbox: Toolbox, folders: Sequence[RootFolder], *, asks: bool = False) -> Server[dict[str, Any]]:
    """A server of the protocol, for one client over stdio or many over HTTP.

    Args:
        folders: what may be read. asks: instead the roots of the client, where it has any; see `AgentServer`.
    """
    agent = AgentServer(toolbox, folders, CallQueue(), asks)

    @asynccontextmanager
    async def lifespan(_server: Server[dict[str, Any]]) -> Any:
        try:
            yield {}
        finally:
            toolbox.close()

    server: Server[dict[str, Any]] = Server(
        "secateur",
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=agent.list_tools,
        on_call_tool=agent.call_tool,
    )
    server.add_notification_handler("notifications/roots/list_changed", NotificationParams, agent.roots_changed)
    return server


_TYPED = 4_096
"""Characters up to which an argument is a name or a question, which an error may repeat; a longer one is a content."""


def _run(run: _ToolFunction, call: ToolCall, roots: Roots, progress: Progress) -> tuple[str, str]:
    """The answer as text and as JSON. No credential that the call recognised is in it, and no call knows of another's.

    Raises:
        SecateurError: as the tool; its texts hold no credential either.
    """
    given = (value if isinstance(value, list) else [value] for value in msgspec.to_builtins(call).values())
    typed = "\n".join(text for texts in given for text in texts if isinstance(text, str) and len(text) <= _TYPED)
    with own_run():
        recognise_typed(typed)
        try:
            answer = run(call, roots, progress)
        except SecateurError as error:
            error.message, error.hint = outgoing(error.message), outgoing(error.hint)
            raise
        texts = text_of(answer), json.dumps(msgspec.to_builtins(answer), ensure_ascii=False)
        return _sendable(outgoing(texts[0])), _sendable(outgoing(texts[1]))


def _turn_of(call: ToolCall, roots: Roots) -> str:
    """The root that a call reads, which one call at a time uses. Calls that name none wait for those of the first."""
    path = getattr(call, "path", "")
    for root in roots.folders:
        if path and (path == root.name or path.startswith((f"{root.name}/", f"{root.folder}"))):
            return str(root.folder)
    return str(roots.folders[0].folder) if roots.folders else ""


def _report(context: Any) -> Callable[[float, str], Any]:
    async def report(progress: float, words: str) -> None:
        await context.session.report_progress(progress, None, words)

    return report


def _failed(message: str, hint: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=_sendable(f"error: {message}" + (f"\nhint: {hint}" if hint else "")))],
        is_error=True,
    )


def _sendable(text: str) -> str:
    """The text without halves of surrogate pairs, which no UTF-8 has."""
    return text.encode("utf-8", "replace").decode("utf-8")
