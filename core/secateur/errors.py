"""Typed errors: every failure that a user can cause or meet has a code, a message that names the thing and the place,
and a hint that says what to do.

    SecateurError              1   the work failed
    ├── UsageError             2   the call was wrong
    │   └── ConfigError        2   a setting is unknown or out of range
    ├── RepositoryError        1   a folder, a repository or a revision cannot be read
    ├── IndexingError          1   the index cannot be written
    ├── TokenizerError         1   a token counter is unknown or has no data
    ├── EmbeddingError         1   an embedding model is unknown, missing, or its server failed
    ├── LlmError               1   a language model cannot be asked
    ├── BudgetExceeded         3   a budget that must be met cannot be met
    └── PromptComposeError     1   an envelope, its budget or its model is malformed

Front ends map `exit_code` to the documented exit codes; JSON output carries `to_dict()`. The engine raises nothing else
on purpose: a traceback that reaches a user is a bug.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from secateur.terminal import clip, visible

if TYPE_CHECKING:
    from secateur.shape import ErrorDetails

_USER = re.compile(r"//[^/\s]*@")

PATH_CELLS = 100  # most cells of a path in an error
LONGEST_SHOWN = 60  # most characters of a wrong value in an error

# Matches a word of letters and digits in a wrong value: it may be a password that belongs elsewhere.
_MAY_BE_SECRET = re.compile(r"(?=[^\s'\",]{0,60}\d)(?=[^\s'\",]{0,60}[A-Za-z])[^\s'\",]{8}")


class SecateurError(Exception):
    """Base of all errors raised on purpose.

    Attributes:
        code: stable identifier, upper snake case (`USAGE`, `NOT_A_DIRECTORY`, `AI_CONTEXT_BUDGET_EXCEEDED`, ...).
        message: what went wrong and where.
        hint: what to do about it; may be empty.
        exit_code: 1 the work failed, 2 the call was wrong, 3 a budget that the contract demands could not be met,
            4 a check found a difference, 130 interrupted.
    """

    exit_code: ClassVar[int] = 1
    default_code: ClassVar[str] = "FAILED"

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code
        if hint:
            self.add_note(f"hint: {hint}")  # in a traceback, as of pytest

    @classmethod
    def missing_extra(cls, what: str, extra: str) -> Self:
        """Returns the error of `what`, which needs an extra that is not installed."""
        return cls(
            f"{what} needs the extra {extra}, which is not installed",
            hint=f"in a checkout: uv tool install '.[{extra}]', or pip install '.[{extra}]'; see docs/use/install.md",
            code="EXTRA_MISSING",
        )

    @property
    def details(self) -> ErrorDetails:
        """The error as `--format json` prints it."""
        from secateur.shape import ErrorDetails  # msgspec takes a while to import, and few runs fail

        return ErrorDetails(self.code, self.message, self.hint)

    def to_dict(self) -> dict[str, str]:
        """`details` as plain values."""
        return self.details.to_dict()


class UsageError(SecateurError):
    """The call itself was wrong: an unknown flag, a value out of range, an impossible path."""

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
    """The configured language model cannot be asked: the variable of its key is not set, or holds no key."""

    default_code = "LLM"


class BudgetExceeded(SecateurError):
    """A budget could not be met although the contract requires it (context-budget, frozen error code)."""

    exit_code = 3
    default_code = "AI_CONTEXT_BUDGET_EXCEEDED"


class PromptComposeError(SecateurError):
    """A part of a prompt is malformed: an envelope, its budget or its model (context-budget, frozen error code)."""

    default_code = "AI_PROMPT_COMPOSE_ERROR"


# --- errors with one text for many callers ----------------------------------------------------------------------------


def shown(name: str | Path) -> str:
    """Formats a path for an error."""
    return clip(visible(str(name)), PATH_CELLS) or "''"


def wrong_value(text: str) -> str:
    """Formats a wrong value for an error: cut, and not repeated if a word of it may be a password."""
    cut = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
    return f"a text of {len(text)} characters" if _MAY_BE_SECRET.search(cut) else cut


def without_password(text: str) -> str:
    """Removes the user names and passwords of URLs from a text."""
    return _USER.sub("//", text)


def reason_of(error: Exception) -> str:
    """Returns the system's own description of an error, without number and path."""
    return getattr(error, "strerror", None) or str(error)


def unreadable(name: str | Path, why: Exception | str, *, hint: str = "", flag: str = "") -> SecateurError:
    """Returns the error for a file that cannot be read. `flag`: the flag that named it, if a command reads several."""
    missing = isinstance(why, FileNotFoundError)
    return SecateurError(
        f"{_flag_prefix(flag)}cannot read {shown(name)}: {reason_of(why) if isinstance(why, Exception) else why}",
        hint=hint or ("check the path" if missing else "check the path and its permissions"),
        code="NO_SUCH_FILE" if missing else "UNREADABLE",
    )


def too_large(name: str | Path, limit: int, what: str, *, flag: str = "") -> SecateurError:
    """Returns the error for an input with more than `limit` bytes. `what`: its expected kind, such as "transcript"."""
    message = f"{_flag_prefix(flag)}{shown(name)} is larger than {limit:,} bytes"
    return SecateurError(message, hint=f"no {what} is that large: check the path", code="TOO_LARGE")


def not_utf8(name: str | Path, error: UnicodeDecodeError, kind: type[SecateurError] | None = None) -> SecateurError:
    """Returns the error for a file that is not text. `kind`: a class of errors with its own code."""
    message, hint = f"{shown(name)}: not UTF-8 at byte {error.start}", "save it as UTF-8"
    return kind(message, hint=hint) if kind else SecateurError(message, hint=hint, code="NOT_UTF8")


def no_standard_input(what: str, instead: str, *, flag: str = "") -> UsageError:
    """Returns the error for `-` in a process without standard input. `instead`: what to do."""
    return UsageError(f"{_flag_prefix(flag)}there is no standard input to read the {what} from", hint=instead)


def unwritable(name: str | Path, error: Exception) -> SecateurError:
    """Returns the error for a file or folder that cannot be written."""
    why, hint = reason_of(error), "check the path, and whether its folder can be written"
    if isinstance(error, FileNotFoundError):
        why, hint = f"there is no folder {shown(Path(name).parent)}", "make it first, or choose another place"
    return SecateurError(f"cannot write {shown(name)}: {why}", hint=hint, code="OUTPUT")


def unreadable_folder(path: Path, error: Exception | None = None) -> RepositoryError:
    """Returns the error for a folder that is missing, or that cannot be read because of `error`."""
    if error is None:
        return RepositoryError(f"no such folder: {path}", hint="check the path", code="NO_SUCH_FOLDER")
    return RepositoryError(
        f"cannot read {path}: {reason_of(error)}", hint="check the path and its permissions", code="UNREADABLE_FOLDER"
    )


def bare_repository(path: Path, hint: str) -> RepositoryError:
    """Returns the error for reading the files of a bare repository."""
    return RepositoryError(
        f"{path} is a bare git repository: it has no files of its own", hint=hint, code="BARE_REPOSITORY"
    )


def _flag_prefix(flag: str) -> str:
    return f"{flag}: " if flag else ""


def not_allowed(flag: str, text: str, allowed: str, near: str = "") -> UsageError:
    """Returns the error about the value of a flag, worded like errors about configuration keys."""
    return UsageError(
        f"{flag} {wrong_value(text or repr(text))} is not allowed",
        hint=(f"did you mean {near}? " if near else "") + f"{flag} takes {allowed}",
    )
