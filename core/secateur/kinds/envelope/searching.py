"""Finds how far a value has to be shortened: the first of a row of steps that makes the whole fit, with few
recounts."""

from __future__ import annotations

from collections.abc import Callable

BISECT_EVERY = 3
"""Every third probe halves what is left: whatever the sizes of the steps, the number of probes is logarithmic."""


def first_that_fits(
    size: int,
    apply: Callable[[int], int],
    budget: int,
    before: int,
    after: int,
    guess: int = 0,
) -> tuple[int, int]:
    """(step, its tokens), with that step applied: it fits, and the step before it does not.

    Tokens fall from step to step but for the odd one where they rise: of several such steps, one is found.

    Args:
        size: number of the last step, which fits; step 0 does not.
        apply: brings the value to a step and returns the tokens of the whole there.
        before, after: tokens of the whole at step 0 and at the last step.
        guess: the step that is tried first; 0: where a straight line between both ends would meet the budget.
    """
    low, high, at_low, at_high, probes = 0, size, before, after, 0
    applied = -1
    while high - low > 1:
        probes += 1
        if probes == 1 and guess:
            step = guess
        elif probes % BISECT_EVERY == 0:
            step = (low + high) // 2
        else:  # rounded up: the budget holds
            step = low - (budget - at_low) * (high - low) // max(1, at_low - at_high)
        step = min(max(step, low + 1), high - 1)
        tokens, applied = apply(step), step
        if tokens <= budget:
            high, at_high = step, tokens
        else:
            low, at_low = step, tokens
    if applied != high:
        apply(high)
    return high, at_high
