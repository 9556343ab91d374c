"""Proofs of what would change a decision, for every kind of context: by deciding again, never estimated.

A kind gives `Trials`: its items, and their states at another budget or another value of a knob. All of it is pure.
"""

from typing import TYPE_CHECKING

from secateur.submodules import import_on_demand

if not TYPE_CHECKING:  # for the type checker, users import the modules themselves
    __getattr__ = import_on_demand(__name__)
