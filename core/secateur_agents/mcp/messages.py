"""Reads messages, and makes the errors that answer invalid ones. Every request is answered; notifications and answers
never are, as in JSON-RPC."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pydantic_core
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCMessage, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

MOST_BYTES = 4 << 20
"""Most bytes of a message. A longer one is answered with an error and not parsed."""

ENDS = 1 << 16
"""Bytes at the start and end of invalid JSON in which the id of the request is searched."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BATCH = "batches are not served: send each request by itself"

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_ID = r'(-?\d{1,15}(?![\d.eE])|"(?:[^"\\]|\\.){0,200}+")'
_VALUE_OF_ID = re.compile(rf"\s*:\s*{_ID}?")
"""The value of a key, and the id in it if it can be answered."""
_LAST_ID = re.compile(rf'"id"\s*:\s*{_ID}\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}}\s*\Z')


def read_message(data: bytes) -> JSONRPCMessage | Iterator[dict[str, Any]]:
    """Parses a message, or returns the errors that answer it: one for each request of a batch, none for messages that
    are never answered."""
    try:
        read = pydantic_core.from_json(data)
    except ValueError as error:
        message = f"the message cannot be read as JSON: {error}"
        return errors_of_broken(data[:ENDS], data[ENDS:][-ENDS:], PARSE_ERROR, message)
    if isinstance(read, list):
        return _errors(filter(_is_object, read), INVALID_REQUEST, _BATCH)
    if not _is_object(read):
        return _errors([], INVALID_REQUEST, "the message is not an object")
    try:
        valid = jsonrpc_message_adapter.validate_python(read, by_name=False)
    except ValidationError:
        valid = None
    if valid is not None and not (isinstance(valid, JSONRPCNotification) and "id" in read):
        return valid
    if "id" not in read and isinstance(read.get("method"), str):
        return iter(())
    return _errors([read], INVALID_REQUEST, _fault_of(read))


def errors_of_broken(start: bytes, end: bytes, code: int, message: str) -> Iterator[dict[str, Any]]:
    """Returns the errors for invalid JSON or a message that was not read completely. `end`: its last bytes, if it is
    longer than `start`."""
    requests = _requests_in(start.decode("utf-8", "replace"))
    last = _LAST_ID.search(end.decode("utf-8", "replace"))
    if last is not None and len(requests) == 1:
        requests = [{"id": _load_json(last[1])} | requests[0]]
    return _errors(requests, code, message)


def _errors(requests: Iterable[Mapping[str, Any]], code: int, message: str) -> Iterator[dict[str, Any]]:
    """Yields an error for each request, or one without an id if there is no request."""
    ids = [it["id"] for it in requests if "id" in it and ("method" in it or not it.keys() & {"result", "error"})]
    return (_error(known, code, message) for known in ids or [None])


def _error(known: Any, code: int, message: str) -> dict[str, Any]:
    """Returns an error with the id of its request, if JSON-RPC allows the type of that id."""
    is_id = (isinstance(known, float) and math.isfinite(known)) or _is_id(known)
    return {"jsonrpc": "2.0", "id": known if is_id else None, "error": {"code": code, "message": message}}


def _is_id(known: Any) -> bool:
    return isinstance(known, str | int) and not isinstance(known, bool)


def _fault_of(read: Mapping[str, Any]) -> str:
    if read.get("jsonrpc") != "2.0":
        return 'jsonrpc is not "2.0"'
    if not isinstance(read.get("method"), str):
        return "method is missing or not a string"
    if not _is_id(read.get("id")):
        return "id is not a string or a whole number"
    return "params is not an object"


def _is_object(read: Any) -> bool:
    return isinstance(read, dict)


def _requests_in(text: str) -> list[dict[str, Any]]:
    """Returns the members of the object that a text begins with, or of the objects in a list; the value only for a
    valid id."""
    outermost = 1 if text.lstrip().startswith("[") else 0
    depth, requests = 0, list[dict[str, Any]]()
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first in "[{":
            if first == "{" and depth == outermost:
                requests.append({})
            depth += 1
        elif first in "]}":
            depth -= 1
        elif requests and depth == outermost + 1 and (value := _VALUE_OF_ID.match(text, token.end())):
            name = token[0].strip('"')
            if name != "id":
                requests[-1][name] = None
            elif value[1]:
                requests[-1]["id"] = _load_json(value[1])
    return requests


def _load_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
