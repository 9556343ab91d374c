"""Decisions to compare with the present one: another profile, budget or commit, or the ghost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.errors import UsageError, shown
from secateur.kinds.base import Kind
from secateur.kinds.knobs import profiles_of
from secateur.settings import Settings, with_profile
from secateur.sources.location import locate
from secateur.sources.named import is_named
from secateur.suggestions import suggestion

GHOST = "ghost"
"""The word for the baseline, which the present answer is compared with already."""

COMMIT = "@"
"""The prefix of a commit, because a branch may have the name of a profile or be a number."""


_DIGITS = 19
"""Digits from which a number is not a budget, because it would overflow a 64-bit integer."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Settings and inputs that differ from the present ones in one thing; `ghost`: the baseline, decided already."""

    label: str
    settings: Settings
    inputs: Mapping[str, Any]
    ghost: bool = False


def propose_words(
    kind: Kind[Any, Any], settings: Settings, inputs: Mapping[str, Any], in_force: int, *, ghost: bool
) -> Sequence[str]:
    """Returns words worth typing, the likeliest first: other profiles, half and double the budget, a commit where there
    may be one, the ghost."""
    words = [name for name in profiles_of(settings) if name != settings.profile]
    words += [f"{budget:,}" for budget in (in_force // 2, in_force * 2) if budget > 0]
    words += [COMMIT + "HEAD~1"] if find_commit_input(kind) and _may_have_commits(inputs) else []
    return [*words, *([GHOST] if ghost else [])]


def _may_have_commits(inputs: Mapping[str, Any]) -> bool:
    path = str(inputs.get("path") or ".")
    try:
        return is_named(path) or not Path(path).is_dir() or locate(Path(path)) is not None
    except OSError:  # such as a name that is too long: reading it reports that
        return True


def find_commit_input(kind: Kind[Any, Any]) -> str:
    """Returns the input that names the commit that is read, of several revisions the last; "" for none: what is on disk
    is read, whatever was committed."""
    return next((known.name for known in reversed(kind.inputs) if known.role == "revision"), "")


def parse_alternative(
    text: str, kind: Kind[Any, Any], settings: Settings, inputs: Mapping[str, Any], *, ghost: bool
) -> Alternative:
    """Returns what a word stands for: a profile, a budget ("8,000"), a commit ("@HEAD~3"), or "ghost".

    Raises:
        UsageError: it stands for nothing to compare with.
    """
    word = text.strip()
    if word == GHOST and ghost:
        return Alternative(GHOST, settings, inputs, ghost=True)
    if word in profiles_of(settings):
        return Alternative(f"profile {word}", with_profile(settings, word), inputs)
    if (digits := word.replace(",", "").replace("_", "")).isascii() and digits.isdigit() and len(digits) < _DIGITS:
        return Alternative(f"budget {int(digits):,}", kind.budget.put(settings, int(digits)), inputs)
    commit = find_commit_input(kind)
    if word.startswith(COMMIT) and len(word) > 1 and commit:
        return Alternative(f"commit {shown(word[1:])}", settings, {**inputs, commit: word[1:]})
    words = propose_words(kind, settings, inputs, 0, ghost=ghost)
    near = suggestion(word, words)
    takes = "type a profile, a budget" + (", a commit (@HEAD~3)" if commit else "") + (", ghost" * ghost)
    if word.startswith(COMMIT) and not commit:
        raise UsageError("what is read here is on disk, and of no commit", hint=takes)
    raise UsageError(
        f"there is no profile {shown(word)}" if word else "nothing is typed yet",
        hint=f"did you mean {near}?" if near else takes,
    )
