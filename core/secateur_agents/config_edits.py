"""Adds entries to configuration files of coding agents, examines them, and removes them again. The text around
an entry stays.

    entry = JsonServer("mcpServers", {"command": "secateur", "args": ["mcp"]})
    new = entry.add(text)                        # None: there is no file
    remove_entry(entry, new) == text             # None: the file held nothing else

`add` leaves a text that has an entry of this name as it is. `without` yields texts that may have been before, the most
careful last, and nothing if the entry has another value. Removing takes the text to which adding gives the present one,
so files come back byte for byte; if a file changed since, only the entry goes. Both raise `UnreadableConfigError`.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli
import tomlkit
import tree_sitter_javascript
from secateur import count_tokens
from tree_sitter import Language, Node, Parser

NAME = "secateur"
"""The name of the entry."""

BEGIN, END = "<!-- secateur: begin -->", "<!-- secateur: end -->"
"""The lines around the text in an agent's instructions."""

_VALUES = frozenset(("object", "array", "string", "number", "true", "false", "null"))
_OTHERS = frozenset(("pair", "string_fragment", "escape_sequence", "unary_expression", "comment"))
_AROUND = frozenset(("program", "expression_statement", "parenthesized_expression"))


class UnreadableConfigError(ValueError):
    """A configuration that cannot be read; the message begins with the line and column."""


@dataclass(frozen=True, slots=True)
class JsonServer:
    """An MCP server in JSON, which may have comments and trailing commas."""

    key: str  # of the object with all servers
    value: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the entry for people."""
        return "server"

    def add(self, text: str | None) -> str:
        """Spaces inside the braces of the servers tell an object that this adds from an empty one that was there."""
        server = f"{json.dumps(NAME)}: {json.dumps(self.value)}"
        servers = f"{json.dumps(self.key)}: {{ {server} }}"
        if text is None:
            return f"{{\n  {servers}\n}}\n"
        data = text.encode()
        root = _root_object(data)
        pair = _find_pair(data, root, self.key)
        if pair is None:
            return _insert(data, root, servers)
        return text if _find_pair(data, _value_of(pair), NAME) is not None else _insert(data, _value_of(pair), server)

    def without(self, text: str) -> Iterator[str | None]:
        """See the module docstring."""
        data = text.encode()
        root = _root_object(data)
        servers = _find_pair(data, root, self.key)
        server = _find_pair(data, _value_of(servers), NAME) if servers is not None else None
        if servers is None or server is None or _load(data, server.child_by_field_name("value")) != self.value:
            return
        yield None
        yield _cut(data, root, servers)
        yield _cut(data, _value_of(servers), server)


@dataclass(frozen=True, slots=True)
class JsonHook:
    """A hook in JSON, in the list of its event."""

    event: str
    value: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the entry for people."""
        return f"hook {self.event}"

    def add(self, text: str | None) -> str:
        """Spaces inside brackets tell lists and objects that this adds from empty ones that were there."""
        hook = json.dumps(self.value)
        hooks = f"{json.dumps(self.event)}: [ {hook} ]"
        events = f'"hooks": {{ {hooks} }}'
        if text is None:
            return f"{{\n  {events}\n}}\n"
        data = text.encode()
        root = _root_object(data)
        pairs = self._pairs(data, root)
        if not pairs:
            return _insert(data, root, events)
        if len(pairs) == 1:
            return _insert(data, _value_of(pairs[0]), hooks)
        known = (_load(data, node) for node in _value_of(pairs[1], "array").children)
        return text if any(map(self._is_same, known)) else _insert(data, _value_of(pairs[1], "array"), hook)

    def without(self, text: str) -> Iterator[str | None]:
        """See the module docstring."""
        data = text.encode()
        root = _root_object(data)
        pairs = self._pairs(data, root)
        nodes = _value_of(pairs[1], "array").children if len(pairs) > 1 else []
        node = next((node for node in nodes if _load(data, node) == self.value), None)
        if node is None:
            return
        yield None
        yield _cut(data, root, pairs[0])
        yield _cut(data, _value_of(pairs[0]), pairs[1])
        yield _cut(data, _value_of(pairs[1], "array"), node)

    def _pairs(self, data: bytes, root: Node) -> list[Node]:
        """Returns the members that lead to the list of the event, as far as they are there."""
        events = _find_pair(data, root, "hooks")
        hooks = _find_pair(data, _value_of(events), self.event) if events is not None else None
        return [pair for pair in (events, hooks) if pair is not None]

    def _is_same(self, known: Any) -> bool:
        """Tells whether a hook calls what this one calls, also with other values of the user's."""
        try:
            (own,), called = self.value["hooks"], known["hooks"]
            keys = own.keys() & {"server", "tool", "command"}
            return any(all(one.get(key) == own[key] for key in keys) for one in called)
        except (TypeError, KeyError, AttributeError):
            return False


