"""Sources as they look in the middle of an edit, or after an accident: real files with spans cut, copied, swapped,
joined."""

from __future__ import annotations

import random

_INSERTED = (
    *(
        b"(",
        b")",
        b"[",
        b"]",
        b"{",
        b"}",
        b"<",
        b">",
        b'"',
        b"'",
        b"`",
        b"\\",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xff",
        b"\x1c",
        b";",
        b":",
        b",",
        b".",
    ),
    *(
        b"=",
        b"&",
        b"*",
        b"#",
        b"@",
        b"$",
        b"/*",
        b"*/",
        b"//",
        b'"""',
        b"<?php",
        b"?>",
        b"=>",
        b"->",
        b"::",
        b"<<EOT\n",
        b"#{",
        b"${",
        b"#if\n",
    ),
)
_LONGEST = 400  # bytes of a span that is moved


def mutate(chance: random.Random, source: bytes, other: bytes, times: int) -> bytes:
    """`source` changed `times` times; some changes bring a part of `other`. A pure function of the state of
    `chance`."""
    for _ in range(times):
        first, last = _span(chance, source)
        at = chance.randrange(len(source) + 1)
        kind = chance.randrange(8)
        if kind == 0:  # delete
            source = source[:first] + source[last:]
        elif kind == 1:  # duplicate
            source = source[:at] + source[first:last] + source[at:]
        elif kind == 2:  # swap
            second, end = _span(chance, source)
            (first, last), (second, end) = sorted([(first, last), (second, end)])
            if last <= second:
                source = source[:first] + source[second:end] + source[last:second] + source[first:last] + source[end:]
        elif kind == 3:
            source = source[:at] + chance.choice(_INSERTED) * chance.choice((1, 1, 1, 2, 3, 50)) + source[at:]
        elif kind == 4:
            source = source[:at]
        elif kind == 5:
            source = source[at:]
        elif kind == 6:
            start, stop = _span(chance, other)
            source = source[:at] + other[start:stop] + source[at:]
        else:  # the end of another file
            source = source[:at] + other[chance.randrange(len(other) + 1) :]
    return source


def _span(chance: random.Random, source: bytes) -> tuple[int, int]:
    first = chance.randrange(len(source) + 1)
    return first, min(len(source), first + chance.randrange(_LONGEST))
