"""Ctrl-C from the first line of the program on.

Until the command begins, modules are imported and nothing is to be put back: Ctrl-C ends the process at once. An
exception would not do: some compiled modules crash when one comes while they are imported. Then it is the
KeyboardInterrupt that commands expect. This module imports nothing slow, and nothing of ours.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from contextlib import suppress
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

MESSAGE = "interrupted; nothing is half-written, and what was indexed is kept"
CODE = "INTERRUPTED"
EXIT_CODE = 130

# Time after which an interruption that was lost comes again: longer than the callback takes that lost it.
_AGAIN_SECONDS = 0.01


def wants_json(arguments: Sequence[str]) -> bool:
    """Tells whether a call that has no options yet asks for JSON."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


def end_at_once() -> None:
    """Makes Ctrl-C end this process at once. Where it is ignored, as in the background of a script, it stays so."""
    sys.unraisablehook = _interrupt_again
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """Makes Ctrl-C a KeyboardInterrupt again, where it would end the process at once."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one must not stop what the first has begun
    error = f'{{"error": {{"code": "{CODE}", "message": "{MESSAGE}", "hint": ""}}}}\n'
    for descriptor, text in ((1, error if wants_json(sys.argv[1:]) else ""), (2, MESSAGE + "\n")):
        with suppress(OSError):  # nobody reads it
            os.write(descriptor, text.encode())  # `sys.stdout` may be in the middle of writing
    os._exit(EXIT_CODE)


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Interrupts once more where Ctrl-C came inside a callback, out of which Python raises nothing: the import of any
    module has one."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_soon, ())
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt_soon() -> None:
    time.sleep(_AGAIN_SECONDS)
    _thread.interrupt_main()
