"""Imports modules of a package at their first use, instead of together with the package.

from secateur import render         # in the package: __getattr__ = on_demand(__name__)
render.text.search_page(selection)  # `secateur.render.text` is imported here
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
