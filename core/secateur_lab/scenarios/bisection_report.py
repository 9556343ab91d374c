"""The report of a bisection: as text for people, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, field, structs
from secateur import SCHEMA_VERSION, Count, Shape, Version, dumps, visible

from secateur_lab.scenarios.bisection import Bisection, DifferingSetting, ItemOutcome, Moved, MovingSet


class BisectedSide(Shape, frozen=True):
    """One side of a bisection, and the item's outcome there."""

    name: str
    state: str
    reason: str
    rank: int | None
    because: str


class WithoutSetting(Shape, frozen=True):
    """The first side with all settings of a set but one, and the item's outcome there."""

    key: str
    state: str
    reason: str
    rank: int | None
    because: str


class MovingSetShape(Shape, frozen=True):
    """Settings that together change the item's outcome, each of them needed, and the decisions that prove it."""

    settings: list[DifferingSetting]
    applied: Annotated[ItemOutcome, Meta(description="The first side with these settings.")] = field(name="with")
    without: list[WithoutSetting]
    taken_back: Annotated[ItemOutcome, Meta(description="The second side with these settings as on the first.")]


class BisectionOutput(Shape, frozen=True):
    """The output of `secateur bisect --format json`."""

    schema_version: Version
    item: str
    before: BisectedSide = field(name="from")
    after: BisectedSide = field(name="to")
    moved: Moved
    differing: list[DifferingSetting]
    sets: Annotated[list[MovingSetShape], Meta(description="Several if each of them is enough by itself.")]
    runs: Annotated[Count, Meta(description="Decisions that were made.")]


def bisection_json(result: Bisection) -> str:
    """Formats a bisection as JSON."""
    before = BisectedSide(result.before.name, *structs.astuple(result.was))
    after = BisectedSide(result.after.name, *structs.astuple(result.now))
    sets, differing = [_set(subset) for subset in result.sets], list(result.differing)
    return dumps(
        BisectionOutput(SCHEMA_VERSION, result.item, before, after, result.moved, differing, sets, result.runs)
    )


def bisection_text(result: Bisection, *, verbose: bool = False) -> str:
    """Formats the two sides, the settings that change the item, and the runs that prove it."""
    names = (result.before.name, result.after.name)
    lines = [visible(result.item), *_table([(names[0], _outcome(result.was)), (names[1], _outcome(result.now))])]
    lines += ["", *_verdict(result)]
    for subset in result.sets:
        lines += [
            "",
            *_table([(change.key, f"{_value(change.was)} -> {_value(change.now)}") for change in subset.changes]),
        ]
        lines += [f"    {line}" for line in _table(_proof(result, subset), indent="")]
    if verbose and result.differing:
        lines += ["", "settings that differ:"]
        lines += _table([(change.key, f"{_value(change.was)} -> {_value(change.now)}") for change in result.differing])
    runs = "1 decision" if result.runs == 1 else f"{result.runs:,} decisions"
    return "\n".join([*lines, "", f"{runs} made for this"]) + "\n"


def _verdict(result: Bisection) -> list[str]:
    differ = len(result.differing)
    if not differ:
        return ["no setting that affects these decisions differs"]
    count_text = "1 setting differs" if differ == 1 else f"{differ:,} settings differ"
    if result.moved is Moved.NOTHING:
        unseen = result.was.rank != result.now.rank
        return [f"{count_text}; none of them changes it" + (", except its rank (--rank)" if unseen else "")]
    what = f"changes its {result.moved.value}"
    sizes = [len(subset.changes) for subset in result.sets]
    if sizes == [1]:
        return [f"{count_text}; one of them {what}:"]
    if sizes[0] == 1:
        return [f"{count_text}; each of these {len(sizes)} {what} by itself:"]
    return [f"{count_text}; none {what} by itself, but these {sizes[0]} together do, and each is needed:"]


def _proof(result: Bisection, subset: MovingSet) -> list[tuple[str, str]]:
    first, second = result.before.name, result.after.name
    alone = len(subset.changes) == 1
    lines = [(f"{first} with {'it' if alone else 'these'}", _outcome(subset.applied))]
    if alone:
        lines.append((f"{first} without it", _outcome(subset.without[0])))
    else:
        lines += [
            (f"without {change.key}", _outcome(seen))
            for change, seen in zip(subset.changes, subset.without, strict=True)
        ]
    return [*lines, (f"{second} without {'it' if alone else 'these'}", _outcome(subset.taken_back))]


def _outcome(seen: ItemOutcome) -> str:
    rank = f" at rank {seen.rank:,}" if seen.rank is not None else ""
    return f"{seen.state}{rank}" + (f": {visible(seen.because)}" if seen.because else "")


def _set(subset: MovingSet) -> MovingSetShape:
    without = [
        WithoutSetting(change.key, *structs.astuple(seen))
        for change, seen in zip(subset.changes, subset.without, strict=True)
    ]
    return MovingSetShape(list(subset.changes), subset.applied, without, subset.taken_back)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(str(value)) if value != "" else '""'


def _table(rows: Sequence[tuple[str, str]], indent: str = "  ") -> list[str]:
    """Formats rows with the first column aligned."""
    width = max((len(visible(name)) for name, _ in rows), default=0)
    return [f"{indent}{visible(name):<{width}}  {text}" for name, text in rows]
