"""Decisions to lay beside the present one: another profile, another budget, another commit, the ghost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.errors import UsageError, shown
from secateur.kinds.base import Kind
from secateur.kinds.knobs import profiles_of
from secateur.settings import Settings, with_profile
from secateur.suggestions import suggestion

GHOST = "ghost"
"""The word for the answer that the present one is compared with already."""

COMMIT = "@"
"""The beginning of a commit: a branch may be called like a profile, or like a number."""


_DIGITS = 19
"""Digits from which a number is no budget: it would leave the range of every integer we keep."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Settings and inputs that differ from the present ones in one thing; `ghost`: the baseline, decided already."""

    label: str
    settings: Settings
    inputs: Mapping[str, Any]
    ghost: bool = False


def offered(kind: Kind[Any, Any], settings: Settings, in_force: int, *, ghost: bool) -> Sequence[str]:
    """Words worth typing, the likeliest first: other profiles, half and double the budget, a commit, the ghost."""
    words = [name for name in profiles_of(settings) if name != settings.profile]
    words += [f"{budget:,}" for budget in (in_force // 2, in_force * 2) if budget > 0]
    words += [COMMIT + "HEAD~1"] if commit_input(kind) else []
    return [*words, *([GHOST] if ghost else [])]


def commit_input(kind: Kind[Any, Any]) -> str:
    """Returns the input that names the commit that is read, of several revisions the last; "" for none: what is on disk
    is read, whatever was committed."""
    return next((one.name for one in reversed(kind.inputs) if one.role == "revision"), "")


def alternative(
    text: str, kind: Kind[Any, Any], settings: Settings, inputs: Mapping[str, Any], *, ghost: bool
) -> Alternative:
    """Returns what a word stands for: a profile, a budget ("8,000"), a commit ("@HEAD~3"), or "ghost".

    Raises:
        UsageError: it stands for none of them.
    """
    word = text.strip()
    if word == GHOST and ghost:
        return Alternative(GHOST, settings, inputs, ghost=True)
    if word in profiles_of(settings):
        return Alternative(f"profile {word}", with_profile(settings, word), inputs)
    if (digits := word.replace(",", "").replace("_", "")).isascii() and digits.isdigit() and len(digits) < _DIGITS:
        return Alternative(f"budget {int(digits):,}", kind.budget.put(settings, int(digits)), inputs)
    commit = commit_input(kind)
    if word.startswith(COMMIT) and len(word) > 1 and commit:
        return Alternative(f"commit {shown(word[1:])}", settings, {**inputs, commit: word[1:]})
    words = offered(kind, settings, 0, ghost=ghost)
    near = suggestion(word, words)
    takes = "a profile, a budget" + (", a commit (@HEAD~3)" if commit else "") + (", ghost" * ghost)
    if word.startswith(COMMIT) and not commit:
        raise UsageError("what is read here is on disk, and of no commit", hint=takes)
    raise UsageError(
        f"{shown(word) or 'an empty text'} is nothing to compare with",
        hint=(f"did you mean {near}? " if near else "") + takes,
    )
