"""Half a character (a lone surrogate), which JSON can spell and UTF-8 cannot: it is kept, counted or replaced, and
stops nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from secateur import ConversationPruner, Engine, PruneContext, Settings, SourceCode, chunk_diff, count_tokens
from secateur.index.facts.extract import decode, encode, extract
from secateur.kinds.command_line import quote_word
from secateur.settings import Embedding, Tokens
from secateur.tokens import COUNTERS, get_counter
from support.cli import secateur
from support.engine_answers import answered
from support.memory_source import MemorySource

HALF = "x \ud800 y \udcff z \udfff"
"""The first half of a pair, a byte that was not UTF-8, the last half of a pair."""

MESSAGES = [{"role": role, "content": f"{HALF} {number}"} for number in range(8) for role in ("user", "assistant")]
SESSION = [
    {
        "type": message["role"],
        "uuid": str(n),
        "parentUuid": str(n - 1) if n else None,
        "sessionId": "s",
        "message": message,
    }
    for n, message in enumerate(MESSAGES)
]
LINES = "\n".join(json.dumps(line) for line in SESSION)
SHAPES = {"list": json.dumps(MESSAGES), "body": json.dumps({"model": "m", "messages": MESSAGES}), "session": LINES}
DIFF = f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+{HALF}\n"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_transcript_is_written_back_with_it(tmp_path: Path, shape: str) -> None:
    (tmp_path / "in").write_text(SHAPES[shape])
    done = secateur(
        "conversation", tmp_path / "in", "--strategy", "truncate", "--safe-zone", 60, "--out", tmp_path / "out"
    )
    assert done.code == 0, done.err
    written = (tmp_path / "out").read_text("utf-8")
    assert f"{HALF} 7" in json.dumps(
        json.loads(written.splitlines()[-1] if shape == "session" else written), ensure_ascii=False
    )
    assert len(written) < len(SHAPES[shape])


@pytest.mark.parametrize("format", ["text", "json", "markdown", "xml"])
def test_an_index_in_memory_takes_it_in_contents_and_in_names(tmp_path: Path, format: str) -> None:
    files = {
        "a.py": f"def total():\n    return '{HALF}'\n",
        "b\ud800.py": "def bar():\n    total()\n",
        "c\udcff.py": f"def {HALF}(): pass\n",
    }
    settings = Settings(tokens=Tokens("chars4"), embedding=Embedding("none"))
    with Engine.of(MemorySource(files), settings, cache_dir=tmp_path, config_dir=tmp_path) as engine:
        text = answered(engine, f"total {HALF}", format, use_cache=False).text
    assert "total" in text
    text.encode()  # what is printed is UTF-8


EVERYWHERE: dict[str, Callable[[], object]] = {
    "record": lambda: decode(
        encode(extract("b\ud800.py", HALF.encode("utf-8", "surrogatepass"), get_counter("chars4"), None))
    ),
    "files": lambda: PruneContext(60, query=HALF).handle_overflow(
        [SourceCode("a\ud800.py", f"x = '{HALF}'\n" * 9)] * 2, [], "extract"
    ),
    "conversation": lambda: ConversationPruner().prune_conversations(MESSAGES, "hybrid"),
    "chunks": lambda: chunk_diff(DIFF, rules=HALF, skill=HALF, linter=f"a.py:1:1: {HALF}"),
    "shell": lambda: quote_word(HALF).encode(),
    **{f"tokens {name}": lambda name=name: count_tokens(HALF, name) for name in COUNTERS},  # type: ignore[misc]
}


@pytest.mark.parametrize("place", EVERYWHERE)
def test_it_stops_nothing(place: str) -> None:
    assert EVERYWHERE[place]() is not None
