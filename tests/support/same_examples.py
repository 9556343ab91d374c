"""A work-around for Hypothesis, whose derandomised examples are not a function of the test alone.

Hypothesis (6.131 and newer) takes part of its examples from the constants in the source of our modules, and only of
those that happen to be loaded. So the order of the tests, a `-k` or the worker a test runs on would choose the
examples, and a change of one file those of a hundred properties. There is no public setting for it.
"""

from __future__ import annotations

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


def without_constants_of_loaded_modules(patch: pytest.MonkeyPatch) -> None:
    """Leave those constants out. Exploring keeps them: they find faults, and its seed repeats them in the same
    order."""
    patch.setattr(providers, "_get_local_constants", Constants)
    providers.CONSTANTS_CACHE.cache.clear()
