"""Finds the candidates of a query, and explains how they were found."""

from typing import TYPE_CHECKING

from secateur.submodules import import_on_demand

if not TYPE_CHECKING:  # who names a module says so to the type checker
    __getattr__ = import_on_demand(__name__)
