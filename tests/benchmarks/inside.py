"""What one process pays, told as JSON on its last line; `speed.py` and `growth.py` start it, so that memory and imports
are those of a new process.

    python tests/benchmarks/inside.py cold|warm|samples|edits PATH [EDITS]

cold: an index from nothing, processor time by phase. warm: opening an index that is there, queries, knob steps, memory.
edits: EDITS changed bodies and a third as many new functions, written into PATH. samples: an index from nothing in this
one process, its processor time by the function of secateur it was spent under (a sample every 2 ms). The index is kept
in SECATEUR_CACHE_DIR.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import secateur
from measuring import Spent, processor_now, resident_now, spent
from secateur.engine import Engine
from secateur.index.facts.snapshot_arrays import CODE
from secateur.model import FragmentKind
from secateur.settings import Settings, with_profile, with_values

PROFILE = "recommended"
"""The profile measured: it scores and decides most."""

LINE_COMMENT = dict.fromkeys(
    ("javascript", "typescript", "tsx", "go", "java", "rust", "c", "cpp", "csharp", "php"), "//"
) | {"python": "#", "ruby": "#"}
MARKER = "zwiebelkuchen"
"""A word no repository holds: what an edit adds, and what is then looked for."""

SEED = 7
QUERIES = 20
LONG_QUERY_WORDS = 150
KNOB_STEPS = 60
SAMPLE_SECONDS = 0.002
HOME = str(Path(secateur.__file__).parent)


def main() -> int:
    """Run one job and print its figures."""
    job, path = sys.argv[1], Path(sys.argv[2])
    print(json.dumps({"cold": cold, "warm": warm, "edits": edits, "samples": samples}[job](path)))
    return 0


def settings_of(**values: Any) -> Settings:
    """Settings measured with."""
    return with_values(with_profile(Settings(), PROFILE), values)


def cold(path: Path) -> dict[str, Any]:
    """Index from nothing: {phase: [CPU seconds with children's, wall seconds]}, files, lines, fragments."""
    marks: list[tuple[str, float, float]] = [("starting", 0.0, time.perf_counter() - time.process_time())]

    def progress(phase: str, _done: int, _total: int) -> None:
        if phase != marks[-1][0]:
            marks.append((phase, processor_now(), time.perf_counter()))

    with Engine.open(path, settings_of()) as engine:
        status = engine.refresh(progress)
    marks.append(("", processor_now(), time.perf_counter()))
    phases: dict[str, list[float]] = {}
    for (phase, cpu, wall), (_, next_cpu, next_wall) in pairwise(marks):
        spent = phases.setdefault(phase, [0.0, 0.0])
        spent[0] += next_cpu - cpu
        spent[1] += next_wall - wall
    return {"phases": phases, "files": status.files, "lines": status.lines, "fragments": status.fragments}


def warm(path: Path) -> dict[str, Any]:
    """An index that is there. (processor, clock) seconds; lists are one entry a query or step."""
    settings = settings_of()
    with Engine.open(path, settings) as engine:
        figures: dict[str, Any] = {"open": spent(engine.refresh)}
        fragments = engine.status().fragments
        short, long = queries(engine)
        figures["first query"] = spent(lambda: engine.retrieve(short[0], settings, use_cache=False))
        figures["look"] = [spent(engine.refresh) for _ in range(QUERIES)]

        def answered(query: str) -> Spent:  # without the look at the files that `retrieve` begins with
            return spent(lambda: engine._found(query, settings, "markdown"))

        figures["short"] = [answered(query) for query in short]
        figures["long"] = [answered(query) for query in long]
        everything = settings_of()
        pool = engine.retrieve(long[0], everything, use_cache=False)
        figures["pool"] = len(pool)
        turned = [
            with_values(everything, {"smart_pruning.priority_weights.hotspot": step / 100})
            for step in range(KNOB_STEPS)
        ]
        figures["knob"] = [spent(partial(engine.select, pool, settings)) for settings in turned]
        return figures | {"resident": resident_now(), "fragments": fragments}


def queries(engine: Engine) -> tuple[list[str], list[str]]:
    """Short ones of a definition's name in words, long ones as an issue that quotes code: both evenly spaced over the
    index."""
    snapshot = engine._current()
    named = [
        row for row, name in enumerate(snapshot.qualnames) if len(name) > 3 and snapshot.kind(row) in CODE
    ] or list(range(len(snapshot)))
    rows = [named[int(at)] for at in np.linspace(0, len(named) - 1, QUERIES)]
    short = [f"where is {' '.join(re.findall(r'[A-Z]?[a-z]+', snapshot.qualnames[row]))} done?" for row in rows]
    return short, [" ".join(_text(engine, row).split()[:LONG_QUERY_WORDS]) for row in rows]


def _text(engine: Engine, row: int) -> str:
    """Lines from a fragment on, as many as may hold the words of a long query."""
    snapshot = engine._current()
    lines = engine._index.lines(snapshot, snapshot.paths[int(snapshot.file[row])])
    first = int(snapshot.line_start[row]) - 1
    return "\n".join(lines[first : first + LONG_QUERY_WORDS])


def edits(place: Path) -> dict[str, list[Spent]]:
    """Seconds from an edit to an index that knows it, in a process that holds the engine open: comments in bodies, and
    new functions.

    Each edit is then looked for, and found; that is not part of the time.
    """
    bodies = int(sys.argv[3])
    with Engine.open(place, settings_of()) as engine:
        engine.refresh()
        chooser = random.Random(SEED)
        seconds: list[Spent] = []
        for number in range(bodies + bodies // 3):
            path, lines, first, sig_end, end, name = _chosen(engine, place, chooser)
            word = f"{MARKER}{number}"
            if number < bodies:
                lines[sig_end:sig_end] = [_indent(lines[sig_end]) + LINE_COMMENT[_language(engine, path)] + f" {word}"]
            else:
                lines[end:end] = [
                    "",
                    *(re.sub(rf"\b{re.escape(name)}\b", word, line) for line in lines[first - 1 : end]),
                ]
            (place / path).write_text("\n".join(lines), encoding="utf-8")
            seconds.append(spent(engine.refresh))
            pool = engine.retrieve(word, use_cache=False)
            if path not in pool.path:
                raise RuntimeError(f"the edit of {path} was not found")
        return {"body": seconds[:bodies], "new": seconds[bodies:]}


def _chosen(engine: Engine, place: Path, chooser: random.Random) -> tuple[str, list[str], int, int, int, str]:
    """A function of at least two lines after its declaration: path, lines of the file, where it begins, declares and
    ends, its name."""
    snapshot = engine._current()
    while True:
        row = chooser.randrange(len(snapshot))
        path = snapshot.paths[int(snapshot.file[row])]
        first, end, sig_end = (
            int(snapshot.line_start[row]),
            int(snapshot.line_end[row]),
            int(snapshot.column("sig_end")[row]),
        )
        if (
            snapshot.kind(row) in (FragmentKind.FUNCTION, FragmentKind.METHOD)
            and end - sig_end >= 2
            and _language(engine, path) in LINE_COMMENT
        ):
            lines = (place / path).read_bytes().decode("utf-8", "replace").split("\n")
            return path, lines, first, sig_end, end, snapshot.qualnames[row].rpartition(".")[2]


def _language(engine: Engine, path: str) -> str:
    snapshot = engine._current()
    return snapshot.languages[snapshot.paths.index(path)]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def samples(path: Path) -> dict[str, Any]:
    """How often the processor was found under each function of secateur: {"index/lexical.py term_counts": count}."""
    found: Counter[str] = Counter()

    def note(_signal: int, frame: FrameType | None) -> None:
        found[next(_ours(frame), "start")] += 1

    signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, SAMPLE_SECONDS, SAMPLE_SECONDS)
    with Engine.open(path, settings_of(**{"index.workers": 1})) as engine:
        engine.refresh()
    signal.setitimer(signal.ITIMER_PROF, 0)
    return dict(found.most_common())


def _ours(frame: FrameType | None) -> Iterator[str]:
    """Functions of secateur on the stack, innermost first."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(HOME):
            yield f"{os.path.relpath(frame.f_code.co_filename, HOME)} {frame.f_code.co_qualname}"
        frame = frame.f_back


if __name__ == "__main__":
    sys.exit(main())
