"""Services of the operating system that differ between systems, each with an implementation for POSIX and for Windows.

    locks      files that one process at a time holds, folders in which one process at a time works
    files      opening without following links, names as the system takes them, replacing, mapping, owners
    processes  children that end with us, all that they started, the processor time they take
    console    signals that ask for an end, and what a console understands

`secateur.system.locks` and the others choose; whoever needs a service imports it from there. No other module of the
product imports one that some system lacks (`fcntl`, `resource`, `msvcrt`), or uses a part of `os` that does not exist
everywhere: `tests/system/test_boundaries.py` looks. `docs/platforms.md` says where answers differ.
"""
