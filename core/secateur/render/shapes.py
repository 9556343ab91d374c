"""The shapes of everything that is printed as JSON, as types, and their JSON schemas (draft 2020-12).

`docs/generate.py` writes `schemas()` to docs/schemas, one file a shape. Tests hold what the commands print against
them. A field with the default UNSET is left out where there is nothing to say; no shape has fields beside those here,
except where something from outside is handed through: a message, an envelope.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from secateur.render.conversation_shapes import ConversationOutput
from secateur.render.evaluation_shapes import EvaluationOutput, MineOutput
from secateur.render.index_shapes import CheckOutput, ClearOutput, PreferOutput, StatusOutput
from secateur.render.scenario_shapes import DemosOutput, ReplayOutput, ScenariosOutput
from secateur.render.session_shapes import SessionsOutput
from secateur.render.shared_shapes import (
    ActionName,
    Count,
    ErrorOutput,
    LedgerShape,
    Lines,
    NoticeShape,
    Number,
    PartialShape,
    ProofsShape,
    PrunedOutput,
    QueryKindShape,
    ReasonCode,
    ReasonShape,
    ReportShape,
    Shape,
    StateName,
    Totals,
    WhatIf,
)
from secateur.render.tuning_shapes import BisectionOutput, TuningOutput
from secateur.render.walk_shapes import Walk

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# --- search -----------------------------------------------------------------------------------------------------------


class DecisionShape(Shape):
    """The decision on a candidate: with `needed` and `left` where it is not kept whole, or `chance` and `least`."""

    state: StateName
    reason: ReasonCode
    needed: Count | UnsetType = UNSET
    left: int | UnsetType = UNSET
    chance: Annotated[float, Meta(description="That it is needed.")] | UnsetType = UNSET
    least: Annotated[float, Meta(description="The chance at which the pack ends.")] | UnsetType = UNSET


class DroppedCandidate(Shape):
    """A candidate that does not go out. `parts` and `what_if` are there with `--explain`."""

    file_path: str
    line_start: Count
    line_end: Count
    line_range: str
    symbol_id: str
    relevance_score: float
    source: Literal["graph", "embedding"]
    kind: str
    language: str
    hotspot_score: float
    distance: Count | None
    depth: int | None
    path: list[str]
    relation: Literal["anchor", "caller", "callee", "both", "related"] | None
    priority: float
    terms: dict[str, float]
    channels: list[str]
    token_count: Count
    decision: DecisionShape
    parts: dict[str, dict[str, float]] | UnsetType = UNSET
    what_if: WhatIf | UnsetType | None = UNSET


class Candidate(DroppedCandidate, kw_only=True):
    """A candidate that goes out: every field is there, however many candidates there are."""

    content: str


class Neighbour(Shape):
    """A caller or a callee of the anchors; `depth` counts the calls between."""

    symbol_id: str
    file_path: str
    depth: Number


class Neighbours(Shape):
    """The callers and callees of the anchors among what goes out."""

    callers: list[Neighbour]
    callees: list[Neighbour]


class SearchOutput(PrunedOutput):
    """The output of `secateur search --format json`."""

    source: str
    query: str
    token_count: Count
    budget: Count
    counter: str
    embedding: str
    anchored_by: str
    profile: str
    candidates: list[Candidate]
    dropped: list[DroppedCandidate]
    graph: Neighbours
    report: ReportShape
    query_kind: Annotated[QueryKindShape, Meta(description="Unless `relevance.query_kind` is off.")] | UnsetType = UNSET
    partial: Annotated[PartialShape, Meta(description="With --partial, before all is indexed.")] | UnsetType = UNSET
    message_tokens: Annotated[Count, Meta(description="Where nothing goes out.")] | UnsetType = UNSET
    walk: Annotated[Walk, Meta(description="With --explain.")] | UnsetType = UNSET


# --- files ------------------------------------------------------------------------------------------------------------


class FileShape(Shape):
    """A file that goes out, whole or in part."""

    module_name: str
    source_code: str
    tokens: Count


class ThresholdShape(Shape):
    """The setting that a score is below, and the score it asks for."""

    setting: str
    value: float
    asked: float
    best: float | UnsetType = UNSET


class SnippetShape(Shape):
    """A piece of a file that was tried. `needed` and `left` are there where it was refused."""

    lines: Lines
    name: str
    score: float
    kept: bool
    reason: ReasonCode
    needed: Count | UnsetType = UNSET
    left: int | UnsetType = UNSET


class FileWhatIf(Shape):
    """The lines that go out where no file goes out whole first."""

    full_file_share: float
    lines: Lines


class FileDecisionShape(Shape):
    """The decision on a file, and what it was judged by."""

    module_name: str
    state: StateName
    reason: ReasonCode
    tokens_before: Count
    tokens_after: Count
    needed: Count | UnsetType = UNSET
    left: int | UnsetType = UNSET
    threshold: ThresholdShape | UnsetType = UNSET
    what_if: FileWhatIf | UnsetType = UNSET
    score: float | UnsetType = UNSET
    judge: str | UnsetType = UNSET
    said: str | UnsetType = UNSET
    ranges: list[Lines] | UnsetType = UNSET
    snippets: list[SnippetShape] | UnsetType = UNSET


class FilesOutput(PrunedOutput):
    """The output of `secateur files --format json`."""

    files: list[FileShape]
    decisions: list[FileDecisionShape]
    report: ReportShape


# --- envelope ---------------------------------------------------------------------------------------------------------


class TrimmedSection(Shape, rename="camel"):
    """A section that was trimmed, in characters."""

    section: str
    action: ActionName
    before_chars: int
    after_chars: int


class EnvelopeReport(Totals):
    """The report as the context-budget spec froze it."""

    actions: list[TrimmedSection]


class EnvelopeOutput(ProofsShape):
    """The output of `secateur envelope --format json`: the frozen shape of the context-budget spec, and the ledger."""

    trimmed_envelope: dict[str, Any] = msgspec.field(name="trimmedEnvelope")
    trim_report: EnvelopeReport = msgspec.field(name="trimReport")
    ledger: LedgerShape


# --- chunk ------------------------------------------------------------------------------------------------------------


class PartShape(Shape):
    """The part of a file that a chunk holds."""

    number: Number
    of: Number
    line_start: Count
    line_end: Count
    side: Literal["old", "new"]
    inside: str


class ChunkFile(Shape):
    """A file of a chunk; `part` is null where the whole file is there."""

    path: str
    part: PartShape | None
    token_count: Count


class ChunkShape(Shape):
    """One text for a model."""

    index: Number
    of: Number
    token_count: Count
    files: list[ChunkFile]
    text: str


class CoverageShape(Shape):
    """A changed file: in which chunks it is, or why it is in none. `old_path` is there where it was renamed."""

    path: str
    state: Literal["whole", "split", "left_out"]
    chunks: list[Number]
    reason: str
    rule: str | None
    treatment: Literal["modified", "added", "deleted", "renamed", "copied", "mode", "type"]
    added: Count
    removed: Count
    tokens_before: Count
    old_path: str | UnsetType = UNSET


class ComparedShape(Shape):
    """The two sides of the diff; ids of commits, "" for none."""

    what: str
    base: str
    head: str
    repository: str


class Packing(Shape):
    """The fill of the chunks: tokens a chunk may hold, less what is injected into each."""

    limit: Count
    injected: Count
    capacity: int
    chunks: Count
    lower_bound: Count
    counter: str


class LinesShown(Shape):
    """Lines that were offered, and those that had room."""

    lines: Count
    shown: Count


class LinterLines(LinesShown):
    """The same of a linter; `elsewhere` counts findings in files that did not change."""

    elsewhere: Count


class ChunkOutput(PrunedOutput):
    """The output of `secateur chunk --format json`."""

    chunks: list[ChunkShape]
    coverage: list[CoverageShape]
    compared: ComparedShape
    packing: Packing
    linter: LinterLines
    signatures: LinesShown
    report: ReportShape


# --- log --------------------------------------------------------------------------------------------------------------


class LogOutput(PrunedOutput):
    """The output of `secateur log --format json`."""

    text: str
    mark: Annotated[str, Meta(description="A line of the text that begins with it and a space is not one of the log.")]


# --- commands that prune nothing --------------------------------------------------------------------------------------


class CompletionOutput(Shape):
    """The output of `secateur completion SHELL --format json`."""

    schema_version: str
    shell: str
    script: Annotated[str, Meta(description="The text that the shell evaluates.")]


class WrittenProfileShape(Shape):
    """The output of `secateur config --save-profile` or `--adopt` with `--format json`."""

    profile: str | None
    file: str
    values: dict[str, Any]
    refused: Annotated[dict[str, str], Meta(description="Key -> why it is not part of the profile.")]
    adopted: str | None


class SettingShape(Shape):
    """A setting in force and where it comes from."""

    value: Any
    origin: str


SHAPES: Mapping[str, Any] = MappingProxyType(
    {
        "search": SearchOutput,
        "files": FilesOutput,
        "conversation": ConversationOutput,
        "envelope": EnvelopeOutput,
        "chunk": ChunkOutput,
        "log": LogOutput,
        "ledger": LedgerShape,
        "report": ReportShape,
        "notice": NoticeShape,
        "error": ErrorOutput,
        "status": StatusOutput,
        "status-check": CheckOutput,
        "check": ScenariosOutput,
        "evaluate": EvaluationOutput,
        "mine": MineOutput,
        "tune": TuningOutput,
        "bisect": BisectionOutput,
        "replay": ReplayOutput,
        "demo": DemosOutput,
        "prefer": PreferOutput,
        "sessions": SessionsOutput,
        "index": StatusOutput,
        "index-clear": ClearOutput,
        "completion": CompletionOutput,
        "config": dict[str, SettingShape],
        "config-profile": WrittenProfileShape,
        "config-reasons": list[ReasonShape],
    }
)
"""Name -> shape: the answer of a command, or a part that several answers have."""


def schemas() -> dict[str, dict[str, Any]]:
    """Name of `SHAPES` -> JSON schema, whole in itself."""
    return {name: {"$schema": DIALECT, **msgspec.json.schema(shape)} for name, shape in SHAPES.items()}
