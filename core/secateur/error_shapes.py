"""Errors as JSON, apart from the errors themselves, which every command imports at once."""

from secateur.shape import Shape


class ErrorDetails(Shape, frozen=True):
    """The error: what went wrong, where, and what to do."""

    code: str
    message: str
    hint: str


class ErrorOutput(Shape, frozen=True):
    """The output of any command with `--format json` if it fails."""

    error: ErrorDetails
