"""Leaving the inspector waits for nothing that is under way, and gives the terminal back. Real processes on a terminal
of their own."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import DEADLINE, environment, read_terminal

termios = pytest.importorskip("termios", reason="terminals of POSIX systems")

pytestmark = pytest.mark.usefixtures("default_signals")

LEFT_THE_SCREEN = b"\x1b[?1049l"

STUCK = """
import os, select, sys, threading
from concurrent.futures import ThreadPoolExecutor
from secateur.cli.main import main
from secateur_tui import app
from secateur_tui.pages.conversation import ConversationPage

begun, never = int(sys.argv[1]), os.pipe()

class Stuck(ConversationPage):
    def read(self, inputs, settings, progress):
        threads = ThreadPoolExecutor(1)
        answer = threads.submit(os.read, never[0], 1)
        if FULL:
            threading.Thread(target=os.write, args=(1, b"." * 1_000_000), daemon=True).start()
            while select.select([], [1], [], 0)[1]:
                pass
        os.write(begun, b".")
        return answer.result()

page_of = app.page_of
app.page_of = lambda kind, opened=None: (Stuck if kind.name == "conversation" else page_of)(kind, opened)
sys.argv[1:] = ["inspect", "talk.json"]
sys.exit(main())
"""
"""The inspector on a transcript whose reader waits, in a thread that Python would join, for what never comes. Where
FULL its terminal takes nothing more by then."""


def left(folder: Path, how: bytes | signal.Signals | None, *, full: bool = False) -> tuple[int, bytes, bool]:
    """Exit code, what the terminal got, and whether its settings are as before, of an inspector that is left while its
    reader is stuck. `full`: nothing is read from the terminal. `how`: None closes the terminal."""
    (folder / "talk.json").write_text('[{"role": "user", "content": "Where?"}]')
    begun, tells = os.pipe()
    terminal, inside = os.openpty()
    before = termios.tcgetattr(terminal)
    env = environment() | {
        "TERM": "xterm-256color",
        "SECATEUR_CACHE_DIR": str(folder / "cache"),
        "SECATEUR_CONFIG_DIR": str(folder / "config"),
    }
    words = [sys.executable, "-c", STUCK.replace("FULL", str(full)), str(tells)]
    process = subprocess.Popen(
        words,
        env=env,
        cwd=folder,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        pass_fds=(tells,),
        start_new_session=True,
    )
    os.close(inside)
    os.close(tells)
    printed, sent = b"", False
    try:
        while not (full and sent):
            waiting = [terminal] if sent else [begun] if full else [terminal, begun]
            readable, _, _ = select.select(waiting, [], [], DEADLINE)
            assert readable, "neither ends nor prints"
            if begun in readable:
                assert os.read(begun, 1), "it ended before it read anything: " + printed.decode("utf-8", "replace")
                sent = True
                if how is None:
                    os.close(terminal)
                    return process.wait(DEADLINE), b"", False
                if isinstance(how, bytes):
                    os.write(terminal, how)
                else:
                    process.send_signal(how)
            if terminal in readable:
                if not (part := read_terminal(terminal)):
                    break
                printed += part
        return process.wait(DEADLINE), printed, termios.tcgetattr(terminal) == before
    finally:
        process.kill()
        process.wait()
        for descriptor in (begun,) if how is None else (terminal, begun):
            os.close(descriptor)


@pytest.mark.parametrize(
    ("how", "code"), [(b"q", 0), (b"\x03", 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)]
)
def test_a_reader_that_never_comes_back_keeps_nobody_from_leaving(
    tmp_path: Path, how: bytes | signal.Signals, code: int
) -> None:
    ended, printed, restored = left(tmp_path, how)
    assert (ended, restored) == (code, True)
    assert LEFT_THE_SCREEN in printed
    said = printed.rpartition(LEFT_THE_SCREEN)[2]
    assert (b"interrupted; nothing is half-written" in said) == (how == b"\x03")
    assert b"Traceback" not in printed


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_takes_nothing_keeps_no_process(tmp_path: Path, how: signal.Signals) -> None:
    assert left(tmp_path, how, full=True)[0] == -signal.SIGALRM


def test_a_terminal_that_is_gone_keeps_no_process(tmp_path: Path) -> None:
    assert left(tmp_path, None, full=True)[0] in (-signal.SIGHUP, -signal.SIGALRM)
