"""The constructor and the report that both classes of the pruner spec share."""

from __future__ import annotations

from typing import Any

from secateur.kinds.autocoder import merge_args, model_of
from secateur.kinds.conversation.decisions import Pruned
from secateur.kinds.report_logs import log_report
from secateur.llm.interface import LanguageModel
from secateur.model import TrimReport
from secateur.settings import Settings


class TranscriptPruner:
    """Holds the settings and the model of a pruner, and its last result."""

    def __init__(
        self,
        settings: Settings | None = None,
        llm: LanguageModel | None = None,
        *,
        args: object = None,
        verbose: bool = False,
    ) -> None:
        """Raises UsageError, ConfigError: `settings`, `args` or `llm` has the wrong type; a field of `args` is out of
        range."""
        self.settings = merge_args(args, settings)
        self.llm: LanguageModel | None = model_of(llm)
        self.verbose = verbose
        self.result: Pruned | None = None

    @property
    def report(self) -> TrimReport | None:
        """The ledger of the last call."""
        return self.result.report if self.result is not None else None

    def _messages_of(self, result: Pruned) -> list[dict[str, Any]]:
        """Returns the messages that go out; keeps the result and, with `verbose`, logs its report."""
        self.result = result
        log_report("conversation", result.report, self.verbose)
        return result.messages
