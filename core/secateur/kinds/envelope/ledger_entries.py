"""Makes the ledger of an envelope: an entry for each trimmed part, then for each unchanged one.

A trimmed part says in words what is left of it. The value is compared with the original, so that no sentence claims
what the output does not hold.

Records the cuts of an envelope, and what decisions on it may remember: cuts so far, gains, and tokens at steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import partial
from operator import eq, itemgetter
from typing import Any, TypeVar

from secateur.kinds.envelope import sections
from secateur.kinds.envelope.cuts import KEEP_CHARS, KEEP_ITEMS
from secateur.kinds.envelope.sections import Path
from secateur.ledger import CHARS_AFTER, CHARS_BEFORE, Figure
from secateur.model import Entry, Ledger, Reason, State
from secateur.render.page import phrase
from secateur.terminal import clip
from secateur.tokens import Counter


class Stage(IntEnum):
    """The stages of the spec, named by their action, mildest first; an entry shows the strongest that it met."""

    SUMMARIZE = 1
    TRUNCATE = 2
    DROP = 3

    @property
    def state(self) -> State:
        """The state in the ledger. A value that the spec drops counts as summarised, because a reference to it goes
        out."""
        return State.SHORTENED if self is Stage.TRUNCATE else State.SUMMARISED


class CutRecord:
    """Records the cuts so far: values and ends of lists, each with its strongest stage and the reason of that."""

    def __init__(self) -> None:
        self.reasons: defaultdict[Path, list[Reason]] = defaultdict(list)
        """Every reason for which a path was cut, in the order of the cuts."""
        self._values: dict[Path, tuple[Stage, Reason]] = {}
        self._ends: dict[Path, tuple[int, Stage, Reason]] = {}  # list -> first position of its end, stage, reason

    def __bool__(self) -> bool:
        return bool(self._values or self._ends)

    def add(self, path: Path, stage: Stage, reason: Reason, start: int | None = None) -> None:
        """Records the cut of a value, or of the end of a list from `start` on."""
        self.reasons[path].append(reason)
        if start is None:
            self._values[path] = max((stage, reason), self._values.get(path, (stage, reason)), key=itemgetter(0))
        else:
            self._ends[path] = start, stage, reason

    def undo(self, path: Path) -> None:
        """Forgets the cuts of a value, of its end and of all values in it."""
        for cuts in (self._values, self._ends, self.reasons):
            for other in [other for other in cuts if other[: len(path)] == path]:
                del cuts[other]

    def copy(self) -> CutRecord:
        """Copies the record, so that further cuts do not change this one."""
        other = CutRecord()
        other.reasons.update((path, list(reasons)) for path, reasons in self.reasons.items())
        other._values, other._ends = dict(self._values), dict(self._ends)
        return other

    def sections(self, pinned: Collection[Path] = ()) -> list[tuple[Path, int | None, State, Reason]]:
        """Lists (path, first position of the end of a list or None, state, reason), by stage and path, none inside
        another.

        The end of a list counts as the list if nothing else in it was cut or is `pinned`.
        """
        values = [(path, *outcome) for path, outcome in self._values.items() if not self._is_covered(path)]
        uncut = ((path, outcome) for path, outcome in self._ends.items() if path not in self._values)
        ends = [(path, *outcome) for path, outcome in uncut if not self._is_covered(path)]
        paths = [*(path for path, *_ in values), *(path for path, *_ in ends), *pinned]
        inner = {path[:length] for path in paths for length in range(1, len(path))}
        rows: list[tuple[Stage, Path, int | None, Reason]] = [
            (stage, path, None, reason) for path, stage, reason in values
        ]
        rows += [(stage, path, start if path in inner else None, reason) for path, start, stage, reason in ends]
        rows.sort(key=lambda row: row[:2])
        return [(path, start, stage.state, reason) for stage, path, start, reason in rows]

    def _is_covered(self, path: Path) -> bool:
        for length in range(1, len(path)):
            above, step = path[:length], path[length]
            if above in self._values:
                return True
            if above in self._ends and isinstance(step, int) and step >= self._ends[above][0]:
                return True
        return False


Result = TypeVar("Result")
MOST_KNOWN = 50_000  # results that are kept


class Known(dict[Hashable, Any]):
    """Results by what they depend on, each computed once."""

    def once(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Returns the result for a key."""
        result: Result | None = self.get(key)
        if result is None:
            if len(self) >= MOST_KNOWN:
                self.clear()
            result = self[key] = compute()
        return result


class Ladder:
    """Holds what decisions share that differ only in the budget: the envelope after each stage that was not enough, and
    the gains of cuts and the tokens at steps by their stage."""

    def __init__(self) -> None:
        self.states: list[tuple[int, dict[str, Any], CutRecord]] = []  # tokens, envelope and cuts after each stage
        self.known = Known()


_LADDERS = 4  # most combinations of pins and counters that are remembered; proofs use few of them in turn


