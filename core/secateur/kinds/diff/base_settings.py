"""A repository's settings as they were before a change, and what the change does to them.

What a pull request writes into `secateur.toml` must not decide what of the pull request is shown: the settings at the
base of what is compared count.
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
"""Keys a notice names before it only counts."""


def distrusted(diff: Diff, origins: Mapping[str, str]) -> Notice | None:
    """A notice where a diff that is all there is may have written the settings that a run found on disk: they are not
    to count then.

    Args:
        origins: where each setting in force is from.
    """
    touched = {path.rpartition("/")[2] for change in diff.changes for path in (change.path, change.old_path)}
    touched |= {
        name for name in SETTINGS_FILES for change in diff.changes if change.fault and name in change.text
    }  # damage may hide a header
    found = {name for name in SETTINGS_FILES if any(origin.startswith(name) for origin in origins.values())}
    file = next((name for name in SETTINGS_FILES if name in touched and (name in found or name == FILE_NAME)), None)
    if file is None:
        return None
    return Notice(
        SETTINGS_CHANGED,
        f"The diff changes {file}. What that said before is not in a diff, so no settings of the repository are used.",
    )


def settings_notice(before: Committed, diff: Diff, contents: Mapping[str, bytes | None]) -> Notice | None:
    """A notice where a diff changes the repository's settings; None where it does not.

    Args:
        contents: by path, of the files as changed; None for what was not read.
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
    was, becomes = (dict(_set_in(found[1])) if found else {} for found in (old, new))
    changed = [name for name in keys() if was.get(name) != becomes.get(name)]
    if not changed and not unread:
        return None
    file = next((found[0] for found in (new, old) if found), FILE_NAME)
    more = f" and {len(changed) - _NAMED:,} more" if len(changed) > _NAMED else ""
    which = f" ({', '.join(changed[:_NAMED])}{more})" if changed else ""
    return Notice(
        SETTINGS_CHANGED,
        f"This change edits settings in {file}{which}. The chunks are made with those from before it, {before.place}.",
    )


def _set_in(table: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The known keys that a table sets."""
    for name, value in table.items():
        if prefix + name in keys():
            yield prefix + name, value
        elif isinstance(value, Mapping):
            yield from _set_in(value, f"{prefix}{name}.")