def _root_object(data: bytes) -> Node:
    """Parses JSON as a JavaScript expression, whose offsets are one too large."""
    stack = [Parser(Language(tree_sitter_javascript.language())).parse(b"(" + data + b"\n)").root_node]
    root = None
    while stack:
        node = stack.pop()
        quoted = node.type != "string" or node.children[0].type == '"'
        if (
            node.is_error
            or node.is_missing
            or not quoted
            or (node.is_named and node.type not in _VALUES | _OTHERS | _AROUND)
        ):
            raise _unreadable(node, "it is not valid JSON")
        if root is None and node.type in _VALUES:
            root = node
        stack += reversed(node.children)
    if root is None or root.type != "object":
        raise UnreadableConfigError("1:1: it is not a JSON object")
    return root


def _unreadable(node: Node, why: str) -> UnreadableConfigError:
    row, column = node.start_point
    return UnreadableConfigError(f"{row + 1}:{column + 1 if row else max(1, column)}: {why}")


def _load(data: bytes, node: Node | None) -> Any:
    """Reads the value of a node; None if it holds comments."""
    assert node is not None
    try:
        return json.loads(data[node.start_byte - 1 : node.end_byte - 1])
    except (ValueError, RecursionError):
        return None


def _find_pair(data: bytes, node: Node, name: str) -> Node | None:
    """Returns the last member of this name, which is the one that counts."""
    pairs = [child for child in node.children if child.type == "pair"]
    return next((pair for pair in reversed(pairs) if _load(data, pair.child_by_field_name("key")) == name), None)


def _value_of(pair: Node, kind: str = "object") -> Node:
    value = pair.child_by_field_name("value")
    if value is None or value.type != kind:
        raise _unreadable(pair, f"its value is not a JSON {kind}")
    return value


def _insert(data: bytes, node: Node, member: str) -> str:
    """Adds a member at the end of an object or a list, after a comment on the line of the last member."""
    children = node.children
    pairs = [index for index, child in enumerate(children) if child.type == "pair" or child.type in _VALUES]
    if not pairs:
        at = node.start_byte  # behind the bracket: offsets are one too large
        return (data[:at] + member.encode() + data[at:]).decode()
    last, rest = children[pairs[-1]], children[pairs[-1] + 1 : -1]
    comma = next((child for child in rest if child.type == ","), None)
    beside = [child for child in rest if child.start_point[0] == last.end_point[0]]
    at = max(child.end_byte for child in (last, *beside, *([comma] if comma else []))) - 1
    indent = re.search(rb"\r?\n[ \t]*\Z", data[: last.start_byte - 1])
    gap = indent[0] if indent else b"\n" if any(child.type == "comment" for child in beside) else b" "
    end = last.end_byte - 1
    if comma is not None:
        return (data[:at] + gap + member.encode() + b"," + data[at:]).decode()
    return (data[:end] + b"," + data[end:at] + gap + member.encode() + data[at:]).decode()


def _cut(data: bytes, node: Node, pair: Node) -> str:
    """Removes a member of an object or a list, and one comma beside it."""
    children = node.children
    index = children.index(pair)
    start, end = children[index - 1].end_byte - 1, pair.end_byte - 1
    if children[index + 1].type == ",":
        return (data[:start] + data[children[index + 1].end_byte - 1 :]).decode()
    before = next(child for child in reversed(children[:index]) if child.type != "comment")
    if before.type == ",":
        return (data[: before.start_byte - 1] + data[before.end_byte - 1 : start] + data[end:]).decode()
    return (data[:start] + data[end:]).decode()


