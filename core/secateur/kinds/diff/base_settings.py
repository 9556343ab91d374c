"""Notices about changes that edit the repository's own settings.

A pull request must not decide through `secateur.toml` which of its own changes are shown: the settings at the base
count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from secateur.errors import ConfigError
from secateur.kinds.diff.changes import Diff, Treatment
from secateur.kinds.diff.notes import SETTINGS_CHANGED
from secateur.model import Notice
from secateur.settings import FILE_NAME, Committed, keys
from secateur.sources.committed_settings import SETTINGS_FILES

_NAMED = 8
"""Most keys that a notice names."""


def distrust_notice(diff: Diff, origins: Mapping[str, str]) -> Notice | None:
    """A notice if a diff without its repository may have written the settings on disk, which then do not count.

    Args:
        origins: the origin of each setting in force.
    """
    touched = {path.rpartition("/")[2] for change in diff.changes for path in (change.path, change.old_path)}
    touched |= {
        name for name in SETTINGS_FILES for change in diff.changes if change.fault and name in change.text
    }  # damage may hide a header
    used = {name for name in SETTINGS_FILES if any(origin.startswith(name) for origin in origins.values())}
    file = next((name for name in SETTINGS_FILES if name in touched and (name in used or name == FILE_NAME)), None)
    if file is None:
        return None
    return Notice(
        SETTINGS_CHANGED,
        f"The diff changes {file}. What that said before is not in a diff, so no settings of the repository are used.",
    )


def settings_notice(before: Committed, diff: Diff, contents: Mapping[str, bytes | None]) -> Notice | None:
    """A notice if a diff changes the repository's settings, else None.

    Args:
        contents: the new content of each file, by path; None if it was not read.
    """
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
    more = f" and {len(changed) - _NAMED:,} more" if len(changed) > _NAMED else ""
    which = f" ({', '.join(changed[:_NAMED])}{more})" if changed else ""
    return Notice(
        SETTINGS_CHANGED,
        f"This change edits settings in {file}{which}. The chunks are made with those from before it, {before.place}.",
    )


def _list_keys(table: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the known keys that a table sets, with their values."""
    for name, value in table.items():
        if prefix + name in keys():
            yield prefix + name, value
        elif isinstance(value, Mapping):
            yield from _list_keys(value, f"{prefix}{name}.")
