"""Proofs of what would change a decision, for every kind of context: by deciding again, never estimated.

A kind is seen through `Trials`: items, and what becomes of them at a budget or at another value of a knob. Pure.
"""
