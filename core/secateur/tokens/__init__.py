"""Token counters: exact ones for three encodings, a calibrated estimate, characters / 4.

    counter = get_counter("o200k_base")
    counter.count(text)                       # the vocabulary is loaded here, at the first count

All counting goes through this package. It takes time linear in the text and works for every text: strings that look
like special tokens are ordinary text, and lone surrogates and a million equal characters are counted too. It uses no
network and writes no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from secateur.errors import TokenizerError

# Model family -> its encoding, as tiktoken's table of models has it. The longest name that fits counts.
ENCODINGS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("gpt-4", "gpt-3.5", "gpt-35", "text-embedding"), "cl100k_base"),
        **dict.fromkeys(("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-4o"), "o200k_base"),
        **dict.fromkeys(("o1", "o3", "o4", "codex"), "o200k_base"),
    }
)

# Model family -> factor over o200k: the upper end of the measured range, because exceeding a budget is worse than not
# using all of it.
SAFETY_FACTORS: Mapping[str, float] = MappingProxyType(
    {
        "qwen3.5": 1.3,  # 1.06 to 1.16 on code of 17 languages, 95 % of pieces of any kind within 1.28
        "claude": 1.9,  # unpublished; the reconstruction `ctok` 1.3 puts code at 1.2 to 1.9
    }
)

DEFAULT_COUNTER = "o200k_base"
LONGEST_MODEL = 200  # characters of a model's name that are looked at
# All names that `get_counter` knows, which are the choices of `tokens.counter`.
COUNTERS = ("o200k_base", "cl100k_base", "o200k_harmony", "estimate", "chars4")


class Counter(Protocol):
    """Counts the tokens of texts. Safe to share between threads and to send to another process."""

    name: str
    exact: bool  # True if the counts are those of the named encoding. Otherwise they must be shown as estimated.

    def count(self, text: str) -> int: ...
    def count_many(self, texts: Iterable[str]) -> list[int]: ...
    def load(self) -> None: ...  # prepares for much text


def get_counter(name: str = DEFAULT_COUNTER) -> Counter:
    """Returns the counter called `name`, one of COUNTERS. Cheap: loads nothing yet. Raises TokenizerError: there is no
    such counter."""
    if name not in COUNTERS:
        raise TokenizerError(
            f"there is no token counter {name!r}", hint="tokens.counter is one of " + ", ".join(COUNTERS)
        )
    if name in ("estimate", "chars4"):
        from secateur.tokens.estimate import CharacterCounter, EstimateCounter

        return EstimateCounter() if name == "estimate" else CharacterCounter()
    from secateur.tokens.exact import ExactCounter

    return ExactCounter(name)


class ScaledCounter:
    """Counts in the tokens of a model whose tokenizer is not known: those of another counter times a factor."""

    exact = False

    def __init__(self, counter: Counter, factor: float) -> None:
        self.name, self.load = f"{counter.name} x {factor:g}", counter.load
        self._counter, self._factor = counter, factor

    def count(self, text: str) -> int:
        return round(self._counter.count(text) * self._factor)

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [round(count * self._factor) for count in self._counter.count_many(texts)]


def _find_family(model: str, families: Iterable[str]) -> str:
    """The longest family that begins a model's name, or begins it after a provider's: `openai/gpt-4-0613`."""
    name = model[:LONGEST_MODEL].casefold()
    return max(
        (one for one in families if re.search(rf"(?:^|[/.:]){re.escape(one)}(?![a-z0-9])", name)), key=len, default=""
    )


def encoding_of(model: str) -> str:
    """Returns the encoding of a model; "" if it is not built in."""
    return ENCODINGS.get(_find_family(model, ENCODINGS), "")


def counter_for(model: str, counter: Counter, *, safe: bool = False) -> Counter:
    """Returns the counter of a model's own encoding in place of the default counter, if it is built in. With `safe` a
    counter of o200k is multiplied with the model's factor in SAFETY_FACTORS."""
    if counter.name != DEFAULT_COUNTER:
        return counter
    if own := encoding_of(model):
        return get_counter(own)
    factor = SAFETY_FACTORS.get(_find_family(model, SAFETY_FACTORS), 1.0)
    return ScaledCounter(counter, factor) if safe and factor > 1 else counter


def tokenizer_warning(model: str, counter: str) -> str:
    """Says that a model has another tokenizer than the encoding that counts; "" if it has not, or no model is named."""
    if not model.strip() or encoding_of(model) or counter not in (DEFAULT_COUNTER, "o200k_harmony", "cl100k_base"):
        return ""
    factor = SAFETY_FACTORS.get(_find_family(model, SAFETY_FACTORS))
    more = f"up to {factor:g} times as many" if factor else "more"
    return f"Counted with {counter}: {model[:100]} may count {more} tokens."


def count_tokens(text: str, counter: str | Counter | None = None) -> int:
    """Counts the tokens of `text` by `counter`: a counter, the name of one, or None for DEFAULT_COUNTER.

    Raises:
        TokenizerError: there is no such counter, or its data cannot be read.

    >>> count_tokens("hello world")
    2
    """
    if counter is None:
        counter = DEFAULT_COUNTER
    return (get_counter(counter) if isinstance(counter, str) else counter).count(text)


def count_string_tokens(text: str) -> int:
    """Counts like `count_tokens(text)`, under the name of the pruner spec.

    >>> count_string_tokens("hello world")
    2
    """
    return count_tokens(text)
