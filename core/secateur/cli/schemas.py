"""The type of everything that is printed as JSON, by name, and the JSON schemas (draft 2020-12) that are made of them.

`docs/generate.py` writes `schemas()` to docs/reference/schemas, a file a type; tests compare them with what is printed.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from secateur_agents.savings import SavedOutput
from secateur_agents.sessions.places import SessionsOutput
from secateur_lab.commands.demo import DemosOutput
from secateur_lab.commands.mine import MineOutput
from secateur_lab.evaluation.report import EvaluationOutput
from secateur_lab.evaluation.tuned_profile import TuningOutput
from secateur_lab.replays.report import ReplayOutput
from secateur_lab.scenarios.report import ScenariosOutput

from secateur.cli.completion import CompletionOutput
from secateur.cli.config import ProfileOutput, ReasonShape, SettingShape
from secateur.cli.index import ClearOutput
from secateur.cli.prefer import PreferOutput
from secateur.cli.status_output import CheckOutput, StatusOutput
from secateur.kinds.conversation.kind import ConversationOutput
from secateur.kinds.diff.chunks import ChunkOutput
from secateur.kinds.envelope.envelope import EnvelopeOutput
from secateur.kinds.files.kind import FilesOutput
from secateur.kinds.log.kind import LogOutput
from secateur.ledger import LedgerShape, Notice, TrimReport
from secateur.render.search_json import SearchOutput
from secateur.shape import ErrorOutput

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Name -> shape: the answer of a command, or a part that several answers have.
SHAPES: Mapping[str, Any] = MappingProxyType(
    {
        "search": SearchOutput,
        "files": FilesOutput,
        "conversation": ConversationOutput,
        "envelope": EnvelopeOutput,
        "chunk": ChunkOutput,
        "log": LogOutput,
        "ledger": LedgerShape,
        "report": TrimReport,
        "notice": Notice,
        "error": ErrorOutput,
        "status": StatusOutput,
        "status-check": CheckOutput,
        "check": ScenariosOutput,
        "evaluate": EvaluationOutput,
        "mine": MineOutput,
        "tune": TuningOutput,
        "replay": ReplayOutput,
        "demo": DemosOutput,
        "prefer": PreferOutput,
        "sessions": SessionsOutput,
        "saved": SavedOutput,
        "index": StatusOutput,
        "index-clear": ClearOutput,
        "completion": CompletionOutput,
        "config": dict[str, SettingShape],
        "config-profile": ProfileOutput,
        "config-reasons": list[ReasonShape],
    }
)


def schemas() -> dict[str, dict[str, Any]]:
    """Name of `SHAPES` -> JSON schema, whole in itself."""
    return {name: {"$schema": DIALECT, **msgspec.json.schema(shape)} for name, shape in SHAPES.items()}
