"""Processes end with this one, and within their time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from secateur.system.processes import (
    Child,
    ended_for_time,
    start_detached,
)
from support.processes import environment

DEADLINE = 60.0

STARTS_ANOTHER = """
import subprocess, sys
waits = "import sys; print('begun', flush=True); sys.stdin.read()"
child = subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.PIPE)
child.wait()
"""

USES_UP_WHAT_IT_IS_GRANTED = """
import time
from secateur.system.processes import grant
grant(-1)
while time.process_time() < 30:
    pass
"""

WORKS_WHEN_ASKED = """
import sys
for line in sys.stdin:
    if line.strip() == "work":
        sum(range(20_000_000))
    print("done", flush=True)
"""


def test_a_group_ends_with_all_that_was_started_in_it() -> None:
    child = Child([sys.executable, "-c", STARTS_ANOTHER], stdout=subprocess.PIPE, env=environment(), group=True)
    assert child.stdout
    assert child.stdout.readline().strip() == b"begun"
    child.end_group()
    assert child.wait(DEADLINE) != 0
    assert child.stdout.read() == b""  # both ends of the pipe are closed: the other has ended too
    child.end_group()
    child.stdout.close()


def test_a_process_that_waits_does_nothing_and_one_that_computes_works() -> None:
    with Child([sys.executable, "-c", WORKS_WHEN_ASKED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        before = child.work()
        child.stdin.write(b"work\n")
        child.stdin.flush()
        child.stdout.readline()
        after = child.work()
        while (now := child.work()) != after:  # until it waits again
            after = now
        assert before is None or before != after
        child.kill()


def test_a_process_has_no_more_processor_time_than_it_is_granted() -> None:
    done = subprocess.run([sys.executable, "-c", USES_UP_WHAT_IT_IS_GRANTED], env=environment(), check=False)
    assert ended_for_time(done.returncode)
    assert not ended_for_time(0)
    assert not ended_for_time(1)


def test_a_program_goes_on_without_us(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+b") as stream:
        process = start_detached([sys.executable, "-c", "print('here')"], stream)
        assert process.wait(DEADLINE) == 0
    assert (tmp_path / "out").read_bytes().strip() == b"here"
