"""The contents of a window: tokens by tool and by speaker, and which tokens of tool results are dead weight.

for share in window_contents(measured):   # the largest first; the tokens sum to those of the conversation
    share.what, share.tool, share.tokens, share.dead
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from secateur.kinds.conversation.decisions import MeasuredTranscript
from secateur.kinds.conversation.messages import SYSTEM_ROLES, Message, MessagePart, PartKind
from secateur.kinds.conversation.placeholders import is_cleared
from secateur.kinds.conversation.session_formats.claude_code import ATTACHMENT
from secateur.kinds.conversation.tool_results import results_in_order
from secateur.model import Reason
from secateur.shape import Count, Shape

What = Literal["tool", "user", "assistant", "thinking", "attachments", "system", "unreadable"]

# The names of the rows that belong to no tool.
WORDS: dict[What, str] = {
    "user": "what users said",
    "assistant": "what the assistant said",
    "thinking": "thinking and other",
    "attachments": "reminders, files and pictures",
    "system": "system prompt and summaries",
    "unreadable": "what cannot be read",
}

# Reasons why a result or a written content is dead weight: it was repeated, the file was read again or rewritten, or it
# changed.
STALE = (Reason.REPEATED, Reason.SUPERSEDED, Reason.OUTDATED)

REMINDER = "<system-reminder>"  # the start of a text that an agent adds to a user's message
LONGEST_TOOL = 100  # longest name of a tool, in characters


class WindowShareShape(Shape, frozen=True):
    """Tokens of a tool's calls and results, or of a speaker; with the dead weight among them."""

    what: What
    tool: str
    tokens: Count
    calls: Count
    results: Count
    call_tokens: Count
    repeated: Count
    superseded: Count
    outdated: Count
    largest: Count


@dataclass(slots=True)
class WindowShare:
    """A part of the conversation's tokens: the calls and results of a tool, or the words of a speaker."""

    what: What
    tool: str = ""  # of a tool; text from outside
    tokens: int = 0
    calls: int = 0
    results: int = 0  # of a row without a tool, its messages
    of_calls: int = 0  # tokens of the calls themselves
    stale: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(STALE, 0))  # tokens, by reason
    largest: int = 0  # tokens of the largest result

    @property
    def dead(self) -> int:
        """Tokens of results and written contents that are dead weight."""
        return sum(self.stale.values())

    def shape(self) -> WindowShareShape:
        """The part in JSON."""
        stale = {reason.label: tokens for reason, tokens in self.stale.items()}
        figures = self.tokens, self.calls, self.results, self.of_calls
        return WindowShareShape(self.what, self.tool, *figures, **stale, largest=self.largest)


def window_contents(measured: MeasuredTranscript) -> Sequence[WindowShare]:
    """Returns the parts, the largest first; computed once for a measured transcript."""
    return measured.once(
        window_contents, lambda: sorted(_shares(measured), key=lambda share: (-share.tokens, share.what, share.tool))
    )


def dead_weight(measured: MeasuredTranscript) -> int:
    """Tokens of results and written contents that are repeated, superseded or outdated."""
    return sum(share.dead for share in window_contents(measured))


def _shares(measured: MeasuredTranscript) -> Iterator[WindowShare]:
    shares: dict[tuple[What, str], WindowShare] = {}

    def share(what: What, tool: str = "") -> WindowShare:
        return shares.setdefault((what, tool), WindowShare(what, tool))

    stale = {
        (result.message, result.number): result.why for result in results_in_order(measured) if result.why in STALE
    }
    for index, (message, tokens) in enumerate(zip(measured.transcript.messages, measured.parts, strict=True)):
        counted = set[What]()
        for part_index, (part, size) in enumerate(zip(message.parts, tokens, strict=True)):
            if part.kind not in (PartKind.CALL, PartKind.RESULT):
                what = _classify(message, part)
                row = share(what)
                row.results += what not in counted
                counted.add(what)
            else:
                row = share("tool", part.tool[:LONGEST_TOOL] or "unknown")
                if part.kind is PartKind.CALL:
                    row.calls, row.of_calls = row.calls + 1, row.of_calls + size
                else:
                    row.results, row.largest = row.results + 1, max(row.largest, size)
                if (why := stale.get((index, part_index))) is not None and not is_cleared(part):
                    row.stale[why] += size
            row.tokens += size
    if measured.head:
        row = share("system")
        row.tokens, row.results = row.tokens + measured.head, row.results + 1
    yield from shares.values()


def _classify(message: Message, part: MessagePart) -> What:
    reminder = part.kind is PartKind.OTHER and part.where == (ATTACHMENT,)
    if part.media or reminder or part.text.startswith(REMINDER):
        return "attachments"
    if message.role in SYSTEM_ROLES:
        return "system"
    if message.role == "damaged":
        return "unreadable"
    if part.kind is PartKind.OTHER:
        return "thinking"
    return "assistant" if message.role == "assistant" else "user"
