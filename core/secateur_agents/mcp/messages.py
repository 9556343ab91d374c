"""Parses messages and builds error responses for invalid ones. As in JSON-RPC, every request gets a response;
notifications and responses get none."""

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

ID_SEARCH_BYTES = 1 << 16
"""Bytes at the start and end of invalid JSON in which the id of the request is searched."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BATCH = "batches are not supported: send each request separately"

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_ID = r'(-?\d{1,15}(?![\d.eE])|"(?:[^"\\]|\\.){0,200}+")'
_VALUE_OF_ID = re.compile(rf"\s*:\s*{_ID}?")
"""The value of a key, and the id in it if it can be answered."""
_LAST_ID = re.compile(rf'"id"\s*:\s*{_ID}\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}}\s*\Z')


def read_message(data: bytes) -> JSONRPCMessage | Iterator[dict[str, Any]]:
    """Parses a message, or returns its errors: one for each request of a batch, none for an invalid notification."""
    try:
        parsed = pydantic_core.from_json(data)
    except ValueError as error:
        start, end = data[:ID_SEARCH_BYTES], data[ID_SEARCH_BYTES:][-ID_SEARCH_BYTES:]
        return errors_for_unparsed(start, end, PARSE_ERROR, f"the message cannot be read as JSON: {error}")
    if isinstance(parsed, list):
        return _errors(filter(_is_object, parsed), INVALID_REQUEST, _BATCH)
    if not _is_object(parsed):
        return _errors([], INVALID_REQUEST, "the message is not an object")
    try:
        valid = jsonrpc_message_adapter.validate_python(parsed, by_name=False)
    except ValidationError:
        valid = None
    if valid is not None and not (isinstance(valid, JSONRPCNotification) and "id" in parsed):
        return valid
    if "id" not in parsed and isinstance(parsed.get("method"), str):
        return iter(())
    return _errors([parsed], INVALID_REQUEST, _fault_of(parsed))


def errors_for_unparsed(start: bytes, end: bytes, code: int, message: str) -> Iterator[dict[str, Any]]:
    """Returns the errors for invalid or incomplete JSON. `end`: the last bytes after `start`, if there are any."""
    requests = _requests_in(start.decode("utf-8", "replace"))
    last = _LAST_ID.search(end.decode("utf-8", "replace"))
    if last is not None and len(requests) == 1:
        requests = [{"id": _load_json(last[1])} | requests[0]]
    return _errors(requests, code, message)


def _errors(requests: Iterable[Mapping[str, Any]], code: int, message: str) -> Iterator[dict[str, Any]]:
    """Yields an error for each request, or one without an id if there is no request."""
    asking = (request for request in requests if "method" in request or not request.keys() & {"result", "error"})
    ids = [request["id"] for request in asking if "id" in request]
    return (_error(request_id, code, message) for request_id in ids or [None])


def _error(request_id: Any, code: int, message: str) -> dict[str, Any]:
    """Returns an error with the id of its request, if JSON-RPC allows the type of that id."""
    is_id = (isinstance(request_id, float) and math.isfinite(request_id)) or _is_id(request_id)
    return {"jsonrpc": "2.0", "id": request_id if is_id else None, "error": {"code": code, "message": message}}


def _is_id(request_id: Any) -> bool:
    return isinstance(request_id, str | int) and not isinstance(request_id, bool)


def _fault_of(parsed: Mapping[str, Any]) -> str:
    if parsed.get("jsonrpc") != "2.0":
        return 'jsonrpc is not "2.0"'
    if not isinstance(parsed.get("method"), str):
        return "method is missing or not a string"
    if not _is_id(parsed.get("id")):
        return "id is not a string or a whole number"
    return "params is not an object"


def _is_object(parsed: Any) -> bool:
    return isinstance(parsed, dict)


def _requests_in(text: str) -> list[dict[str, Any]]:
    """Lists the top-level keys of the object that a possibly truncated JSON text begins with, or of each object of a
    list. A valid `id` keeps its value, an invalid one is left out; other values are None."""
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
