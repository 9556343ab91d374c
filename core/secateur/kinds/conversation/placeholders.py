"""Writes placeholders for cleared results and contents: what was there, and how to get it back.

A placeholder promises only what is true. Where the originals are kept, it names the digest that `recall` takes.
Elsewhere it says which call to make: that call shows what holds then, and some agents answer a second read of a file
with a note that nothing changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from html import escape, unescape

from secateur.kinds.conversation.decisions import LONGEST_NAME
from secateur.kinds.conversation.file_operations import FileOperation, file_accesses
from secateur.kinds.conversation.messages import MessagePart, PartKind, opening_tag
from secateur.kinds.log.failures import find_blocks
from secateur.kinds.log.levels import LIKELY
from secateur.model import Reason
from secateur.progress import unreported

MARK = "[tool result cleared: "
"""The start of every placeholder."""

CONTENT_MARK = "[content cleared: "
"""The start of the placeholder for a content that a call wrote into a file."""

ERRORS_MARK = "\n[errors in it:]\n"
"""The text between a placeholder and the lines that stay."""

LONGEST_ERROR, LONGEST_ERRORS = 300, 20 * 301
"""Most characters of one kept line, and of all kept lines together."""

LONGEST_REPORT = 20_000
"""Lines of a result that are searched for errors."""

DIGEST_DIGITS = 12
"""Hexadecimal digits of the SHA-256 in a placeholder."""

SHOWN_ARGUMENTS = 120
"""Longest arguments of a call that a placeholder repeats; longer ones can be read in the call, which stays."""

LONGEST_WAY = 400
"""Longest text on how to get a result back."""

LOOKED = (FileOperation.READ, FileOperation.READ_PART)
"""Operations that only read a file."""

_BACK = {
    Reason.REPEATED: "the same text came again later",
    Reason.SUPERSEDED: "the file was read again or written anew later",
}
_REREAD = {
    Reason.SUPERSEDED: _BACK[Reason.SUPERSEDED],
    Reason.OUTDATED: "the file was changed since, read it for its present text",
    Reason.OLDEST_RESULT: "read the file for its present text",
}
_NAMED = re.compile(r"(?:E\s+)?[\w.:]*(?:Error|Exception|error|panic|Panic|fatal)\b[\w\[\]]*:")
_DIGEST = rf"[0-9a-f]{{{DIGEST_DIGITS}}}"
_CONTENT_CLEARED = re.compile(
    re.escape(CONTENT_MARK) + rf"[\d,]+ tokens(?:, sha256 {_DIGEST})?; [a-z ,]{{,80}}(?:; recall {_DIGEST})?\]"
)
_CLEARED = re.compile(
    re.escape(MARK)
    # 16: whether it succeeded
    + rf".{{0,{LONGEST_NAME + 16}}}[\d,]+ tokens"
    + rf"(?:, sha256 {_DIGEST}; .{{0,{LONGEST_WAY}}}|; .{{0,{LONGEST_WAY}}}recall {_DIGEST} gives it back)\]",
    re.DOTALL,
)


def digest_of(text: str) -> str:
    """Returns the digest that names a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]


def result_placeholder(part: MessagePart, why: Reason, tokens: int, errors: int = 0, *, recalls: bool = False) -> str:
    """Writes the placeholder of a result: tool, success, size, and how to get it back; below it up to `errors` lines
    that report an error, unless a later message holds the same text. `recalls`: the original is kept."""
    recalls = recalls and bool(part.text)
    success = {True: "succeeded", False: "failed", None: ""}[part.success]
    digest = "" if recalls else f"sha256 {digest_of(part.text)}"
    facts = [part.tool[:LONGEST_NAME] or "unnamed tool", success, f"{tokens:,} tokens", digest]
    ways = [_BACK.get(why) or _way(part, why, recalls=recalls)]
    ways += [f"recall {digest_of(part.text)} gives it back"] if recalls else []
    text = MARK + "; ".join([", ".join(filter(None, facts)), *filter(None, ways)]) + "]"
    if lines := errors_in(part, errors if why not in _BACK else 0):
        text += ERRORS_MARK + "\n".join(lines)
    return text if part.span is None else f"{opening_tag(part.text)}{escape(text, quote=False)}</tool_result>"


def _way(part: MessagePart, why: Reason, *, recalls: bool) -> str:
    since = "the file was changed since" if why is Reason.OUTDATED else ""
    if recalls:
        return since
    known = f" with {part.arguments}" if part.arguments and len(part.arguments) <= SHOWN_ARGUMENTS else ""
    call = f"call {'it' if known else 'the tool'} again{known}"
    if any(access.operation in LOOKED for access in file_accesses(part)):
        call += ", or for another range if it only says unchanged"
    else:
        call += " for its present result"
    return f"{since}, {call}" if since else call


def content_placeholder(part: MessagePart, why: Reason, tokens: int, *, recalls: bool = False) -> str:
    """Writes the placeholder of a content that a call wrote into a file."""
    digest = digest_of(part.text)
    if recalls:
        return f"{CONTENT_MARK}{tokens:,} tokens; {_REREAD[why]}; recall {digest}]"
    return f"{CONTENT_MARK}{tokens:,} tokens, sha256 {digest}; {_REREAD[why]}]"


def is_cleared(part: MessagePart) -> bool:
    """Tells whether a result, or the content of a call, is a placeholder already. A text that only begins like one is
    not."""
    if part.kind is PartKind.CALL:
        return _CONTENT_CLEARED.search(part.arguments) is not None
    text = part.text
    if part.span is not None:
        text = unescape(text[len(opening_tag(text)) :].removesuffix("</tool_result>"))
    text, _, errors = text.partition(ERRORS_MARK)
    return not part.media and _CLEARED.fullmatch(text) is not None and len(errors) <= LONGEST_ERRORS


def errors_in(part: MessagePart, most: int) -> list[str]:
    """Returns the first lines of a result that report an error, as the pruner of logs finds them; none of a file that
    was read: its text is not a report."""
    if not most or part.media or any(access.operation in LOOKED for access in file_accesses(part)):
        return []
    lines = part.text.splitlines()[:LONGEST_REPORT]
    blocks = (block for block in find_blocks(lines, unreported).blocks if block.grade >= LIKELY and not block.repeats)
    errors = (_message([lines[index].strip() for index in block.telling])[:LONGEST_ERROR] for block in blocks)
    return list(dict.fromkeys(filter(None, errors)))[:most]


def _message(lines: Sequence[str]) -> str:
    """Returns the line of a block that names the error, else its first line."""
    return next(filter(_NAMED.match, lines), lines[0] if lines else "")
