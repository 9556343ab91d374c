"""The one rule for a path that came with a folder, in a scenario, a recording, or an agent's call: it must resolve to a
place inside that folder, and not inside `.git`. What the text begins with does not matter.

    confine_path("src/cart.py", root)       # the real path
    confine_path("logs/ci.log", root)       # raises LeadsOut if it is a link to /etc/passwd
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from secateur.errors import reason_of

MAGIC = re.compile(r"[*?\[]")  # characters that make a part of a path a pattern
_GIT_DATA = ".git"


class LeadsOut(ValueError):
    """A path does not resolve to a place in its folder. Its text says what it does instead: "leads out of …"."""


def confine_path(text: str, folder: Path, noun: str = "the repository") -> Path:
    """Returns the real path that a text names in a folder. It need not exist.

    Args:
        text: a path or a pattern with `/`, relative to the folder or absolute. For a pattern, the parts before the
            first wildcard are checked, and the whole text as if it were a file name.
        noun: the folder's name in errors.

    Raises:
        LeadsOut: it lies outside, by `..` or through a link; it lies in the data of git; it cannot be resolved.
    """
    path = PurePosixPath(text)
    depth = 0
    for part in () if path.is_absolute() else path.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            raise LeadsOut(f"leads out of {noun}")
        if part.lower() == _GIT_DATA:
            raise LeadsOut("leads into the data of git")
    magic = next((index for index, part in enumerate(path.parts) if MAGIC.search(part)), None)
    if magic is not None:
        if ".." in path.parts[magic:]:
            raise LeadsOut(f"leads out of {noun}")
        confine_path("/".join(path.parts[:magic]), folder, noun)
    try:
        home, real = folder.resolve(), (folder / text).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # too long, a ring of links, NUL
        raise LeadsOut(f"cannot be read: {reason_of(error)}") from error
    if not real.is_relative_to(home):
        raise LeadsOut(f"{'leads' if path.is_absolute() else 'is a link that leads'} out of {noun}")
    if any(part.lower() == _GIT_DATA for part in real.relative_to(home).parts):
        raise LeadsOut("leads into the data of git")
    return real
