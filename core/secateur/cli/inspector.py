"""Loads the inspector from its entry point, so that the engine imports no UI."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from secateur.errors import UsageError

GROUP = "secateur.inspector"


def load_inspector() -> Callable[..., Any]:
    """Loads the function that opens the inspector, or draws a recording. Raises UsageError: it is not installed."""
    entry_point = next(iter(entry_points(group=GROUP)), None)
    if entry_point is None:
        raise UsageError("the inspector is not installed", hint="install the whole distribution: pip install secateur")
    inspector: Callable[..., Any] = entry_point.load()
    return inspector
