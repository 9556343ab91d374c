"""Records what pruning took out, in a file beside the originals of a store, and adds it up.

    store.savings.add(SavingsRecord("run", session, whole=39_001, sent=21))
    for session in summarize(store.savings.read(), 20).sessions: ...

Each record is one line, written at once, so that several programs may write. Only the user may read the file. A full
file becomes the older of two, and what was older goes. No text of a conversation is in it.

What was taken out is not what an agent saved: agents cut long outputs themselves, and nothing here knows how.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from secateur import SCHEMA_VERSION, Count, Fold, Shape, Version

OLDER_NAME, NAME = "secateur-savings-older.jsonl", "secateur-savings.jsonl"

MOST_BYTES = 4 * 1024 * 1024  # size at which the file is full: some 30,000 records

_SESSION_CHARS = 64


class SavingsRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request that was pruned, an output that was shortened, or a text that was given back; sizes are in tokens."""

    source: Literal["live", "run", "recall"]
    session: str = ""
    whole: int = 0  # without pruning
    sent: int = 0
    whole_cached: int = 0  # of these, what the request before had sent
    sent_cached: int = 0
    cut: bool = False
    waiting: bool = False  # above the safe zone, because a cut did not pay yet
    at: int = 0  # seconds since 1970


@dataclass(frozen=True, slots=True)
class SavingsFile:
    """See the module docstring."""

    folder: Path
    clock: Callable[[], float]

    def add(self, record: SavingsRecord) -> None:
        """Adds a record; where that is not possible, it is lost, and nothing else."""
        record = msgspec.structs.replace(record, session=record.session[:_SESSION_CHARS], at=int(self.clock()))
        path = self.folder / NAME
        with suppress(OSError, ValueError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # the first requests have kept nothing yet
            file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                os.write(file, msgspec.json.encode(record) + b"\n")
                status = os.fstat(file)
            finally:
                os.close(file)
            if status.st_size > MOST_BYTES and path.stat().st_ino == status.st_ino:  # no other program was faster
                path.replace(self.folder / OLDER_NAME)

    def read(self) -> list[SavingsRecord]:
        """Returns the records, the oldest first. Damaged lines are left out."""
        records = []
        decoder = msgspec.json.Decoder(SavingsRecord)
        for name in (OLDER_NAME, NAME):
            with suppress(OSError), (self.folder / name).open("rb") as file:
                for line in file.read(2 * MOST_BYTES).splitlines():
                    with suppress(msgspec.MsgspecError, ValueError):
                        records.append(decoder.decode(line))
        return records


class SessionTotals(Shape, frozen=True):
    """One session, and what pruning took out of it. Sizes are in tokens."""

    session: str
    requests: Annotated[Count, Meta(description="That `Live` pruned.")]
    cuts: Count
    outputs: Annotated[Count, Meta(description="Of commands, shortened before they entered the conversation.")]
    whole: Annotated[Count, Meta(description="Of requests and outputs without pruning; an output counts once.")]
    taken_out: Annotated[int, Meta(description="Of these. An agent may have cut a part of an output itself.")]
    paid_share: Annotated[
        float | None,
        Meta(description="Price of the requests, as a share of those without pruning; null without requests."),
    ]
    recalls: Annotated[Count, Meta(description="Texts that were asked back.")]
    first: Annotated[Count, Meta(description="Seconds since 1970.")]
    last: Count


class SavedOutput(Shape, frozen=True):
    """The output of `secateur saved --format json`."""

    schema_version: Version
    total: SessionTotals
    sessions: list[SessionTotals]
    found: Annotated[Count, Meta(description="All sessions.")]


def summarize(records: Sequence[SavingsRecord], limit: int) -> SavedOutput:
    """Adds up records by session, the latest first; `limit`: most sessions."""
    sessions: dict[str, list[SavingsRecord]] = {}
    for record in records:
        sessions.setdefault(record.session, []).append(record)
    shapes = (_summary(name, added) for name, added in sessions.items())
    latest = sorted(shapes, key=lambda shape: (-shape.last, shape.session))[:limit]
    return SavedOutput(SCHEMA_VERSION, _summary("", records), latest, len(sessions))


def _summary(session: str, records: Sequence[SavingsRecord]) -> SessionTotals:
    requests = [record for record in records if record.source == "live"]
    whole_price = sum(Fold.price(record.whole, record.whole_cached) for record in requests)
    paid = sum(Fold.price(record.sent, record.sent_cached) for record in requests)
    return SessionTotals(
        session=session,
        requests=len(requests),
        cuts=sum(record.cut for record in requests),
        outputs=sum(record.source == "run" for record in records),
        whole=sum(record.whole for record in records),
        taken_out=sum(record.whole - record.sent for record in records),
        paid_share=round(paid / whole_price, 4) if whole_price else None,
        recalls=sum(record.source == "recall" for record in records),
        first=min((record.at for record in records), default=0),
        last=max((record.at for record in records), default=0),
    )
