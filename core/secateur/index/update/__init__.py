"""Keeps the index up to date with its source."""

from typing import TYPE_CHECKING

from secateur.submodules import import_on_demand

if not TYPE_CHECKING:  # for the type checker, users import the modules themselves
    __getattr__ = import_on_demand(__name__)
