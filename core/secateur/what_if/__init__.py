"""Proofs of what would change a decision, for every kind of context: by deciding again, never estimated.

A kind gives `Trials`: its items, and their states at another budget or another value of a knob. All of it is pure.

The fields that proofs add to the JSON of an answer are here, apart from what proves them and needs numpy.
"""

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, UnsetType

from secateur.shape import Count, Shape
from secateur.submodules import import_on_demand

if not TYPE_CHECKING:  # for the type checker, users import the modules themselves
    __getattr__ = import_on_demand(__name__)


class PointShape(Shape, frozen=True):
    """The figures of a budget: tokens that go out, items as they came, items in part, their worth by score."""

    budget: Count
    tokens: Count
    kept: Count
    partly: Count
    worth: float | UnsetType = UNSET
    chunks: Count | UnsetType = UNSET


class DropShape(Shape, frozen=True):
    """A budget at which something no longer goes out that does at the one before."""

    budget: Count
    loses: list[str]
    gains: list[str]


class CurveShape(Shape, frozen=True):
    """The curve of what goes out at each budget, each point proven by deciding with it."""

    points: list[PointShape]
    present: Count
    knee: Annotated[Count | None, Meta(description="From here on a token brings less than the average.")]
    least: Annotated[Count | None, Meta(description="Below it there is no answer; null: there always is one.")]
    enough: Annotated[Count | None, Meta(description="A budget that everything fits; null: not known.")]
    drops: Annotated[list[DropShape], Meta(description="The next above the present budget.")]
    dropping: Annotated[Count, Meta(description="Budgets that drop something, of those that were looked at.")]
    every: Annotated[tuple[Count, Count] | None, Meta(description="Between these every budget was looked at.")]
    tried: Annotated[Count, Meta(description="Budgets that were looked at.")]
    runs: Annotated[Count, Meta(description="Times that was decided again.")]


class NotKnownShape(Shape, frozen=True):
    """The proofs that were not done when their limit was reached."""

    within: Annotated[str, Meta(description="The limit, in words.")]
    what_if: Annotated[list[str], Meta(description="Ids of items.")]
    ranges: Annotated[list[str], Meta(description="Names of settings.")]
    curve: Annotated[list[str] | UnsetType, Meta(description="Fields of the curve.")] = UNSET


class NotExaminedShape(Shape, frozen=True):
    """The numbers of entries without `what_if`: those that go out whole, and the others."""

    whole: Count
    others: Annotated[Count, Meta(description="--dropped all examines each.")]


Ranges = Annotated[
    dict[str, tuple[float, float] | None],
    Meta(description="With --explain: weights that change nothing; null: not known."),
]
KnobRanges = Annotated[
    dict[str, tuple[float, float] | None], Meta(description="The same of settings that are no weights.")
]


class ProofFields(Shape, frozen=True, kw_only=True):
    """The fields that `--explain` adds to the answer of every kind, below its own."""

    ranges: Ranges | UnsetType = UNSET
    knob_ranges: KnobRanges | UnsetType = UNSET
    curve: CurveShape | UnsetType = UNSET
    not_known: NotKnownShape | UnsetType = UNSET
    not_examined: NotExaminedShape | UnsetType = UNSET
