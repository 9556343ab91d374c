"""The section of every chunk about the diff it is from: settings that the change edits, files that are left out and by
which rule.

A reader of a chunk cannot see what is not in it. The section is bounded, and charged like everything else that goes
into each chunk. Pure.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence

from secateur.kinds.diff.chunk_text import LONGEST_PLACE, one_line
from secateur.kinds.diff.skip_rules import Verdict
from secateur.model import Notice, Reason
from secateur.render.markdown import heading
from secateur.tokens import Counter

SETTINGS_CHANGED = "settings_changed"
"""Code of the notice that a change edits the repository's settings, which count as they were before it."""

RULES_CHANGED = "rules_changed"
"""Code of the notice that a change edits the project's rules, which are those from before it."""

SKILL_FILE = "SKILL.md"
"""The file of instructions that the spec names. It goes into the chunks where it is asked for: it may be the change's
own."""

MOST_TOKENS = 240
SHARE = 8
"""The section takes at most so many tokens, and at most this part of a chunk (an eighth)."""

_NAMED = (12, 8, 5, 3, 2, 1, 0)
"""Files that are named, the most that fit; the others are counted."""

_TOLD = (SETTINGS_CHANGED, RULES_CHANGED)
_COUNTED = (Reason.BINARY, Reason.LOCKFILE)
"""Rules whose files are counted and not named: their names say nothing of the change."""


def skill_seen(place: str) -> Notice:
    """The notice that there are instructions at `place` which nobody asked for."""
    return Notice("skill_not_used", f"{SKILL_FILE} is there and not used; --skill {place} puts it into every chunk.")


def room_for_notes(limit: int) -> int:
    """The most tokens the section may take in chunks of `limit` tokens."""
    return min(MOST_TOKENS, limit // SHARE)


def notes(
    notices: Sequence[Notice], left_out: Sequence[tuple[str, Verdict]], of: int, room: int, counter: Counter
) -> str:
    """The section with as many names as fit; "" where there is nothing to say or not even a line has room.

    Args:
        notices: of the run; those about settings and rules go in.
        left_out: path and verdict of each file that is in no chunk.
        of: changed files in all.
        room: tokens the section may take.
    """
    told = [f"- {one_line(notice.message, 2 * LONGEST_PLACE)}\n" for notice in notices if notice.code in _TOLD]
    for named in _NAMED:
        lines = told + _left_out(left_out, of, named)
        if not lines:
            return ""
        text = "".join([heading(2, "About This Diff"), *lines, "\n"])
        if counter.count(text) <= room:
            return text
    return ""


def _left_out(left_out: Sequence[tuple[str, Verdict]], of: int, named: int) -> list[str]:
    if not left_out:
        return []
    by_rule = sorted(Tally(verdict.rule.label for _, verdict in left_out).items())
    shown = ", ".join(f"{rule} {count:,}" for rule, count in by_rule)
    lines = [f"- {len(left_out):,} of {of:,} changed files are left out: {shown}.\n"]
    telling = [entry for entry in left_out if entry[1].rule not in _COUNTED]
    for path, verdict in telling[:named]:
        rule, matched = verdict.words
        detail = f" (`{one_line(matched, LONGEST_PLACE)}`)" if matched else ""
        lines.append(f"- `{one_line(path, 2 * LONGEST_PLACE)}`: {rule}{detail}\n")
    if 0 < named < len(telling):
        lines.append(f"- and {len(telling) - named:,} more.\n")
    return lines
