"""The shapes of what `status`, `index` and `prefer` print as JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from secateur.render.shared_shapes import Count, NoticeShape, Number, Shape

Fraction = Annotated[float, Meta(ge=0, le=1)]


class ExampleQueryShape(Shape):
    """A question that the repository suggests, and a budget at which its answer is cut."""

    query: str
    drawn_from: Literal["a commit", "a docstring", "a heading", "a name"]
    budget: Count
    kept: Count
    dropped: Count


class StatusOutput(Shape):
    """The output of `secateur status` and `secateur index` with `--format json`."""

    source: str
    commit: str
    files: Count
    fragments: Count
    lines: Count
    languages: dict[str, Count]
    skipped: dict[str, Count]
    skipped_paths: list[tuple[str, str]]
    problems: dict[str, Count]
    read: Count
    reused: Count
    edges: Count
    call_sites: Count
    calls_resolved: Count
    calls_external: Count
    counter: str
    embedding: str
    snapshot: str
    notices: list[str]
    fresh: bool
    components: list[Number]
    bytes_on_disk: Count
    only: list[str] | UnsetType = UNSET
    examples: list[ExampleQueryShape] | UnsetType = UNSET


class CheckOutput(Shape):
    """The output of `secateur status --check --format json`."""

    indexed: bool
    fresh: bool
    changed: list[str]
    new_commit: bool


class ClearOutput(Shape):
    """The output of `secateur index --clear --format json`."""

    removed_bytes: Count
    index: str


class PreferredShape(Shape):
    """A symbol that the user prefers, and what it counts now."""

    symbol: str
    value: Fraction
    strength: Fraction
    days: Count


class PreferOutput(Shape):
    """The output of `secateur prefer` with `--format json`: what is remembered afterwards."""

    action: Literal["add", "remove", "list"]
    changed: str
    enabled: bool
    weight: float
    half_life: Count
    symbols: list[PreferredShape]
    warnings: list[NoticeShape]
