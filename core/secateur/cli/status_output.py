"""The types that `status` and `index` print as JSON; apart, because what they hold takes long to import."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from secateur.example_queries import ExampleQuery
from secateur.shape import Count, Number, Shape


class StatusOutput(Shape, frozen=True):
    """The output of `secateur status` and `secateur index` with `--format json`."""

    source: str
    commit: str
    files: Count
    fragments: Count
    lines: Count
    languages: dict[str, Count]
    skipped: dict[str, Count]
    skipped_paths: Sequence[tuple[str, str]]
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
    notices: Sequence[str]
    fresh: bool
    components: Sequence[Number]
    bytes_on_disk: Count
    only: Sequence[str] | UnsetType = UNSET
    examples: Sequence[ExampleQuery] | UnsetType = UNSET


class CheckOutput(Shape, frozen=True):
    """The output of `secateur status --check --format json`."""

    indexed: bool
    fresh: bool
    changed: Sequence[str]
    new_commit: bool
