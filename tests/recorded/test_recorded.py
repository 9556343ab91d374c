"""What the recorded commands print on the sample repositories is what was recorded, byte for byte; what they print as
JSON is what its schema says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from recorded import corpus
from support.json_shapes import violations

SAMPLES = [command for command in corpus.commands() if not command.public]
RECORDED = corpus.digests(public=False)
OTHER_RELEASES = corpus.versions() != RECORDED["versions"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every input, gone to, and a cache of its own."""
    folder = tmp_path_factory.mktemp("recorded").resolve() / "base"
    corpus.prepare(folder, None)
    with corpus.environment(folder), chdir(folder / "work"):
        yield folder


def _parameter(command: corpus.Command) -> Any:
    """In the default run, commands on one sample stand for the same on the others, and proofs of files and diffs for
    those that take seconds."""
    proves = "--explain" in command.line and command.words[0][0] not in ("files", "chunk")
    costly = proves or "sample:boards" in command.line or "sample:courier" in command.line
    return pytest.param(command, id=command.line, marks=pytest.mark.slow if costly else ())


@pytest.mark.parametrize("command", [_parameter(command) for command in SAMPLES])
def test_prints_what_was_recorded(base: Path, command: corpus.Command) -> None:
    output = corpus.run(base, command)
    if command.prints_json and output.out:
        assert violations(command.words[0][0], json.loads(output.out)) == []
    if OTHER_RELEASES:
        pytest.skip("recorded with other releases of the packages that shape answers")
    said = "python tests/recorded/corpus.py compare HEAD --only PATTERN shows what changed; `update` records it anew"
    assert output.digest == RECORDED["commands"].get(command.line), f"{said}\n{output.text[:2000]}"


def test_every_recorded_command_is_still_there() -> None:
    assert set(RECORDED["commands"]) == {command.line for command in SAMPLES}
