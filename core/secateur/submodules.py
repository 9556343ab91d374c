"""Modules of a package that are imported when they are first used, and not with what may need them.

from secateur import retrieval      # in the package: __getattr__ = on_demand(__name__)
retrieval.walk.walk_of(calls)       # `secateur.retrieval.walk` is imported here
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def on_demand(package: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of such a package; raises AttributeError where it has no module of that name."""

    def module(name: str) -> ModuleType:
        try:
            return import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return module
