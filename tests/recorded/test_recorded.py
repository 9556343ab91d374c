"""What the recorded commands print on the sample repositories is what was recorded, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from recorded import corpus

SAMPLES = [command for command in corpus.commands() if not command.public]
RECORDED = corpus.digests(public=False)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every input, gone to, and a cache of its own."""
    folder = tmp_path_factory.mktemp("recorded").resolve() / "base"
    corpus.prepare(folder, None)
    with corpus.environment(folder), chdir(folder / "work"):
        yield folder


@pytest.mark.skipif(
    corpus.versions() != RECORDED["versions"], reason="recorded with other releases of the packages that shape answers"
)
@pytest.mark.parametrize("command", SAMPLES, ids=lambda command: command.line)
def test_prints_what_was_recorded(base: Path, command: corpus.Command) -> None:
    output = corpus.run(base, command)
    said = "python tests/recorded/corpus.py compare HEAD --only PATTERN shows what changed; `update` records it anew"
    assert output.digest == RECORDED["commands"].get(command.line), f"{said}\n{output.text[:2000]}"


def test_every_recorded_command_is_still_there() -> None:
    assert set(RECORDED["commands"]) == {command.line for command in SAMPLES}
