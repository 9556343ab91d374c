"""Proofs of what would change a decision, for every kind of context: by deciding again, never estimated.

A kind is seen through `Trials`: items, and what becomes of them at a budget or at another value of a knob. Pure.
"""

from typing import TYPE_CHECKING

from secateur.submodules import import_on_demand

if not TYPE_CHECKING:  # who names a module says so to the type checker
    __getattr__ = import_on_demand(__name__)
