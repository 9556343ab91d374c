"""Builds requests in the dialect of the chat protocol that a server accepts. Servers refuse parameters that they do not
know; each refused parameter is left out.

A refusal costs no tokens. It is read only for the names of parameters that were sent: nothing of it is shown or kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from secateur.llm.answers import limit_schema, remove_limits

REFUSALS = frozenset({400, 415, 422, 501})
"""Status codes by which servers refuse a parameter."""

SEED = 7
"""Any number. Servers that support it give the same answer twice for the same seed."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The optional parts that a request has."""

    schema: bool = True  # `response_format` with the JSON schema of the answer
    limits: bool = True  # limits of texts, lists and numbers in that schema
    temperature: bool = True  # 0
    seed: bool = True
    system: bool = True  # a message of the role `system`
    limit: str = "max_tokens"  # the name of the limit of an answer: newer models of OpenAI refuse this older name

    def body(
        self, model: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], most_tokens: int
    ) -> dict[str, Any]:
        """Returns the body of a request."""
        body: dict[str, Any] = {"model": model, "messages": list(messages), "stream": False, self.limit: most_tokens}
        if self.temperature:
            body["temperature"] = 0
        if self.seed:
            body["seed"] = SEED
        if self.schema:
            sent = limit_schema(schema, most_tokens) if self.limits else remove_limits(schema)
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": sent},
            }
        return body

    def simpler(self, refusal: str) -> Dialect | None:
        """Returns the dialect to try after a refusal: without the part that it names, else without the schema; None if
        nothing is left to leave out."""
        text = refusal.lower()
        if self.schema and any(name in text for name in ("response_format", "json_schema", "json schema", "grammar")):
            return self._without_schema()
        if self.limit == "max_tokens" and "max_completion_tokens" in text:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in text:
            return replace(self, temperature=False)
        if self.seed and "seed" in text:
            return replace(self, seed=False)
        if self.system and "system" in text:
            return replace(self, system=False)
        return self._without_schema() if self.schema else None

    def _without_schema(self) -> Dialect:
        """Leaves out the limits of the schema, which some servers do not know; the next time, the whole schema."""
        return replace(self, limits=False) if self.limits else replace(self, schema=False)
