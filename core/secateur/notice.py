"""The notice of an answer, apart from the ledger: repeating an answer needs nothing else."""

from msgspec import Struct


class Notice(Struct, frozen=True):
    """Something the user should know about an otherwise good answer: a stable code, and a sentence."""

    code: str
    message: str

    @property
    def title(self) -> str:
        """The code in words, as people read it."""
        return self.code.replace("_", " ")

    def to_dict(self) -> dict[str, str]:
        """Returns the notice for JSON."""
        return {"code": self.code, "message": self.message}
