"""Imports modules of a package at their first use, instead of together with the package.

from secateur import retrieval      # in the package: __getattr__ = on_demand(__name__)
retrieval.walk.walk_of(calls)       # `secateur.retrieval.walk` is imported here
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def import_on_demand(package: str) -> Callable[[str], ModuleType]:
    """Returns the `__getattr__` for such a package; it raises AttributeError for a missing module."""

    def module(name: str) -> ModuleType:
        try:
            return import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return module
