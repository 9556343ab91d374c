"""An index that lived through any sequence of edits gives the answer of one made from nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from secateur import Engine, Settings
from secateur.settings import with_values
from support.engine_answers import answer_text
from support.memory_source import MemorySource
from support.repos import write

QUICK = with_values(Settings(), {"tokens.counter": "chars4", "embedding.model": "none", "relevance.pool": "all"})
"""What costs most is not what is tested here."""

PATHS = st.sampled_from(["a.py", "b.py", "pkg/c.py", "pkg/d.py", "notes.md"])
BODIES = st.sampled_from(["alpha()", "beta() + alpha()", "gamma(alpha)", "0"])
CONTENTS = st.builds(
    "def {0}(x):\n    # refund\n    return {1}\n".format, st.sampled_from(["alpha", "beta", "gamma"]), BODIES
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), PATHS, CONTENTS),
        st.tuples(st.just("delete"), PATHS, st.just("")),
        st.tuples(st.just("rename"), PATHS, PATHS),
        st.tuples(st.just("switch"), st.just(""), st.just("")),
    ),
    min_size=1,
    max_size=5,
)


@given(start=st.dictionaries(PATHS, CONTENTS, min_size=1), other=st.dictionaries(PATHS, CONTENTS), steps=STEPS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_incremental_equals_fresh(
    start: dict[str, str], other: dict[str, str], steps: list[tuple[str, str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        root.mkdir()
        files, away = dict(start), dict(other)
        with Engine.open(write(root, files), QUICK, cache_dir=Path(folder) / "cache") as engine:
            for step in [("look", "", ""), *steps]:
                files, away = _applied(step, files, away)
                _lay_out(root, files)
                with Engine.of(MemorySource(files), QUICK) as fresh:
                    assert _answer(engine) == _answer(fresh)
        with (
            Engine.open(root, QUICK, cache_dir=Path(folder) / "cache") as again,
            Engine.of(MemorySource(files), QUICK) as fresh,
        ):
            assert _answer(again) == _answer(fresh)


def _answer(engine: Engine) -> str:
    return answer_text(engine, "refund alpha")


def _applied(
    step: tuple[str, str, str], files: dict[str, str], away: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The files after one step, and those of the other branch."""
    match step:
        case ("write", path, text):
            return files | {path: text}, away
        case ("delete", path, _):
            return {name: text for name, text in files.items() if name != path}, away
        case ("rename", path, to) if path in files:
            return {name: text for name, text in files.items() if name != path} | {to: files[path]}, away
        case ("switch", _, _):
            return away, files
    return files, away


def _lay_out(root: Path, files: dict[str, str]) -> None:
    """Make the folder hold exactly these files, touching only what differs."""
    for path in [path for path in root.rglob("*") if path.is_file()]:
        if path.relative_to(root).as_posix() not in files:
            path.unlink()
    write(
        root,
        {
            path: text
            for path, text in files.items()
            if not (root / path).is_file() or (root / path).read_text() != text
        },
    )
