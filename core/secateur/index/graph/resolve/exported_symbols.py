"""Tells what an edit of a file changes for the resolver: the links, or also what other files see of it."""

import re
from collections import Counter
from hashlib import blake2b
from operator import attrgetter

import msgspec

from secateur.model import Call, FileFacts, FragmentKind

_VARIABLE = re.compile(r"\$?\w+")

# The fields of a call site that the resolver reads.
_CALL = tuple(name for name in Call.__struct_fields__ if name != "line")


def digest_of_links(facts: FileFacts, size: int) -> bytes:
    """Returns the digest of all facts that the resolver reads: everything but lines, complexity and problems."""
    calls = sorted(Counter(map(attrgetter(*_CALL), facts.calls)).items())
    read = facts.language, facts.package, _shape(facts), calls, facts.imports, facts.bases, facts.annotations
    return blake2b(msgspec.msgpack.encode(read), digest_size=size).digest()


def same_exports(before: FileFacts, after: FileFacts) -> bool:
    """Tells whether an edit changes only calls and the types of local variables, so that all names keep their
    meaning."""
    seen_before, seen_after = (
        (
            *(facts.language, facts.package, facts.imports, facts.bases, _shape(facts)),
            [
                annotation
                for annotation in facts.annotations
                if annotation.name == "return"
                or not _VARIABLE.fullmatch(annotation.name)
                or not 0 <= annotation.fragment < len(facts.fragments)
                or facts.fragments[annotation.fragment].kind not in (FragmentKind.FUNCTION, FragmentKind.METHOD)
            ],
        )
        for facts in (before, after)
    )
    return seen_before == seen_after


def _shape(facts: FileFacts) -> list[tuple[str, str, str, int, bool]]:
    return [(f.kind.value, f.name, f.qualname, f.parent, f.sig_end >= f.line_end) for f in facts.fragments]
