"""The inspector as the commands know it: found through an entry point, so that the engine knows no screen."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from secateur.errors import UsageError

GROUP = "secateur.inspector"


def installed_inspector() -> Callable[..., Any]:
    """The function that opens the inspector, or draws a recording.

    Raises:
        UsageError: it is not installed.
    """
    found = next(iter(entry_points(group=GROUP)), None)
    if found is None:
        raise UsageError("the inspector is not installed", hint="install the whole distribution: pip install secateur")
    inspector: Callable[..., Any] = found.load()
    return inspector
