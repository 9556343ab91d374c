"""Token counters: exact ones for three encodings, a calibrated estimate, characters / 4.

    counter = get_counter("o200k_base")
    counter.count(text)                       # the vocabulary is loaded here, at the first count

All counting goes through this package. It takes time linear in the text and works for every text: strings that look
like special tokens are ordinary text, and lone surrogates and a million equal characters are counted too. It uses no
network and writes no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from secateur.errors import TokenizerError

# Model family -> factor: the upper end of the measured range, because exceeding a budget is worse than not using all of
# it.
SAFETY_FACTORS: Mapping[str, float] = MappingProxyType(
    {
        "gpt-5": 1.0,  # its own encoding is o200k, like that of the next three
        "gpt-4.1": 1.0,
        "gpt-4o": 1.0,
        "gpt-oss": 1.0,  # o200k_harmony: the same ranks
        # cl100k: 0.98 to 1.06 on code of 17 languages, 95 % of pieces of Chinese and Japanese within 1.3
        "gpt-4-turbo": 1.3,
        "qwen3.5": 1.3,  # 1.06 to 1.16 on the same pieces, 95 % of any kind within 1.28
        "claude": 1.9,  # unpublished; the reconstruction `ctok` 1.3 puts code at 1.2 to 1.9
    }
)


__all__ = [
    "COUNTERS",
    "DEFAULT_COUNTER",
    "SAFETY_FACTORS",
    "Counter",
    "count_string_tokens",
    "count_tokens",
    "get_counter",
]

DEFAULT_COUNTER = "o200k_base"
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
