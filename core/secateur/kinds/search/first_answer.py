"""Compares the first answer about a repository with what the profile `recommended` keeps for the same query.

answer = first_answer(engine, query, settings)
answer.others        # symbol ids that recommended keeps and the profile in force does not
answer.sentence()    # "recommended keeps 12 others: RefundService._due, round_minor, …"; "" if there is nothing to say
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from secateur.model import State
from secateur.settings import Settings, with_profile, with_values
from secateur.terminal import visible

if TYPE_CHECKING:
    from secateur.engine import Engine

RECOMMENDED = "recommended"

NAMED = 3  # the most others that the sentence names


class FirstAnswer(Struct, frozen=True):
    """Compares two selections for one query: under the profile in force, and under the recommended one."""

    budget: int
    kept: int  # candidates that go out under the profile in force
    candidates: int
    others: tuple[str, ...]  # ids that only the recommended profile keeps, whole, the best first
    names: tuple[str, ...]  # names of `others`

    @property
    def keeps_everything(self) -> bool:
        """True if every candidate fits, so the answer shows no decision."""
        return bool(self.candidates) and self.kept == self.candidates

    def sentence(self, named: int = NAMED) -> str:
        """Writes the comparison for people, with so many names; "" if both keep the same."""
        cut = nothing_cut(self.candidates, self.budget)
        if not self.others:
            return f"{cut}; a smaller budget cuts" if self.keeps_everything else ""
        names = ", ".join(visible(name) for name in self.names[:named])
        more = ", …" if len(self.others) > named else ""
        count = f"{len(self.others):,} other{'s' if len(self.others) > 1 else ''}"
        difference = f"{RECOMMENDED} keeps {count}" + (f": {names}{more}" if named else "")
        return f"{cut}; {difference}" if self.keeps_everything else difference


def nothing_cut(candidates: int, budget: int) -> str:
    """Says that every candidate fits."""
    fit = f"all {candidates:,} candidates fit" if candidates > 1 else "the only candidate fits"
    return f"nothing was cut: {fit} {budget:,} tokens"


def first_answer(engine: Engine, query: str, settings: Settings) -> FirstAnswer | None:
    """Asks under both profiles. Returns None if the recommended one is in force or nothing answers the query. Raises
    SecateurError: as `Engine.search`."""
    if settings.profile == RECOMMENDED:
        return None
    here = engine.search(query, settings)
    if not len(here):
        return None
    recommended = with_values(with_profile(settings, RECOMMENDED), {"budget": settings.effective_budget})
    there = engine.search(query, recommended)
    mine = {here.pool.symbol_id[row] for row in here.kept_rows}
    pool = there.pool
    whole = (
        row for row in there.kept_rows if there.state[row] == State.KEPT
    )  # what is only shortened is not said to be kept
    other = [row for row in whole if pool.symbol_id[row] not in mine]
    names = tuple(pool.qualname[row] or f"{pool.path[row]}:{pool.line_start[row]}" for row in other)
    others = tuple(pool.symbol_id[row] for row in other)
    return FirstAnswer(here.budget, len(mine), len(here), others, names)
