"""Records the cuts of an envelope, and what decisions on it may remember: cuts so far, gains, and tokens at steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable
from enum import IntEnum
from operator import itemgetter
from typing import Any, TypeVar

from secateur.kinds.envelope.sections import Path
from secateur.model import Reason, State


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
