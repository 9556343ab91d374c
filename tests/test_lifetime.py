"""What we start ends with us, however we end. Real processes, and their ends as the system reports them."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import DEADLINE, environment, run_process
from support.repos import QUERY, SHOP, committed, git

pytestmark = pytest.mark.usefixtures("default_signals")

FATAL = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGKILL") if hasattr(signal, name)]
linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="ends of other processes' children are seen through pidfd"
)

BUSY = "import re; print(flush=True); re.match('(a*)*b', 'a' * 64)"
"""Python that computes inside a library for ever and lets no other thread run."""

STARTS_TWO = f"""
import subprocess, sys
from secateur.system.processes import Child
children = [Child([sys.executable, "-c", {BUSY!r}], stdout=subprocess.PIPE) for _ in range(2)]
for child in children:
    child.stdout.readline()
print(*(child.pid for child in children), flush=True)
sys.stdin.readline()
"""

EXTRACTS = """
import sys
from secateur.executors import pool
from secateur.index.update import parallel
from secateur.tokens import get_counter
parallel.INLINE_BYTES = 0
child, made = pool.Child, []
pool.Child = lambda *words, **more: made.append(child(*words, **more)) or made[-1]
def files():
    for number in range(500):
        yield f"m{number}.py", b"def f():\\n    return 1\\n"
    print(*(process.pid for process in made), flush=True)
    sys.stdin.readline()
list(parallel.Extractor(get_counter("chars4"), None, 2).run(files(), 1))
"""

RUNS_GIT = """
import sys
from pathlib import Path
from secateur.sources.process import run_git
with run_git([sys.argv[1]], env={}, cwd=Path("/"), seconds=600, idle=600) as output:
    print(output.readline().decode(), flush=True)
    output.read()
"""


def ended(pid: int) -> bool:
    """Whether a process that is not ours ends within the deadline."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], DEADLINE)[0])
    finally:
        os.close(handle)