class Remembered:
    """Holds the results that decisions on one envelope share, because proofs decide hundreds of times. It changes no
    decision."""

    def __init__(self) -> None:
        self.known = Known()
        self._ladders: dict[Hashable, Ladder] = {}

    def ladder(self, key: Hashable) -> Ladder:
        """Returns the ladder of these pins and this counter."""
        ladder = self._ladders[key] = self._ladders.pop(key, Ladder())
        if len(self._ladders) > _LADDERS:
            del self._ladders[next(iter(self._ladders))]
        return ladder


_NAMED = 4  # most fields or items that a sentence names
_LONGEST_NAME = 40
_REFERENCE = ("path", "summary", "hash")


def make_ledger(
    original: dict[str, Any],
    text_before: str,
    trimmed: Any,
    cut_record: CutRecord,
    pinned: Collection[sections.Path],
    before: int,
    after: int,
    budget: int,
    counter: Counter,
    known: Known,
) -> tuple[Ledger, tuple[tuple[sections.Path, int | None], ...]]:
    """Makes the ledger: one entry per trimmed part, by action and path, none inside another; then what is unchanged,
    then the wrapper. Returns it with the locations of the entries."""

    def make_entry(path: sections.Path, start: int | None, state: State, reason: Reason, now: str | None) -> Entry:
        """`now`: the text after the cuts, None if there were none."""
        then = text_at(original, path, start)
        name = sections.section_of(path) + ("" if start is None else f"[{start}:]")
        size = counter.count(then)
        figures: dict[str, Figure] = {CHARS_BEFORE: len(then), CHARS_AFTER: len(then if now is None else now)}
        if now is None:
            cut = {sections.DIGEST, *(field.path[0] for field in sections.extensions_of(original))}
            figures |= {"uncut": 1} if reason is Reason.FITS and path[0] not in cut else {}
            return Entry(name, state, reason, size, size, figures)
        figures["steps"] = _describe_steps(original, path, cut_record.reasons.get(path, ()))
        figures["left"] = describe_remains(sections.value_at(original, path), sections.value_at(trimmed, path), start)
        return Entry(name, state, reason, size, size if now == then else counter.count(now), figures)

    rows = cut_record.sections(pinned)
    unchanged = list(_unchanged_paths(original, {path: start for path, start, *_ in rows}, pinned))
    reasons = dict.fromkeys(pinned, Reason.PINNED) | {(sections.TARGET,): Reason.TARGET}
    rows += [(path, None, State.KEPT, reasons.get(path, Reason.FITS)) for path in unchanged]
    entries = []
    for path, start, state, reason in rows:
        now = None if state is State.KEPT else text_at(trimmed, path, start)
        cut = path, start, state, reason
        key = counter.name, *cut, tuple(cut_record.reasons.get(path, ())), sections.digest_of(now or "")
        entries.append(known.once(key, partial(make_entry, *cut, now)))
    around = {
        side: len(text) - sum(int(entry.figures[side]) for entry in entries)
        for side, text in ((CHARS_BEFORE, text_before), (CHARS_AFTER, sections.text_of(trimmed)))
    }
    beside = before - sum(entry.before for entry in entries)
    ledger = Ledger.closed("envelope", budget, entries, after, around=beside, figures=around)
    return ledger, tuple((path, start) for path, start, _, _ in rows)


def _unchanged_paths(
    original: dict[str, Any], cut: Mapping[sections.Path, int | None], pinned: Collection[sections.Path]
) -> Iterator[sections.Path]:
    """Yields the paths of sections without a cut or pin; in the other sections those of fields and entries beside them.
    `cut`: path of a cut value, or of a list -> the first position of its cut end."""
    above = {path[:length] for path in cut for length in range(1, len(path))}
    above |= {path for path, start in cut.items() if start is not None}
    around = {path[:length] for path in pinned if path[0] != sections.TARGET for length in range(1, len(path))}

    def leads_on(node: sections.EnvelopeValue) -> bool:
        return node.path in around or (node.path in above and not sections.is_entry(node))

    for section in original:
        for node in sections.walk(sections.EnvelopeValue(original, section, (section,)), into=leads_on):
            end = cut.get(node.path[:-1]) if isinstance(node.key, int) else None
            in_cut = node.path in cut or node.path in above or (end is not None and node.key >= end)
            listed = isinstance(node.key, str) or sections.is_entry(node) or node.path in pinned
            if listed and not in_cut and node.path not in around:
                yield node.path


def _describe_steps(original: Any, path: sections.Path, reasons: Sequence[Reason]) -> str:
    """Says which stages cut a value, in their order; of those after the stages only the last, which goes furthest."""
    figures: dict[str, Figure] = {"first": KEEP_ITEMS, "characters": KEEP_CHARS}
    if isinstance(path[-1], int) and not isinstance(sections.value_at(original, path), list):
        figures |= {"item": path[-1] + 1, "items": len(sections.value_at(original, path[:-1]))}
    last = max(reasons)
    steps = [reason for reason in dict.fromkeys(reasons) if reason < Reason.SUMMARY_SHORTENED or reason is last]
    return "; ".join(phrase(reason, figures) for reason in steps)


