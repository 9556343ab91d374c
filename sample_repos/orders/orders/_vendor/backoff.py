# backoff-lite 0.3.1
#
# MIT License
# Copyright (c) 2022 Ingrid Solheim <ingrid@example.com>
#
# Permission is hereby granted, free of charge, to any person obtaining a copy
# of this software, to deal in it without restriction, including the rights to
# use, copy, modify, merge, publish, distribute, sublicense and sell copies,
# subject to this notice being included in all copies. The software is provided
# "as is", without warranty of any kind.
"""Exponential delays and a retry helper."""

import time


def exponential(base=0.1, factor=2.0, limit=30.0, attempts=5):
    """Yield ``attempts`` delays: base, base * factor, ... capped at ``limit``."""
    delay = base
    for _ in range(attempts):
        yield min(delay, limit)
        delay *= factor


def retry_call(func, delays, retry_on=(Exception,), sleep=time.sleep):
    """Call ``func`` until it succeeds or the delays run out.

    The exception of the last attempt is propagated unchanged.
    """
    for delay in delays:
        try:
            return func()
        except retry_on:
            sleep(delay)
    return func()
