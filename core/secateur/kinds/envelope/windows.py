"""Knows the context windows of models, and derives a budget from them if none is given.

The table is data (`windows.toml`); `[context_budget] windows` adds to it and overrides it. A name matches exactly, or
without the additions of providers (`openai/`, `us.anthropic.`, a date, `-latest`, `-preview`, `-v1:0`); dots and dashes
are equal (`claude-opus-4.6`). Nothing is guessed from a family: a model that matches nothing has no known window.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

import tomli

from secateur.errors import PromptComposeError
from secateur.model import Notice
from secateur.settings import ContextBudget
from secateur.suggestions import suggestion
from secateur.tokens import SAFETY_FACTORS


def _table() -> Mapping[str, int]:
    """Reads the table in the package: model -> tokens."""
    rows = tomli.loads(files("secateur.kinds.envelope").joinpath("windows.toml").read_text("utf-8"))["windows"]
    return MappingProxyType({model: row["tokens"] for row in rows for model in row["models"]})


WINDOWS: Mapping[str, int] = _table()
"""Model -> tokens of its window, prompt and answer together."""

LONGEST_NAME = 200
"""Longest name of a model that is looked up, in characters."""

_PREFIX = re.compile(r"^(?:[a-z-]{2,12}\.)?(?:anthropic|meta|mistral|openai|deepseek|qwen)\.")
_SUFFIX = re.compile(r"(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{4}|-\d{3}|@\d{8}|[-:@]latest|-preview|-instruct|-v\d(?::\d)?)$")


@dataclass(frozen=True, slots=True)
class Budget:
    """The tokens of one call: for the context, and reserved for the answer."""

    context: int
    reserve: int
    notices: tuple[Notice, ...] = ()


def window_of(model: str, more: Mapping[str, int] | None = None) -> int | None:
    """Tokens of the model's window, None if unknown. `more` overrides the table; case does not matter.

    >>> window_of("openai/gpt-4o-2024-08-06")
    128000
    """
    if len(model) > LONGEST_NAME:
        return None
    known = {_normalise(name): size for name, size in (*WINDOWS.items(), *(more or {}).items())}
    name = model.strip().casefold()
    for candidate in (name, name.rpartition("/")[2], _PREFIX.sub("", name.rpartition("/")[2])):
        while _normalise(candidate) not in known and _SUFFIX.search(candidate):
            candidate = _SUFFIX.sub("", candidate)
        if _normalise(candidate) in known:
            return known[_normalise(candidate)]
    return None


def _normalise(name: str) -> str:
    return name.casefold().replace(".", "-")


def budget_of(model: str, context: int | None, reserve: int | None, settings: ContextBudget, counter: str) -> Budget:
    """Returns budget and reserve: the caller's, else `context_budget.tokens` and `reserve`; 0 is derived from the
    model's window (70 / 30, `context_budget.context_share`).

    A derived part leaves room for the given one. For a model with a given budget and an unknown window, only the
    caller's reserve counts.

    Raises:
        PromptComposeError: a budget is negative or not an integer; or none is given, and the window is unknown or
            completely reserved.
    """
    if not isinstance(model, str):
        raise PromptComposeError(f"model is {_type_name(model)}, not a text", hint="name the model, for example gpt-4o")
    context = _check_number("context_token_budget", context) or settings.tokens
    reserve = _check_number("reserve_for_response", reserve) or settings.reserve
    window = window_of(model, settings.windows)
    notices = list(_tokenizer_notices(model, counter))
    if window is None:
        if not context and not model.strip():
            hint = "name the model the envelope is for, or set a budget"
            raise PromptComposeError("no model is named, and no budget is set", hint=hint)
        if not context:
            near = suggestion(model, (*WINDOWS, *settings.windows))
            guess = f"did you mean {near}? " if near else ""
            raise PromptComposeError(
                f"the window of model {model[:100]!r} is not known, so no budget follows from it",
                hint=f"{guess}give a context budget, or set context_budget.windows",
            )
        notices.append(
            Notice("unknown_window", f"The window of model {model[:100]!r} is not known: the budget is taken as given.")
        )
        return Budget(context, reserve, tuple(notices))
    share = int(window * settings.context_share + 1e-6)  # 0.7 x 128,000 is 89,600, whatever binary fractions say
    if not context:
        context = min(share, window - reserve)
        if context < 1:
            hint = "reserve less, or give a context budget"
            raise PromptComposeError(
                f"reserve_for_response {reserve:,} leaves nothing of the {window:,} tokens of {model}", hint=hint
            )
    reserve = reserve or max(0, min(window - share, window - context))
    if context + reserve > window:
        notices.append(
            Notice(
                "window_overrun",
                f"Budget {context:,} and reserve {reserve:,} together are more than the {window:,} tokens of {model}.",
            )
        )
    return Budget(context, reserve, tuple(notices))


def _tokenizer_notices(model: str, counter: str) -> list[Notice]:
    """Warns if the model's own tokenizer may count far more; the factors apply to o200k counts."""
    name = model.strip().casefold().rpartition("/")[2]
    factor = max((factor for family, factor in SAFETY_FACTORS.items() if name.startswith(family)), default=1.0)
    if factor <= 1 or counter in ("cl100k_base", "chars4"):
        return []
    return [
        Notice(
            "other_tokenizer", f"Counted with {counter}: {model[:100]} may count up to {factor:g} times as many tokens."
        )
    ]


def _check_number(name: str, value: int | None) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise PromptComposeError(
            f"{name} is {_type_name(value)}, not an integer", hint="0 or None: derived from the model's window"
        )
    if value < 0:
        raise PromptComposeError(f"{name} is negative", hint="0 or None: derived from the model's window")
    return value


def _type_name(value: object) -> str:
    return f"a {type(value).__name__}"