def text_at(value: Any, path: sections.Path, start: int | None) -> str:
    held = sections.value_at(value, path)
    return sections.text_of(held if start is None else held[start:])


def describe_remains(then: Any, now: Any, start: int | None = None) -> str:
    """Says what is left of a value, or of the items of a list from `start` on; "" if nothing changed."""
    if isinstance(then, dict):
        return _describe_object(then, now)
    if isinstance(then, list):
        return _describe_list(then, now, start)
    kept = _count_kept(then, now) if isinstance(then, str) and then != now else None
    if kept == 0:
        return f"only its length, {len(then):,} characters, and its hash are left"
    return "" if kept is None else f"its first {kept:,} of {len(then):,} characters are left"


def _describe_object(then: dict[str, Any], now: dict[str, Any]) -> str:
    left = [name for name in now if name in then and (now[name] == then[name] or _is_part(then[name], now[name]))]
    new = [name for name in now if name not in left]
    gone = [name for name in then if name not in left]
    changed = [name for name in left if now[name] != then[name]]
    words = [f"its {'' if name in sections.NAMING else 'field '}{clip(name, _LONGEST_NAME)}" for name in changed]
    cuts = _describe_cuts([(of, then[name], now[name]) for of, name in zip(words, changed, strict=True)], "fields")
    if not left:
        return f"none of its fields is left, a reference stands for it: {_join(new)}"
    if not (gone or new):
        return cuts
    if len(left) > _NAMED:
        first = "the first " if left == list(then)[: len(left)] else ""
        said = f"only {first}{len(left):,} of its {len(then):,} fields are left"
    else:
        said = f"only its {_join(left)} {'is' if len(left) == 1 else 'are'} left"
        if gone:
            said += f", without {_join(gone) if len(gone) <= _NAMED else f'{len(gone):,} others'}"
    if new:
        said += f", with a new {_join(new)}" if set(new) < set(_REFERENCE) else ", with a reference for the others"
    return f"{said}, and {cuts}" if cuts else said


def _describe_list(then: list[Any], now: list[Any], start: int | None) -> str:
    first = end = start or 0
    while end < min(len(then), len(now)) and (then[end] == now[end] or _is_part(then[end], now[end], item=True)):
        end += 1
    cut = [at for at in range(first, end) if then[at] != now[at]]
    whole = end - 1 if cut == [end - 1] else end
    said = []
    if start is None and 0 < whole < len(then):
        named = "item" if whole == 1 else f"{whole:,}"
        said.append(f"its first {named} of {len(then):,} {'is' if whole == 1 else 'items are'} left")
    if cut:
        said.append(_describe_cuts([(f"item {at + 1:,}", then[at], now[at]) for at in cut], "items"))
    if end < len(then):
        said.append(_describe_tail(then[end:], now[end:], end + 1))
    return ", and ".join(said)


def _describe_tail(then: list[Any], now: list[Any], first: int) -> str:
    objects = [item for item in now if isinstance(item, dict)]
    before = [item for item in then if isinstance(item, dict)]
    whole = sum(map(eq, before, objects)) if len(before) == len(objects) else 0
    counts = (whole, "whole object"), (len(objects) - whole, "reference"), (len(now) - len(objects), "line")
    stand = [f"{'one' if count == 1 else f'{count:,}'} {unit}{'s' * (count > 1)}" for count, unit in counts if count]
    items = f"items {first:,} to {first + len(then) - 1:,}" if len(then) > 1 else f"item {first:,}"
    return f"{_join(stand)} {'stands' if len(now) == 1 else 'stand'} for {items}"


def _describe_cuts(cuts: Sequence[tuple[str, Any, Any]], unit: str) -> str:
    if len(cuts) > _NAMED:
        return f"{len(cuts):,} {unit} are cut"
    return " and ".join(f"{name} is cut{_describe_extent(then, now)}" for name, then, now in cuts)


def _describe_extent(then: Any, now: Any) -> str:
    if isinstance(then, str):
        return f" to {_count_kept(then, now):,} of {len(then):,} characters"
    return f" to {sum(map(eq, then, now)):,} of {len(then):,} items" if isinstance(then, list) else ""


def _is_part(then: Any, now: Any, *, item: bool = False) -> bool:
    """Tells whether `now` is what is left of `then`, and not a new value in its place. An item of a list that is an
    object has a field of the original."""
    if isinstance(then, str) and isinstance(now, str):
        return _count_kept(then, now) is not None
    if isinstance(then, dict) and isinstance(now, dict):
        return not item or any(name in now and now[name] == held for name, held in then.items())
    return isinstance(then, list) and isinstance(now, list)


def _count_kept(then: str, now: str) -> int | None:
    kept = now.rfind("… (")
    if kept >= 0 and then.startswith(now[:kept]):
        return kept
    return len(now) if now.endswith("…") and then.startswith(now[:-1]) else None


def _join(names: Sequence[str]) -> str:
    *first, last = (clip(name, _LONGEST_NAME) for name in names)
    return f"{', '.join(first)} and {last}" if first else last
