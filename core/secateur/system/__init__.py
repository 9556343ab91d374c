"""Services of POSIX systems that Python lacks or that Linux and macOS offer differently.

    locks      files that one process at a time holds, and folders that one process at a time works in
    files      opening without following links, mapping, owners
    processes  children that end with this process, their own children, and the processor time they take
    console    signals that ask a program to end

No other module may import `fcntl` or `resource`, or use a part of `os` that only some systems have:
`tests/system/test_boundaries.py` checks it. `docs/reference/platforms.md` says where the systems differ.
"""
