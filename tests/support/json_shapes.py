"""What is printed as JSON, held against its schema."""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from secateur.cli.schemas import SHAPES, schemas


@cache
def _validators() -> dict[str, Draft202012Validator]:
    found = schemas()
    for schema in found.values():
        Draft202012Validator.check_schema(schema)
    return {name: Draft202012Validator(schema) for name, schema in found.items()}


def violations(name: str, answer: Any) -> list[str]:
    """Where an answer breaks the schema of this name, "candidates.0: ..."; a failure is held against `error`."""
    failed = isinstance(answer, dict) and "error" in answer
    assert name in SHAPES, f"no type in cli/schemas.py is the answer of {name}"
    found = _validators()["error" if failed else name].iter_errors(answer)
    return [f"{'.'.join(map(str, one.absolute_path))}: {one.message[:300]}" for one in found]
