"""Real processes that use a real engine, started together or killed at a chosen moment."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from secateur import Engine, Settings
from secateur.settings import Embedding, Tokens
from support.engine_answers import answer_text

SETTINGS = Settings(tokens=Tokens("chars4"), embedding=Embedding("none"))
"""What makes starting an engine cheap."""

DEADLINE = 30.0
"""Seconds after which a process that should have ended, or printed something, counts as stuck."""

_PROGRAM = """
import json, os, signal, sys
from support.processes import answer_of
from secateur.errors import SecateurError

task = json.loads(sys.argv[1])
moment = task["kill_at"]

def progress(phase, done, total):
    print(phase, done, total, flush=True)
    if moment == f"{phase} {done}":
        os.kill(os.getpid(), signal.SIGKILL)

def hook(event, arguments):
    name, _, kind = moment.partition(" ")
    if event == name and kind in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
if task["wait"]:
    print("ready", flush=True)
    sys.stdin.readline()
answers = []
for rev, query in task["questions"]:
    if rev and rev.startswith("write "):
        name, _, content = rev.removeprefix("write ").partition("=")
        with open(os.path.join(task["root"], name + ".new"), "w") as file:
            file.write(content)
        os.replace(os.path.join(task["root"], name + ".new"), os.path.join(task["root"], name))
        rev = None
    try:
        answers.append(answer_of(task["root"], task["cache"], rev, query, progress))
    except SecateurError as error:
        answers.append(error.code)
print(json.dumps(answers))
"""


def answer_of(
    root: Path | str,
    cache: Path | str,
    rev: str | None,
    query: str,
    progress: Any = None,
    *,
    settings: Settings = SETTINGS,
) -> str:
    """What a search finds and decides, straight from the index, with everything it says of the index."""
    with Engine.open(root, settings, rev=rev, cache_dir=Path(cache)) as engine:
        text = answer_text(engine, query, progress)
        status = engine.status()
    return json.dumps([text, status.snapshot, status.files, status.fragments, status.edges, status.skipped])


def environment() -> dict[str, str]:
    """What makes another process import what this one does."""
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(Path(__file__).parents[1]), *filter(None, sys.path)))}


def child_processes() -> set[int]:
    """Processes that this one has started and that still run; empty where the system does not say."""
    try:
        return {int(pid) for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}
    except OSError:  # a thread has ended meanwhile
        return child_processes()


@contextmanager
def run_process(words: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process that is killed when the block ends, also where the test fails: `Popen` alone would wait for it."""
    with subprocess.Popen(words, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def read_terminal(terminal: int) -> bytes:
    """The next bytes that a process prints on its terminal; empty once nobody has it open any more."""
    assert select.select([terminal], [], [], DEADLINE)[0], "neither ends nor prints"
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""


Question = tuple[str | None, str]
"""A revision, None for the work tree, or "write NAME=CONTENT" to change a file of it first; and a query."""


def started(
    root: Path, cache: Path, questions: Sequence[Question], *, wait: bool = False, kill_at: str = ""
) -> subprocess.Popen[str]:
    """A process that answers the questions in turn. `kill_at`: "PHASE DONE" of the progress, or "EVENT .KIND": an audit
    event on such a file."""
    task = {"root": str(root), "cache": str(cache), "questions": list(questions), "wait": wait, "kill_at": kill_at}
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, json.dumps(task)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def together(root: Path, cache: Path, questions: Sequence[Sequence[Question]]) -> list[list[str]]:
    """Answers of as many processes as there are lists of questions; all begin at the same moment."""
    processes = [started(root, cache, asked, wait=True) for asked in questions]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120) for process in processes]
    for process, (_, errors) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, errors
    return [json.loads(output.splitlines()[-1]) for output, _ in outputs]
