"""The rule about links, for `secateur check` and the plugin of pytest. It is light: collecting tests imports it."""

from collections.abc import Callable
from pathlib import Path


def behind_link(path: Path, is_named: Callable[[Path], bool]) -> bool:
    """Tells whether a path is a link, or lies behind one, that nobody named: links below a named folder may have come
    with the repository, and are not followed."""
    for part in (path, *path.parents):
        if is_named(part):
            return False
        if part.is_symlink():
            return True
    return False