@dataclass(frozen=True, slots=True)
class TomlServer:
    """An MCP server in TOML: a table at the end of the file."""

    key: str  # of the table with all servers
    value: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the entry for people."""
        return "server"

    @property
    def _block(self) -> str:
        lines = [f"[{self.key}.{NAME}]", *(f"{key} = {json.dumps(value)}" for key, value in self.value.items())]
        return "\n".join(lines)

    def add(self, text: str | None) -> str:
        """See the module docstring."""
        if NAME in self._servers(text or ""):
            return text or ""
        new = _append(text, self._block)
        try:
            self._servers(new)
        except UnreadableConfigError as error:
            raise UnreadableConfigError(f"1:1: a table [{self.key}.{NAME}] cannot be added to it: {error}") from error
        return new

    def without(self, text: str) -> Iterator[str | None]:
        """See the module docstring."""
        if self._servers(text).get(NAME) != self.value:
            return
        document: Any = tomlkit.parse(text)
        del document[self.key][NAME]
        yield from _without_block(text, re.escape(self._block)) or [tomlkit.dumps(document)]

    def _servers(self, text: str) -> Mapping[str, Any]:
        try:
            servers = tomli.loads(text).get(self.key, {})
        except tomli.TOMLDecodeError as error:
            raise UnreadableConfigError(f"{error.lineno}:{error.colno}: it is not valid TOML: {error.msg}") from error
        if not isinstance(servers, dict):
            raise UnreadableConfigError(f"1:1: {self.key} is not a table")
        return servers


@dataclass(frozen=True, slots=True)
class InstructionLines:
    """Lines in the instructions that an agent reads, between two marks."""

    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the entry for people."""
        return "instructions"

    def add(self, text: str | None) -> str:
        """See the module docstring."""
        block = "\n".join((BEGIN, *self.lines, END))
        return text if text is not None and BEGIN in text else _append(text, block)

    def without(self, text: str) -> Iterator[str | None]:
        """See the module docstring."""
        yield from _without_block(text, re.escape(BEGIN) + "(?s:.*?)" + re.escape(END))


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that holds nothing else, such as a plugin. Another file of this name is the user's."""

    name: str  # for people
    text: str

    def add(self, text: str | None) -> str:
        """See the module docstring."""
        return self.text if text is None else text

    def without(self, text: str) -> Iterator[str | None]:
        """See the module docstring."""
        if text == self.text:
            yield None


def _append(text: str | None, block: str) -> str:
    """Adds a block below an empty line. The last line of the text decides whether a line end follows the block."""
    end = "\r\n" if text and "\r\n" in text else "\n"
    block = block.replace("\n", end)
    if not text:
        return block if text is not None else block + end
    return text + end + block + end if text.endswith("\n") else text + end + end + block


def _without_block(text: str, pattern: str) -> list[str | None]:
    """Returns the texts that may have been before a block was added; none if it is not there."""
    found = re.search(pattern.replace("\\\n", "\r?\n"), text)
    if found is None:
        return []
    before, after = text[: found.start()], text[found.end() :]
    ends = ("\n", "\r\n") if "\r\n" in text else ("\r\n", "\n")
    above = [before.removesuffix(end + end) + after for end in ends]
    return [None, *above, *(before.removesuffix(end) + after.removeprefix(end) for end in ends)]


ConfigEntry = JsonServer | JsonHook | TomlServer | InstructionLines | OwnFile


def remove_entry(entry: ConfigEntry, text: str | None) -> str | None:
    """Returns the text without the entry; None: there is no file, or it held nothing else."""
    candidates = list(entry.without(text)) if text is not None else []
    left = candidates[-1] if candidates else text
    return next((candidate for candidate in candidates if entry.add(candidate) == text), left)


ANSWER_SECONDS = 20.0
"""Most time for a server to start and to list its tools."""


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The answer of a server, or the reason why there is none."""

    seconds: float = 0.0
    tools: int = 0
    tokens: int = 0  # of the descriptions of the tools, in every request of the agent
    error: str = ""


def entry_status(entry: ConfigEntry, text: str | None) -> str:
    """Returns `registered`, `your own` for an entry that differs from ours, `missing` or why the text is not read."""
    try:
        if entry.add(text) != text:
            return "missing"
        return "registered" if remove_entry(entry, text) != text else "your own"
    except UnreadableConfigError as error:
        return f"not readable, {error}"


def examine_server(command: str, args: list[str], environ: Mapping[str, str] = os.environ) -> ServerHealth:
    """Starts a server as an agent does, and lists its tools."""
    try:
        import anyio
        import mcp
        from mcp import StdioServerParameters, stdio_client
    except ImportError:
        return ServerHealth(error="the extra mcp is missing: pip install 'secateur[mcp]'")

    async def listed() -> list[Any]:
        server = StdioServerParameters(command=command, args=args, env=dict(environ))
        with anyio.fail_after(ANSWER_SECONDS), Path(os.devnull).open("w") as errors:
            async with mcp.Client(stdio_client(server, errors)) as client:
                return list((await client.list_tools()).tools)

    begun = time.monotonic()
    try:
        tools = anyio.run(listed)
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        reason = f"none within {ANSWER_SECONDS:g} s" if isinstance(error, TimeoutError) else str(error)
        return ServerHealth(error=reason or type(error).__name__)
    described = [json.dumps([tool.name, tool.description, tool.input_schema]) for tool in tools]
    return ServerHealth(time.monotonic() - begun, len(tools), sum(map(count_tokens, described)))
