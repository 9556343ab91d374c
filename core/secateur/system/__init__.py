"""Services of the operating system that differ between systems, each with an implementation for POSIX and for Windows.

    locks      files that one process at a time holds, and folders that one process at a time works in
    files      opening without following links, names in the form of the system, replacing, mapping, owners
    processes  children that end with this process, their own children, and the processor time they take
    console    signals that ask a program to end, and escape sequences

`secateur.system.locks` and the others choose the implementation; import a service from there. No other module may
import a module that some system lacks (`fcntl`, `resource`, `msvcrt`), or use a part of `os` that does not exist
everywhere: `tests/system/test_boundaries.py` checks it. `docs/platforms.md` says where the systems differ.
"""
