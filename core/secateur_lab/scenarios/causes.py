"""Explains a changed decision: by settings, texts, terms of scores, and other items that took the room.

Pure. A cause shows figures of both sides: the recorded decision and the present one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from secateur import installed_keys

from secateur_lab.scenarios.running import Decided
from secateur_lab.scenarios.scenario import DIGITS, Recorded, RecordedItem

MOST_NAMED = 3  # most other items in one cause
Pair = tuple[RecordedItem, RecordedItem]  # an item as recorded, and as it is now


def changed_settings(recorded: Recorded, decided: Decided) -> dict[str, tuple[Any, Any]]:
    """Returns (recorded, now) of the settings that changed, wherever they are set; the budget in force first."""
    now = dict(decided.knobs)
    moved = {"budget": (recorded.budget, decided.budget)} if recorded.budget != decided.budget else {}
    known = installed_keys()
    for key in dict.fromkeys((*recorded.knobs, *now)):
        if key not in known or key in ("budget", decided.kind.budget.key):
            continue
        default = known[key].default
        was, is_now = (values.get(key, default) for values in (recorded.knobs, now))
        if _plain(was) != _plain(is_now):
            moved[key] = (was, is_now)
    return moved


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


class Moves:
    """The items of a decision with the recorded ones, to explain what changed an item."""

    def __init__(self, pairs: Sequence[Pair], new: Sequence[RecordedItem]) -> None:
        self._pairs = pairs
        entered = [now for was, now in pairs if now.leaves and not was.leaves]
        no_rank = float("inf")
        self._entered = sorted([*entered, *new], key=lambda item: no_rank if item.rank is None else item.rank)

    def instead(self, was: RecordedItem, now: RecordedItem | None) -> tuple[str, ...]:
        """Returns the items that took the place of an item that is no longer in the output: new items in the output
        that rank before it, or all new ones if there are no ranks."""
        if not was.leaves or (now is not None and now.leaves):
            return ()
        rank = now.rank if now is not None else None
        before = [item for item in self._entered if rank is None or item.rank is None or item.rank < rank]
        ranks = [f"rank {item.rank}, " if item.rank is not None else "" for item in before]
        return tuple(f"{item.id} ({of}{item.tokens[1]:,} tokens)" for item, of in zip(before, ranks, strict=True))

    def causes(self, was: RecordedItem, now: RecordedItem) -> Iterator[str]:
        """Yields the causes that changed an item that still exists, the nearest first."""
        if was.text and now.text and was.text != now.text:
            yield f"its text changed ({was.tokens[0]:,} -> {now.tokens[0]:,} tokens)"
        yield from self._score(was, now)
        if was.leaves and not now.leaves and not self.instead(was, now):
            grown = [
                f"{other.id} ({before.tokens[1]:,} -> {other.tokens[1]:,} tokens)"
                for before, other in self._pairs
                if before.leaves and other.leaves and other.tokens[1] > before.tokens[1]
            ]
            if grown:
                yield f"takes more room now: {join_first(grown)}"

    def _score(self, was: RecordedItem, now: RecordedItem) -> Iterator[str]:
        moved = _terms(was, now)
        if was.rank is None or now.rank is None or was.rank == now.rank:
            if moved:
                yield moved
        elif moved:
            yield f"rank {was.rank} -> {now.rank} because {moved}"
        else:
            passed = [
                f"{other.id} ({terms})"
                for before, other in self._pairs
                if before.rank and other.rank and before.rank > was.rank and other.rank < now.rank
                if (terms := _terms(before, other))
            ]
            yield f"rank {was.rank} -> {now.rank}" + (f": passed by {join_first(passed)}" if passed else "")


def _terms(was: RecordedItem, now: RecordedItem) -> str:
    names = dict.fromkeys((*was.terms, *now.terms))
    moved = [(name, was.terms.get(name, 0.0), now.terms.get(name, 0.0)) for name in names]
    moved = sorted((term for term in moved if term[1] != term[2]), key=lambda term: -abs(term[2] - term[1]))
    return ", ".join(f"{name} {before:.{DIGITS}f} -> {after:.{DIGITS}f}" for name, before, after in moved)


def join_first(texts: Sequence[str], most: int = MOST_NAMED) -> str:
    """Joins the first texts, and counts the others."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")
