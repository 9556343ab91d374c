"""What is a message, and which errors answer what is not one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import JSONRPCRequest
from secateur_agents.mcp.stdio import parse_message, refuse_unparsed

PARSE, INVALID = -32700, -32600
LONG, DIGITS = " " * (1 << 17), "9" * 100_000


def ids_and_codes(data: bytes) -> list[tuple[Any, int]]:
    """The errors for data; each can be sent as a line of JSON."""
    errors = parse_message(data)
    assert isinstance(errors, list)
    sent = [json.loads(one.model_dump_json(by_alias=True, exclude_unset=True)) for one in errors]
    return [(one["id"], one["error"]["code"]) for one in sent]


@pytest.mark.parametrize("known", [7, -1, 10**30, "seven", "", "é"])
def test_a_request_is_a_message(known: Any) -> None:
    text = json.dumps({"jsonrpc": "2.0", "id": known, "method": "ping"})
    read = parse_message(text.encode())
    assert isinstance(read, JSONRPCRequest)
    assert read.id == known


def test_the_last_of_two_equal_keys_counts() -> None:
    read = parse_message(b'{"jsonrpc":"2.0","id":6,"id":7,"method":"ping"}')
    assert isinstance(read, JSONRPCRequest)
    assert read.id == 7


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("5", [(None, INVALID)]),
        ('"ping"', [(None, INVALID)]),
        ("null", [(None, INVALID)]),
        ("{}", [(None, INVALID)]),
        ('{"jsonrpc":"2.0","id":7}', [(7, INVALID)]),
        ('{"id":7,"method":"ping"}', [(7, INVALID)]),
        ('{"jsonrpc":"2.0","id":7,"method":5}', [(7, INVALID)]),
        ('{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}', [(7, INVALID)]),
        ('{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', [(7, INVALID)]),
        ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [(None, INVALID)]),
        ('{"jsonrpc":"2.0","id":1e999,"method":"ping"}', [(None, INVALID)]),
        ('{"jsonrpc":"2.0","id":NaN,"method":"ping"}', [(None, INVALID)]),
        ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', [(None, INVALID)]),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', [(None, INVALID)]),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', [(None, INVALID)]),
        ('{"jsonrpc":"2.0","id":7,"result":5}', [(None, INVALID)]),  # 7 is a number of ours, not of the client
        ('{"jsonrpc":"2.0","method":"notifications/x","params":5}', []),
        ('{"method":"notifications/x"}', []),
        ("[]", [(None, INVALID)]),
        ("[1, 2]", [(None, INVALID)]),
        (
            '[{"id":7,"method":"a"},{"method":"b"},{"id":"8","method":"c"},{"id":9,"result":{}}]',
            [(7, INVALID), ("8", INVALID)],
        ),
        ("", [(None, PARSE)]),
        ('{"jsonrpc":"2.0","id":7,"method":"pi', [(7, PARSE)]),
        ('{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', [(None, PARSE)]),
        ('{"params":{"id":3,"x":"\\ud800"},"id":7,"method":"ping"}', [(7, PARSE)]),
        ('{"params":{"id":3,"x":"\\ud800"},"method":"ping"}', [(None, PARSE)]),
        ('{"id":7,"method":"a"}{"id":8,"method":"b"}', [(7, PARSE)]),
        ('[{"id":7,"method":"a"},{"id":8,"method":"\\ud800"}]', [(None, PARSE)]),
        ('{"id":DIGITS,"method":"a"}', [(None, PARSE)]),
        ('{"id":"\\x","method":"a"}', [(None, PARSE)]),
        ('{"method":"a","params":"LONG\\ud800","jsonrpc":"2.0","id":7}', [(7, PARSE)]),
        ('{"method":"a","params":"LONG\\ud800","id":"7","jsonrpc":"2.0"}', [("7", PARSE)]),
        ('{"method":"a","params":{"x":"LONG\\ud800","id":7}}', [(None, PARSE)]),
        ('{"result":"LONG\\ud800","id":7}', [(None, PARSE)]),
    ],
)
def test_what_is_not_a_message_is_answered_once_for_each_request(text: str, errors: list[tuple[Any, int]]) -> None:
    whole = text.replace("LONG", LONG).replace("DIGITS", DIGITS)
    assert ids_and_codes(whole.encode()) == errors


def test_bytes_that_are_not_utf_8_are_refused_with_the_id() -> None:
    assert ids_and_codes(b'{"jsonrpc":"2.0","id":7,"method":"\xe9"}') == [(7, PARSE)]
    assert ids_and_codes(b"\xff\xfe{\x00") == [(None, PARSE)]


def test_of_a_message_that_is_too_long_both_ends_tell_the_id() -> None:
    def known(start: bytes, end: bytes) -> Any:
        return refuse_unparsed(start + b"x" * (1 << 18) + end, INVALID, "too long").id

    assert known(b'{"id":7,"method":"a","params":"xx', b'xx"}') == 7
    assert known(b'{"method":"a","params":"xx', b'xx","id":3},"id":"7"}\n') == "7"
    assert known(b'{"method":"a","params":"xx', b'xx","id":3}}\n') is None
