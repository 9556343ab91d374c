"""The report of a bisection: as text for people, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, field, structs

from secateur.render import dumps
from secateur.scenarios.bisection import Bisection, DifferingSetting, ItemOutcome, Moved, MovingSet
from secateur.shape import SCHEMA_VERSION, Count, Shape, Version
from secateur.terminal import visible


class BisectedSide(Shape, frozen=True):
    """One side of a bisection, and the state of the item there."""

    name: str
    state: str
    reason: str
    rank: int | None
    because: str


class WithoutSetting(Shape, frozen=True):
    """The first side with all settings of a set but one, and the state of the item there."""

    key: str
    state: str
    reason: str
    rank: int | None
    because: str


class MovingSetShape(Shape, frozen=True):
    """Settings that together move the item, each of them needed, and the decisions that prove it."""

    settings: list[DifferingSetting]
    applied: Annotated[ItemOutcome, Meta(description="The first side with them.")] = field(name="with")
    without: list[WithoutSetting]
    taken_back: Annotated[ItemOutcome, Meta(description="The second side with them as on the first.")]


class BisectionOutput(Shape, frozen=True):
    """The output of `secateur bisect --format json`."""

    schema_version: Version
    item: str
    before: BisectedSide = field(name="from")
    after: BisectedSide = field(name="to")
    moved: Moved
    differing: list[DifferingSetting]
    sets: Annotated[list[MovingSetShape], Meta(description="Several where each of them is enough by itself.")]
    runs: Annotated[Count, Meta(description="Decisions that were made.")]


def bisection_json(found: Bisection) -> str:
    """All of it as JSON."""
    before = BisectedSide(found.before.name, *structs.astuple(found.was))
    after = BisectedSide(found.after.name, *structs.astuple(found.now))
    sets, differing = [_set(one) for one in found.sets], list(found.differing)
    return dumps(BisectionOutput(SCHEMA_VERSION, found.item, before, after, found.moved, differing, sets, found.runs))


def bisection_text(found: Bisection, *, verbose: bool = False) -> str:
    """The two sides, the settings that move the item, and the runs that prove it."""
    names = (found.before.name, found.after.name)
    lines = [visible(found.item), *_table([(names[0], _told(found.was)), (names[1], _told(found.now))])]
    lines += ["", *_verdict(found)]
    for one in found.sets:
        lines += [
            "",
            *_table([(change.key, f"{_value(change.was)} -> {_value(change.now)}") for change in one.changes]),
        ]
        lines += [f"    {line}" for line in _table(_proof(found, one), indent="")]
    if verbose and found.differing:
        lines += ["", "settings that differ:"]
        lines += _table([(change.key, f"{_value(change.was)} -> {_value(change.now)}") for change in found.differing])
    runs = "1 decision" if found.runs == 1 else f"{found.runs:,} decisions"
    return "\n".join([*lines, "", f"{runs} made for this"]) + "\n"


def _verdict(found: Bisection) -> list[str]:
    differ = len(found.differing)
    if not differ:
        return ["no setting differs on which these decisions depend"]
    told = "1 setting differs" if differ == 1 else f"{differ:,} settings differ"
    if found.moved is Moved.NOTHING:
        unseen = found.was.rank != found.now.rank
        return [f"{told}; nothing that differs moves it" + (" but in its rank (--rank)" if unseen else "")]
    what = f"moves its {found.moved.value}"
    sizes = [len(one.changes) for one in found.sets]
    if sizes == [1]:
        return [f"{told}; one of them {what}:"]
    if sizes[0] == 1:
        return [f"{told}; each of these {len(sizes)} {what} by itself:"]
    return [f"{told}; none {what} by itself, these {sizes[0]} together do, and each is needed:"]


def _proof(found: Bisection, one: MovingSet) -> list[tuple[str, str]]:
    first, second = found.before.name, found.after.name
    alone = len(one.changes) == 1
    lines = [(f"{first} with {'it' if alone else 'these'}", _told(one.applied))]
    if alone:
        lines.append((f"{first} without it", _told(one.without[0])))
    else:
        lines += [(f"without {change.key}", _told(seen)) for change, seen in zip(one.changes, one.without, strict=True)]
    return [*lines, (f"{second} without {'it' if alone else 'these'}", _told(one.taken_back))]


def _told(seen: ItemOutcome) -> str:
    rank = f" at rank {seen.rank:,}" if seen.rank is not None else ""
    return f"{seen.state}{rank}" + (f": {visible(seen.because)}" if seen.because else "")


def _set(one: MovingSet) -> MovingSetShape:
    without = [
        WithoutSetting(change.key, *structs.astuple(seen))
        for change, seen in zip(one.changes, one.without, strict=True)
    ]
    return MovingSetShape(list(one.changes), one.applied, without, one.taken_back)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(str(value)) if value != "" else '""'


def _table(rows: Sequence[tuple[str, str]], indent: str = "  ") -> list[str]:
    """Rows with their first column aligned."""
    width = max((len(visible(name)) for name, _ in rows), default=0)
    return [f"{indent}{visible(name):<{width}}  {text}" for name, text in rows]
