"""Writes the section of every chunk about its diff: settings that the change edits, and files left out with their rule.

A reader of a chunk cannot see what is missing. The section is bounded, and charged like the other injected text. Pure.
A pull request must not decide through `secateur.toml` which of its own changes are shown: the settings at the base
count, and a notice says so.
"""

from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from secateur.errors import ConfigError
from secateur.kinds.diff.changes import Diff, Treatment
from secateur.kinds.diff.chunk_text import LONGEST_PLACE, one_line
from secateur.kinds.diff.skip_rules import Verdict
from secateur.model import Notice, Reason
from secateur.render.markdown import heading
from secateur.render.page import listed
from secateur.settings import FILE_NAME, Committed, keys
from secateur.sources.committed import SETTINGS_FILES
from secateur.tokens import Counter

# Code of the notice that a change edits the repository's settings; the old settings count.
SETTINGS_CHANGED = "settings_changed"

RULES_CHANGED = "rules_changed"  # code of the notice that a change edits the project's rules; the old rules count
# The file of instructions of the spec. It goes into chunks only on request: the change may have written it.
SKILL_FILE = "SKILL.md"

MOST_TOKENS = 240
SHARE = 8  # the section takes at most `MOST_TOKENS`, and at most 1/`SHARE` of a chunk
# Numbers of files to name, tried in this order until the section fits; other files are counted.
_NAME_COUNTS = (12, 8, 5, 3, 2, 1, 0)

_SHOWN_CODES = (SETTINGS_CHANGED, RULES_CHANGED)
# Rules whose files are only counted: their names say nothing about the change.
_COUNTED = (Reason.BINARY, Reason.LOCKFILE)


def skill_notice(path: str) -> Notice:
    """The notice that a file of instructions exists and is not used; `path` is how --skill takes it."""
    return Notice("skill_not_used", f"{SKILL_FILE} is there and not used; --skill {path} puts it into every chunk.")


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
    messages = [notice.message for notice in notices if notice.code in _SHOWN_CODES]
    notice_lines = [f"- {one_line(message, 2 * LONGEST_PLACE)}\n" for message in messages]
    for named in _NAME_COUNTS:
        if not (lines := notice_lines + _list_left_out(left_out, of, named)):
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


_NAMED = 8  # most keys that a notice names


def distrust_notice(diff: Diff, origins: Mapping[str, str]) -> Notice | None:
    """A notice if a diff without its repository may have written the settings on disk, which then do not count.
    `origins`: the origin of each setting in force."""
    touched = {path.rpartition("/")[2] for change in diff.changes for path in (change.path, change.old_path)}
    damaged = [change.text for change in diff.changes if change.fault]  # damage may hide a header
    touched |= {name for name in SETTINGS_FILES for text in damaged if name in text}
    used = {name for name in SETTINGS_FILES if any(origin.startswith(name) for origin in origins.values())}
    file = next((name for name in SETTINGS_FILES if name in touched and (name in used or name == FILE_NAME)), None)
    if file is None:
        return None
    message = "What that said before is not in a diff, so no settings of the repository are used."
    return Notice(SETTINGS_CHANGED, f"The diff changes {file}. {message}")


def settings_notice(before: Committed, diff: Diff, contents: Mapping[str, bytes | None]) -> Notice | None:
    """A notice if a diff changes the repository's settings, else None. `contents`: the new content of each file, by
    path; None if it was not read."""
    after: dict[str, bytes] = dict(before.files)
    unread = False
    for change in diff.changes:
        if change.old_path in SETTINGS_FILES and change.treatment in (Treatment.DELETED, Treatment.RENAMED):
            after.pop(change.old_path, None)
        if change.path in SETTINGS_FILES and change.treatment is not Treatment.DELETED:
            content = contents.get(change.path)
            unread = unread or content is None
            after[change.path] = content or b""
    if after == before.files and not unread:
        return None
    try:
        old, new = (committed.table() for committed in (before, Committed(after, "as changed")))
    except ConfigError:
        unread, old, new = True, None, None
    old_values, new_values = (dict(_list_keys(table[1])) if table else {} for table in (old, new))
    changed = [name for name in keys() if old_values.get(name) != new_values.get(name)]
    if not changed and not unread:
        return None
    file = next((table[0] for table in (new, old) if table), FILE_NAME)
    which = f" ({listed(changed, _NAMED)})" if changed else ""
    message = f"The chunks are made with those from before it, {before.place}."
    return Notice(SETTINGS_CHANGED, f"This change edits settings in {file}{which}. {message}")


def _list_keys(table: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if prefix + name in keys():
            yield prefix + name, value
        elif isinstance(value, Mapping):
            yield from _list_keys(value, f"{prefix}{name}.")
