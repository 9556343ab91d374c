"""Passes the first lines of a command's output while it runs, prunes the rest with `secateur log` when it has ended,
and keeps the original in a store.

    output = RunningOutput(settings, 1_000)
    print(output.take(chunk))                 # complete lines without credentials, up to a share of the limit
    pruned = output.prune("why does the build fail", user_store(os.environ))
    print(pruned.text)                        # the rest; its last line names the digest; None: all of it fits

What is printed depends on the bytes alone: neither the clock nor the sizes of the chunks change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from secateur import Settings

    from secateur_agents.store import OriginalStore

# Tokens of an output that `secateur run` prints by default: 4,000 saved published runs nothing (docs/lab/measured.md).
MOST_TOKENS = 1_000

# The part of the limit that passes at once is one in so many: the first 250 tokens of a server say that it runs and
# where, and three quarters are left for the errors, which come last.
PASSED_PART = 4

_FOOT_TOKENS = 40  # room for the last line, so that pruned output fits and is not pruned again
MOST_BYTES = 64 * 1024 * 1024  # longer output passes as it comes, without credentials
_BLOCK = 1 << 16  # bytes of lines that pass together where all of an output does

# Bytes before a line that are looked at with it, because a credential may stand on the line below its name.
_CONTEXT = 1 << 10

_LONGEST_KEY = 1 << 16  # most bytes that are held because they may be a private key

_KEY_BEGINS = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,60}PRIVATE KEY|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY")
_KEY_ENDS = re.compile(rb"-----END [A-Z0-9 ]{0,60}PRIVATE KEY|---- END SSH2 ENCRYPTED PRIVATE KEY")
# A line that may be one of a private key, or that a backslash continues.
_KEY_LINE = re.compile(rb"[A-Za-z0-9+/]{40}={0,2}(?:\\{1,8}[nr]){0,2}[^A-Za-z0-9/=]{0,8}\Z|\\\Z")

_LINE_END = 120  # bytes at the end of a line that tell whether it is one
_OTHER_LINES = 4  # most lines in a row of a private key that are no long line of it: its headers, or its last line


class PrunedOutput(NamedTuple):
    """The text that stands in place of an output, and the tokens of both."""

    text: str
    before: int
    after: int


def import_pruner() -> None:
    """Imports what pruning needs, which takes longer than to prune."""
    from secateur import Environment, count_tokens, format_outcome, get_kind, prune, redact  # noqa: F401

    get_kind("log")
    count_tokens("tables of tokens")


class RunningOutput:
    """See the module docstring. `full`: lines are held because the share of the limit is used up."""

    def __init__(self, settings: Settings, most_tokens: int) -> None:
        from secateur import Environment

        self.full = False
        self._settings, self._most = settings, most_tokens
        self._redactor = Environment().redacting(settings).redactor
        self._data = bytearray()
        self._start = self._searched = 0  # in the data: of what is held; where the next line end is looked for
        self._passed = b""  # as it was printed
        self._tokens = -1  # of it; -1: not counted yet
        self._too_long = False

    def take(self, chunk: bytes) -> bytes:
        """Takes what the command printed, and returns what passes of it."""
        self._data += chunk
        self._too_long |= len(self._data) > MOST_BYTES
        if self._too_long:
            return b"".join(self.rest(ended=False))
        before = len(self._passed)
        while not self.full:
            end = self._data.find(b"\n", self._searched) + 1
            self._searched = end or len(self._data)
            if not end:
                break
            if _may_be_part_of_key(bytes(self._data[self._start : end])):
                continue
            text = self._redacted(end)
            if len(self._passed) + len(text) > self._most // PASSED_PART:  # a token is a byte or more
                if self._tokens < 0:
                    self._tokens = self._count(self._passed)
                self._tokens += self._count(text)
                self.full = self._tokens > self._most // PASSED_PART
            if not self.full:
                self._passed += text
                self._start = end
        return self._passed[before:]

    def rest(self, *, ended: bool = True) -> Iterator[bytes]:
        """Yields what is held in blocks of lines, without credentials. `ended`: also a last line without its end."""
        self.full = True
        while (held := len(self._data) - self._start) > 0:
            end = self._data.rfind(b"\n", self._start, self._start + _BLOCK) + 1
            end = end or self._data.find(b"\n", self._start) + 1
            if not end and not ended and held <= MOST_BYTES:
                break
            end = end or len(self._data)
            text, self._start = self._redacted(end), end  # a block that is cut off by a signal is not printed twice
            yield text
        del self._data[: max(0, self._start - _CONTEXT)]
        self._start = min(self._start, _CONTEXT)

    @property
    def prunable(self) -> bool:
        """Tells whether the output may have more tokens than the limit, and is not too long to be pruned."""
        return not self._too_long and len(self._data) > self._most  # a token is a byte or more

    def prune(self, query: str, store: OriginalStore) -> PrunedOutput | None:
        """Prunes what is held of an output that has ended; None: with it, the output has no more tokens than the limit.

        Args:
            query: lines that contain its words are preferred.

        Raises:
            SecateurError: the output cannot be pruned, or the store cannot be written.
        """
        if not self.prunable:
            return None
        import hashlib

        from secateur import Environment, format_outcome, get_kind, prune, with_values

        passed = self._count(self._passed)
        rest = self._redacted(len(self._data))
        values = {get_kind("log").budget.key: max(0, self._most - passed - _FOOT_TOKENS), "redaction.enabled": False}
        environment = Environment(stdin=lambda _most: rest)
        settings = with_values(self._settings, values)
        outcome = prune("log", settings, environment=environment, path="-", query=query or None)
        before, after = passed + outcome.ledger.before, passed + outcome.ledger.after
        if before <= self._most:
            return None
        digest = hashlib.sha256(self._data).hexdigest()[:12]
        store.keep({digest: self._data.decode("utf-8", "replace")})
        text = format_outcome(outcome, "plain").rstrip("\n")
        foot = f"--- {after:,} of {before:,} tokens; secateur recall {digest} gives the whole"
        self._start = len(self._data)
        return PrunedOutput(f"{text}\n{foot}\n" if text else f"{foot}\n", before, after)

    def _redacted(self, end: int) -> bytes:
        begins_line = self._start == 0 or self._data[self._start - 1] == 0x0A
        start = max(0, self._start - _CONTEXT) if begins_line else self._start
        lines = self._data.count(b"\n", start, self._start)
        return self._redactor.utf8(bytes(self._data[start:end])).split(b"\n", lines)[-1]

    def _count(self, text: bytes) -> int:
        from secateur import get_counter

        return get_counter(self._settings.tokens.counter).count(text.decode("utf-8", "replace"))


def _may_be_part_of_key(text: bytes) -> bool:
    """Tells whether the last of these lines may belong to a private key, which only later lines tell."""
    if len(text) > _LONGEST_KEY:
        return False
    *_, begin = (None, *_KEY_BEGINS.finditer(text))
    if begin is not None and _KEY_ENDS.search(text, begin.end()):
        return False
    block = text[begin.end() if begin else 0 :].splitlines()
    if begin is None:
        return _KEY_LINE.search(block[-1][-_LINE_END:]) is not None
    latest = block[1:][-_OTHER_LINES - 1 :]
    return len(latest) <= _OTHER_LINES or any(_KEY_LINE.search(line[-_LINE_END:]) for line in latest)
