"""Typed errors: every failure a user can cause or meet has a code, a message that names the thing and the place, and a
hint that says what to do.

Front ends map `exit_code` to the documented exit codes; JSON output carries `to_dict()`. Nothing else of the engine is
raised on purpose: a traceback that reaches a user is a bug.
"""

from __future__ import annotations

from typing import ClassVar


class SecateurError(Exception):
    """Base of all errors raised on purpose.

    Attributes:
        code: stable identifier, upper snake case (`USAGE`, `NOT_A_DIRECTORY`, `AI_CONTEXT_BUDGET_EXCEEDED`, ...).
        message: what went wrong and where.
        hint: what to do about it; may be empty.
        exit_code: 1 the work failed, 2 the call was wrong, 3 a budget the contract demands could not be met,
            4 a check found a difference, 130 interrupted.
    """

    exit_code: ClassVar[int] = 1
    default_code: ClassVar[str] = "FAILED"

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code

    def to_dict(self) -> dict[str, str]:
        """`{"code", "message", "hint"}`, the shape printed under `error` with `--format json`."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class UsageError(SecateurError):
    """The call itself was wrong: an unknown flag, a value out of range, a path that cannot be meant."""

    exit_code = 2
    default_code = "USAGE"


class ConfigError(UsageError):
    """A configuration file or `--set` names an unknown key or a value out of range."""

    default_code = "CONFIG"


class RepositoryError(SecateurError):
    """The repository cannot be read: no such folder, not readable, git failed or timed out."""

    default_code = "REPOSITORY"


class IndexingError(SecateurError):
    """The index cannot be written or is held by another process for too long."""

    default_code = "INDEX"


class TokenizerError(SecateurError):
    """The configured token counter is unknown or its data cannot be found."""

    default_code = "TOKENIZER"


class EmbeddingError(SecateurError):
    """The configured embedding model is unknown, missing, or its server failed."""

    default_code = "EMBEDDING"


class LlmError(SecateurError):
    """The configured language model cannot be asked: its key is not set, or the extra is not installed."""

    default_code = "LLM"


class BudgetExceeded(SecateurError):
    """A budget could not be met where the contract says it must (context-budget, frozen error code)."""

    exit_code = 3
    default_code = "AI_CONTEXT_BUDGET_EXCEEDED"


class PromptComposeError(SecateurError):
    """What a prompt is to be composed of is malformed: an envelope, its budget or its model (context-budget, frozen
    error code)."""

    default_code = "AI_PROMPT_COMPOSE_ERROR"
