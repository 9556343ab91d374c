"""The notice of an answer, apart from the ledger: an answer that is repeated needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know about an otherwise good answer: a stable code, and a sentence."""

    code: str
    message: str

    def to_dict(self) -> dict[str, str]:
        """As JSON."""
        return {"code": self.code, "message": self.message}