@linux
@pytest.mark.parametrize("number", FATAL)
@pytest.mark.parametrize("program", [STARTS_TWO, EXTRACTS], ids=["computing", "extraction"])
def test_processes_end_with_the_one_that_started_them(program: str, number: signal.Signals) -> None:
    with run_process(
        [sys.executable, "-c", program], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        children = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(children) == 2
        parent.send_signal(number)
        assert parent.wait(DEADLINE) == -number
    assert [pid for pid in children if not ended(pid)] == []


def stuck(folder: Path, before: str) -> Path:
    """A program that does `before`, then waits for a pipe nobody writes to."""
    nobody_writes = folder / "nobody-writes"
    os.mkfifo(nobody_writes)
    script = folder / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\n{before}\nexec /bin/cat '{nobody_writes}'\n")
    script.chmod(0o755)
    return script


@linux
@pytest.mark.parametrize("number", FATAL)
def test_a_git_that_waits_for_ever_ends_with_us(tmp_path: Path, number: signal.Signals) -> None:
    words = [sys.executable, "-c", RUNS_GIT, str(stuck(tmp_path, "echo $$"))]
    with run_process(words, env=environment(), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.send_signal(number)
        assert parent.wait(DEADLINE) == -number
    assert ended(child)


@linux
@pytest.mark.parametrize("number", FATAL[:2])
def test_a_command_that_is_ended_takes_its_temporary_folder_away(tmp_path: Path, number: signal.Signals) -> None:
    repository = committed(tmp_path / "shop", SHOP)
    git(repository, "commit", "-q", "--allow-empty", "-m", "Nothing")
    told = tmp_path / "told"
    os.mkfifo(told)
    event = os.open(told, os.O_RDWR)  # also to write, so that opening waits for nobody
    script = stuck(
        tmp_path, f"case \"$*\" in *diff-tree*) echo $$ > '{told}';; *) exec '{shutil.which('git')}' \"$@\";; esac"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env = environment() | {"PATH": f"{script.parent}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    words = [sys.executable, "-m", "secateur", "chunk", str(repository), "--base", "HEAD~1"]
    with run_process(words, env=env) as command:
        assert select.select([event], [], [], DEADLINE)[0]
        child = int(os.read(event, 64))
        os.close(event)
        assert [path.name[:9] for path in temporary.iterdir()] == ["secateur-"]
        command.send_signal(number)
        assert command.wait(DEADLINE) == -number
    assert ended(child)
    assert list(temporary.iterdir()) == []


def test_an_ignored_hangup_stays_ignored() -> None:
    program = (
        "from secateur.cli.common import unwound\nimport os, signal\nwith unwound():\n    os.kill(os.getpid(),"
        " signal.SIGHUP)\nprint('went on')"
    )
    words = [sys.executable, "-c", f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{program}"]
    assert (
        subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=DEADLINE, check=True).stdout
        == "went on\n"
    )


def test_without_help_of_the_system_a_process_sees_that_its_parent_is_gone() -> None:
    """`watch_parent` with a number that is not the parent's: as after the parent's end."""
    program = "from secateur.system.processes import watch_parent; watch_parent(1 << 30); import sys; sys.stdin.read()"
    with run_process([sys.executable, "-c", program], env=environment(), stdin=subprocess.PIPE) as child:
        assert child.wait(DEADLINE) == 1


WAITS_IN_A_THREAD = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from secateur.cli.main import main
never = os.pipe()
ThreadPoolExecutor(1).submit(os.read, never[0], 1)
sys.argv[1:] = ["config", "--format", "json"]
sys.exit(main())
"""


def test_the_program_ends_whatever_its_threads_are_at() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WAITS_IN_A_THREAD],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    assert '"graph_rag.token_budget"' in done.stdout


INTERRUPTED = """
import os, signal, sys
moment, *sys.argv[1:] = sys.argv[1:]
def hook(event, arguments):
    if event == "import" and arguments[0] == moment:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
from secateur.__main__ import run
sys.exit(run())
"""
"""Ctrl-C at the moment when a module is first imported."""

INTERRUPTION = "interrupted; nothing is half-written, and what was indexed is kept"


def interrupted(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """What a Python program is at its end."""
    argv = [sys.executable, "-c", program, *words]
    return subprocess.run(argv, env=environment(), capture_output=True, text=True, timeout=DEADLINE, check=False)


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("secateur.cli.main", ["config"]),
        ("argparse", ["status", "sample:orders"]),
        ("secateur.cli.common", ["search", QUERY, "sample:orders"]),
        ("datetime", ["files", "--query", QUERY]),  # compiled code imports it, and crashes on an exception
        ("secateur.settings", ["mcp"]),
        ("secateur.engine", ["search", QUERY, "sample:orders", "--no-cache"]),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_while_a_command_is_imported_is_one_line(moment: str, words: list[str], as_json: bool) -> None:
    done = interrupted(INTERRUPTED, moment, *words, *["--format", "json"] * as_json)
    assert (done.returncode, done.stderr) == (130, INTERRUPTION + "\n")
    if as_json:
        assert json.loads(done.stdout) == {"error": {"code": "INTERRUPTED", "message": INTERRUPTION, "hint": ""}}
    else:
        assert done.stdout == ""


def test_ctrl_c_stays_ignored_where_it_was() -> None:
    ignored = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN){INTERRUPTED}"
    done = interrupted(ignored, "secateur.settings", "config", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")


LOST = """
import os, signal, sys, weakref
class Held: pass
def lose(_):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass
def hook(event, arguments):
    if event == "import" and arguments[0] == "secateur.engine":
        held = Held()
        reference = weakref.ref(held, lose)
        del held
sys.addaudithook(hook)
from secateur.__main__ import run
sys.exit(run())
"""


def test_ctrl_c_inside_a_callback_is_not_lost() -> None:
    done = interrupted(LOST, "search", QUERY, "sample:orders", "--no-cache")
    assert (done.returncode, done.stderr) == (130, INTERRUPTION + "\n")


ANSWERED = """
import sys
from secateur.cli.common import run_guarded
from secateur.cli.output import emit
from argparse import Namespace
def answers(options):
    emit("{}")
    raise KeyboardInterrupt
sys.exit(run_guarded(answers, Namespace(format="json", debug=False)))
"""


def test_ctrl_c_after_the_answer_adds_nothing_to_it() -> None:
    done = interrupted(ANSWERED)
    assert (done.returncode, done.stdout, done.stderr) == (130, "{}", INTERRUPTION + "\n")
