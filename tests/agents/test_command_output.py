"""The output of a command that runs: what passes depends on its bytes alone, stays within the limit, and holds no
credential."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import Settings, count_tokens
from secateur_agents import Store, command_output
from secateur_agents.command_output import PASSED_PART, RunningOutput
from support.credential_texts import BASE64, ESCAPED, drawn, key_texts

LINES = st.sampled_from(
    (
        b"ready on http://localhost:3000",
        b"ERROR [db] connection refused\n    at connect (db.js:14)",
        b"password: |\n  " + b"Kz7qLm2xWv9RtB4n",
        b"export API_TOKEN=Kz7qLm2x\\\nWv9RtB4n",
        b"\xff\xfe\x00 not a text",
        b"",
        b"downloading\r 10 %\r 20 %",
        "\n".join(key_texts(Random(1))[0][1].splitlines()).encode(),
        b"x" * 300,
    )
)
OUTPUTS = st.builds(
    lambda lines, last: b"".join(line + b"\n" for line in lines) + last, st.lists(LINES, max_size=40), LINES
)


def printed(data: bytes, cuts: list[int], most: int, folder: Path) -> tuple[bytes, bytes]:
    """What passes of an output that comes in pieces, and what is printed of it at the end."""
    output = RunningOutput(Settings(), most)
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    passed = b"".join(output.take(data[start:end]) for start, end in pairwise(places))
    pruned = output.prune("", Store.at(folder))
    return passed, pruned.text.encode() if pruned else b"".join(output.rest())


@settings(max_examples=12)
@given(OUTPUTS, st.lists(st.integers(0, 10_000), max_size=12), st.sampled_from((0, 100, 400, 4_000)))
def test_it_depends_on_the_bytes_alone_stays_within_the_limit_and_holds_no_credential(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int], most: int
) -> None:
    folder = tmp_path_factory.mktemp("originals")
    passed, rest = printed(data, cuts, most, folder)
    assert printed(data, [], most, folder) == (passed, rest)
    text = (passed + rest).decode("utf-8", "replace")
    assert count_tokens(passed.decode("utf-8", "replace")) <= most // PASSED_PART
    assert count_tokens(text) <= max(most, 40)
    assert not [part for part in ("Kz7qLm2xWv9RtB4n", "Kz7qLm2x", "Wv9RtB4n") if part in text]


@pytest.mark.parametrize(("kind", "text", "key"), key_texts(Random(7)))
def test_no_line_of_a_private_key_passes(kind: str, text: str, key: list[str]) -> None:
    output = RunningOutput(Settings(), 1_000_000)
    passed = b"".join(output.take(line) for line in text.encode().splitlines(keepends=True))
    for part in (passed, passed + b"".join(output.rest())):
        assert not [line for line in key if len(line) > 16 and line in part.decode()], kind


@pytest.mark.parametrize("name", sorted(ESCAPED.keys() - {"joined over lines"}))  # no sign of it on the first line
def test_no_value_behind_escapes_passes(name: str) -> None:
    value = drawn(Random(name), 24, BASE64[:62])
    output = RunningOutput(Settings(), 1_000_000)
    text = (output.take(ESCAPED[name](value).encode() + b"\nend\n") + b"".join(output.rest())).decode()
    assert text.endswith("end\n")
    assert not [value[at : at + 8] for at in range(len(value) - 7) if value[at : at + 8] in text]


def test_a_line_that_looks_like_a_key_passes_with_the_next_one() -> None:
    digest = b"sha256:" + b"0123456789abcdef" * 4 + b"\n"
    output = RunningOutput(Settings(), 1_000)
    assert [output.take(line) for line in (digest, b"done\n", b"-----BEGIN PRIVATE KEY----- is missing\n")] == [
        b"",
        digest + b"done\n",
        b"",
    ]
    assert output.take(b"a\nb\nc\nd\n") == b""
    assert output.take(b"e\n") == b"-----BEGIN PRIVATE KEY----- is missing\na\nb\nc\nd\ne\n"


def test_what_passed_is_not_printed_again_and_the_error_at_the_end_is_there(tmp_path: Path) -> None:
    lines = [f"{n} {'abcdef'[n % 6] * (n % 30)} of the build" for n in range(900)]
    data = "\n".join([*lines, "Error: no such file: foo.py", ""]).encode()
    passed, rest = printed(data, [5_000], 1_000, tmp_path)
    assert 200 < count_tokens(passed.decode()) <= 250 and data.startswith(passed)
    assert b"Error: no such file: foo.py\n" in rest and not set(passed.splitlines()) & set(rest.splitlines())
    assert Store.at(tmp_path).recall(rest.decode().split("recall ")[1][:12]).encode() == data


def test_output_that_is_too_long_to_prune_passes_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_output, "MOST_BYTES", 100_000)
    secret = b"password: hunter7Kz7qLm2x\n"
    line = b"one line\n"
    data = (line * 3_000 + secret) * 10
    output = RunningOutput(Settings(), 100)
    parts = [output.take(data[start : start + 7_001]) for start in range(0, len(data), 7_001)]
    text = b"".join([*parts, *output.rest()])
    assert text == data.replace(b"hunter7Kz7qLm2x", b"[redacted: password #1]") and len(parts[-1]) > 0
    assert not output.prunable and b"".join(output.rest()) == b""
