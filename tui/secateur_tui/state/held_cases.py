"""Judged cases and scenarios whose inputs stay in memory, so that each turn of a knob decides all of them again.

    held = HeldCases(kind, opened)
    held.find([Path("cases")])
    held.read(settings, measurer, reached)     # slow: once for each set of settings that reading depends on
    held.measure(settings, stop)               # None until every case is read under these settings

A case is decided under the settings on the screen. What its scenario sets itself counts, unless that knob was turned
since the inspector was opened. Pins, exclusions and boosts belong to the question on the screen, not to the cases.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.base import Kind
from secateur.kinds.run import answer_of
from secateur.settings import Settings, lookup, with_profile, with_values
from secateur_lab.evaluation.cases import JudgedCase, LeftOut, read_cases, select_set
from secateur_lab.evaluation.measuring import Measurer, figures
from secateur_lab.scenarios.running import check_hermetic, deciding_keys
from secateur_lab.scenarios.toml_writing import flat

MOST_READINGS = 2  # inputs of a case that are kept: a knob that reads again may be turned back
STEERING: Mapping[str, Any] = {"pins": (), "excludes": (), "boosts": {}}  # settings about items of one question

BY_CHANCE = 0.05  # largest probability of a change by chance that is no noise

WHOLE, PART, DROPPED, NO_ANSWER = "kept", "shortened", "dropped", "no answer"

_ASSERTED = {"must_keep": WHOLE, "must_shorten": PART, "must_drop": DROPPED}


@dataclass(frozen=True)
class CaseResult:
    """The decisions on the items that a case names, and its recall; None if it judges none."""

    states: Mapping[str, str]
    recall: float | None = None


@dataclass(frozen=True)
class MovedItem:
    """An item that a case names, decided otherwise than at the start."""

    case: JudgedCase
    id: str
    was: str
    now: str
    asserted: str  # "must_keep"; "" for an item that is judged or recorded

    @property
    def loses(self) -> bool:
        """Tells whether it went out whole at the start."""
        return self.was == WHOLE

    @property
    def breaks(self) -> bool:
        """Tells whether an assertion held at the start and does not now."""
        return bool(self.asserted) and self.was == _ASSERTED[self.asserted]


@dataclass(frozen=True)
class CasesResult:
    """The results of all cases under some settings."""

    results: Sequence[CaseResult]

    @property
    def recall(self) -> float | None:
        """The mean recall of the judged cases."""
        recalls = [result.recall for result in self.results if result.recall is not None]
        return sum(recalls) / len(recalls) if recalls else None

    def describe_recall(self, start: "CasesResult") -> str:
        """Returns the recall in words, with how many cases it rose and fell in since the start, and "noise" where that
        would happen by chance too often (sign test of both sides); "" if no case is judged."""
        if self.recall is None:
            return ""
        pairs = [(before.recall, now.recall) for before, now in zip(start.results, self.results, strict=True)]
        judged = [(before, now) for before, now in pairs if before is not None and now is not None]
        ups, downs = sum(now > was for was, now in judged), sum(now < was for was, now in judged)
        if not (moved := ups + downs):
            return f"recall {self.recall:.3f}"
        chance = sum(comb(moved, count) for count in range(min(ups, downs) + 1)) / 2 ** (moved - 1)
        noise = ": noise" if chance > BY_CHANCE else ""
        return f"recall {self.recall:.3f}, {ups:,} up {downs:,} down of {len(judged):,}{noise}"


@dataclass(eq=False)
class _Held:
    case: JudgedCase
    named: Mapping[str, str]  # id -> the assertion about it, or ""
    readings: dict[Hashable, Any] = field(default_factory=dict)


class HeldCases:
    """See the module docstring.

    Attributes:
        left_out: what costs itself: a file or an input that cannot be read.
        set_aside: number of held-out cases, which tuning may not look at.
        others: number of scenarios of other kinds.
        start: the results under the settings that the inspector was opened with.
    """

    def __init__(self, kind: Kind[Any, Any], opened: Settings) -> None:
        self._kind = kind
        self._opened = with_values(opened, {**STEERING, "llm.enabled": False})
        self._held: list[_Held] = []
        self.left_out: list[LeftOut] = []
        self.set_aside = self.others = 0
        self.start: CasesResult | None = None

    def __len__(self) -> int:
        return len(self._held)

    def find(self, folders: Sequence[Path]) -> None:
        """Reads the scenarios of the kind below some folders. Raises RepositoryError if a folder cannot be read."""
        found, self.left_out = read_cases(folders, unjudged=True)
        mine = [case for case in found if case.scenario.kind == self._kind.name]
        usable = select_set(mine, "training")
        self.others, self.set_aside = len(found) - len(mine), len(mine) - len(usable)
        for case in usable:
            try:
                check_hermetic(case.scenario.settings)
                self._settings_of(case, {})
                _ = case.asked
            except SecateurError as error:
                self.left_out.append(LeftOut(case.name, error))
            else:
                recorded = case.scenario.recorded
                ranked = [id_ for recall in case.scenario.expect.recall_of for id_ in recall.ids]
                named = [*(id_ for id_, grade in case.judged.items() if grade > 0), *ranked]
                named += [item.id for item in recorded.items] if recorded is not None else []
                asserted = {id_: name for name in _ASSERTED for id_ in getattr(case.scenario.expect, name)}
                self._held.append(_Held(case, dict.fromkeys(named, "") | asserted))

    def read(self, settings: Settings, measurer: Measurer, reached: Callable[[int, int], None]) -> None:
        """Reads what is not in memory. A case that cannot be read is left out. `reached` may raise to end the work."""
        self._opened = with_values(self._opened, {"profiles": settings.profiles})  # one may have been saved
        turned = self._turned(settings)
        for number, held in enumerate(tuple(self._held)):
            reached(number, len(self._held))
            try:
                own = self._settings_of(held.case, turned)
                key = held.case.asked[0].reading_of(held.case.asked[1], own)
                if key not in held.readings:
                    material = measurer.read(held.case, own)
                    while len(held.readings) >= MOST_READINGS:
                        Kind.release(held.readings.pop(next(iter(held.readings))))
                    held.readings[key] = material
            except SecateurError as error:
                self._held.remove(held)
                self.left_out.append(LeftOut(held.case.name, error))
                self.start = None

    def measure(self, settings: Settings, stop: Callable[[], None]) -> CasesResult | None:
        """Decides every case; None if one is not read under these settings. `stop` may raise to end the work."""
        self._opened = with_values(self._opened, {"profiles": settings.profiles})
        if self.start is None and settings != self._opened:
            self.start = self._measure({}, stop)
        measured = self._measure(self._turned(settings), stop)
        self.start = self.start or measured
        return measured

    def moved(self, now: CasesResult) -> list[MovedItem]:
        """Returns the items that are decided otherwise than at the start: what breaks an assertion first, then what no
        longer leaves whole."""
        assert self.start is not None
        moved = [
            MovedItem(held.case, id_, state, after.states[id_], held.named[id_])
            for held, before, after in zip(self._held, self.start.results, now.results, strict=True)
            for id_, state in before.states.items()
            if after.states[id_] != state
        ]
        return sorted(moved, key=lambda item: (not item.breaks, not item.loses))

    def _turned(self, settings: Settings) -> dict[str, Any]:
        keys = [*(key for key in deciding_keys(self._kind) if key not in STEERING), "profile"]
        return {key: value for key in keys if (value := lookup(settings, key)) != lookup(self._opened, key)}

    def _settings_of(self, case: JudgedCase, turned: Mapping[str, Any]) -> Settings:
        """Returns the settings of a case. Raises SecateurError if its own are wrong."""
        own, settings = dict(flat(case.scenario.settings)), self._opened
        if "profile" in own:
            settings = with_profile(settings, str(own.pop("profile")))
        return with_values(settings, own | dict(turned)) if own or turned else settings

    def _measure(self, turned: Mapping[str, Any], stop: Callable[[], None]) -> CasesResult | None:
        results: list[CaseResult] = []
        known: dict[str, Settings] = {}  # most cases set nothing, or the same
        for held in self._held:
            stop()
            case, own = held.case, repr(held.case.scenario.settings)
            if own not in known:
                known[own] = self._settings_of(case, turned)
            kind, inputs = case.asked
            if (material := held.readings.get(kind.reading_of(inputs, known[own]))) is None:
                return None
            try:
                ranked = answer_of(kind, material, inputs, known[own]).ledger.ranked
            except SecateurError:  # such as a budget that cannot be met
                results.append(CaseResult(dict.fromkeys(held.named, NO_ANSWER), 0.0 if case.judged else None))
                continue
            leaving, whole = dict(ranked), [id_ for id_, is_whole in ranked if is_whole]
            states = {id_: (WHOLE if leaving[id_] else PART) if id_ in leaving else DROPPED for id_ in held.named}
            results.append(
                CaseResult(states, figures(whole, case.judged).recall if any(case.judged.values()) else None)
            )
        return CasesResult(results)
