"""Writes the section of every chunk about its diff: settings that the change edits, and files left out with their rule.

A reader of a chunk cannot see what is missing. The section is bounded, and charged like the other injected text. Pure.
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
"""Code of the notice that a change edits the repository's settings; the old settings count."""

RULES_CHANGED = "rules_changed"
"""Code of the notice that a change edits the project's rules; the old rules count."""

SKILL_FILE = "SKILL.md"
"""The file of instructions of the spec. It goes into chunks only on request: the change may have written it."""

MOST_TOKENS = 240
SHARE = 8
"""The section takes at most `MOST_TOKENS`, and at most 1/`SHARE` of a chunk."""

_NAME_COUNTS = (12, 8, 5, 3, 2, 1, 0)
"""Numbers of files to name, tried in this order until the section fits; other files are counted."""

_SHOWN_CODES = (SETTINGS_CHANGED, RULES_CHANGED)
_COUNTED = (Reason.BINARY, Reason.LOCKFILE)
"""Rules whose files are only counted: their names say nothing about the change."""


def skill_notice(path: str) -> Notice:
    """The notice that a file of instructions exists and is not used; `path` is how --skill takes it."""
    return Notice("skill_not_used", f"{SKILL_FILE} is there and not used; --skill {path} puts it into every chunk.")


def room_for_notes(limit: int) -> int:
    """The most tokens the section may take in chunks of `limit` tokens."""
    return min(MOST_TOKENS, limit // SHARE)


def notes(
    notices: Sequence[Notice], left_out: Sequence[tuple[str, Verdict]], of: int, room: int, counter: Counter
) -> str:
    """Writes the section with as many names as fit; "" if it is empty or not even one line fits.

    Args:
        notices: all of the run; only those about settings and rules are shown.
        left_out: path and verdict of each file that is in no chunk.
        of: number of changed files.
        room: tokens the section may take.
    """
    notice_lines = [
        f"- {one_line(notice.message, 2 * LONGEST_PLACE)}\n" for notice in notices if notice.code in _SHOWN_CODES
    ]
    for named in _NAME_COUNTS:
        lines = notice_lines + _list_left_out(left_out, of, named)
        if not lines:
            return ""
        text = "".join([heading(2, "About This Diff"), *lines, "\n"])
        if counter.count(text) <= room:
            return text
    return ""


def _list_left_out(left_out: Sequence[tuple[str, Verdict]], of: int, named: int) -> list[str]:
    if not left_out:
        return []
    by_rule = sorted(Tally(verdict.rule.label for _, verdict in left_out).items())
    shown = ", ".join(f"{rule} {count:,}" for rule, count in by_rule)
    lines = [f"- {len(left_out):,} of {of:,} changed files are left out: {shown}.\n"]
    worth_naming = [entry for entry in left_out if entry[1].rule not in _COUNTED]
    for path, verdict in worth_naming[:named]:
        rule, matched = verdict.words
        detail = f" (`{one_line(matched, LONGEST_PLACE)}`)" if matched else ""
        lines.append(f"- `{one_line(path, 2 * LONGEST_PLACE)}`: {rule}{detail}\n")
    if 0 < named < len(worth_naming):
        lines.append(f"- and {len(worth_naming) - named:,} more.\n")
    return lines
