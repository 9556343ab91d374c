"""Records what `secateur with` sent, for `secateur inspect`: of each conversation its last request as it came, without
credentials, and what was cut of it before which request.

    recorder = RequestRecorder(folder_of_records(os.environ), os.getpid())
    RequestPruner(settings, store, recorder.observe)
    recorder.close()
    newest_record(os.environ, running=True)     # the path that `inspect --follow` opens

A record is a request body, which `secateur conversation` reads as any other; only the user can read the file. A thread
writes it while the model works: the newest request of a conversation wins. There is no header in it.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from secateur import Entry, Fold, __version__, redact, state_dir

from secateur_agents.live import Step
from secateur_agents.savings import SavingsRecord

_NAME = re.compile(r"with-(\d{1,10})-\d{1,4}\.json")
_MOST_CONVERSATIONS = 100  # of one run: the agent's own and those of its subagents
_MOST_RECORDS = 20  # records of earlier runs that stay
_LEAST_MESSAGES = 2  # a request for a title or the like has one, and is not recorded
_PROMPTS = ("system", "instructions", "systemInstruction", "system_instruction")


@dataclass(slots=True)
class _Conversation:
    path: Path
    requests: int = 0
    waiting: int = 0
    not_sent: int = 0
    paid: float = 0.0
    whole: float = 0.0
    cuts: list[dict[str, Any]] = field(default_factory=list)
    changed: tuple[Entry, ...] = ()  # at the request before

    def add(self, step: Step, sizes: SavingsRecord) -> dict[str, Any]:
        """Returns the ledger, with this request, in the shape that `recorded_ledger` of the engine reads."""
        self.requests += 1
        self.waiting += sizes.waiting
        self.not_sent += sizes.whole - sizes.sent
        self.paid += Fold.price(sizes.sent, sizes.sent_cached)
        self.whole += Fold.price(sizes.whole, sizes.whole_cached)
        if sizes.cut and step.changed != self.changed:
            known, cache = {entry.id: entry for entry in self.changed}, step.cache
            cut: dict[str, Any] = {"request": self.requests, "after": sizes.sent, "reread": cache.reread_tokens}
            cut |= {"before": sizes.sent + cache.tokens_saved, "pays_after": cache.pays_after}
            self.cuts.append(cut | {"entries": [entry for entry in step.changed if known.get(entry.id) != entry]})
        self.changed = step.changed
        share = self.paid / self.whole if self.whole else None
        ledger = {"requests": self.requests, "cuts": self.cuts, "waiting": self.waiting, "not_sent": self.not_sent}
        return {"version": __version__, "ledger": msgspec.to_builtins({**ledger, "paid_share": share, "recalls": 0})}


class RequestRecorder:
    """See the module docstring."""

    def __init__(self, folder: Path, process: int) -> None:
        self._folder, self._process = folder, process
        self._conversations: dict[bytes, _Conversation] = {}
        self._waiting: dict[Path, dict[str, Any]] = {}
        self._changed, self._closed = threading.Condition(), False
        self._thread = threading.Thread(target=self._write, name="secateur-record", daemon=True)
        self._thread.start()

    def observe(self, body: Mapping[str, Any], history: Sequence[Any], model: str, step: Step) -> None:
        """Takes a request; see `RequestPruner`."""
        if step.sizes is None or len(history) < _LEAST_MESSAGES:
            return
        with self._changed:
            digest = sha256(json.dumps(_without_marks(history[0])).encode()).digest()
            if digest not in self._conversations and len(self._conversations) >= _MOST_CONVERSATIONS:
                return
            path = self._folder / f"with-{self._process}-{len(self._conversations)}.json"
            ledger = self._conversations.setdefault(digest, _Conversation(path)).add(step, step.sizes)
            prompt = next((body[name] for name in _PROMPTS if body.get(name)), None)
            head = {"system": prompt} if prompt else {}
            head |= {"tools": body["tools"]} if body.get("tools") else {}
            record = {"model": model, "secateur_with": ledger, **head, "messages": list(history)}
            self._waiting[self._conversations[digest].path] = record
            self._changed.notify()

    def close(self) -> Path | None:
        """Writes what waits. Returns the record with the most requests; None if there is none."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        most = max(self._conversations.values(), key=lambda one: one.requests, default=None)
        return most.path if most is not None and most.path.exists() else None

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                path = next(iter(self._waiting))
                record = self._waiting.pop(path)
            with suppress(OSError, ValueError, RecursionError):
                text = redact(json.dumps(record))[0]
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                handle, name = tempfile.mkstemp(prefix=".", dir=self._folder)  # readable for the user alone
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(name).replace(path)
                for older in _records(self._folder)[_MOST_RECORDS + len(self._conversations) :]:
                    older.unlink()


def folder_of_records(environ: Mapping[str, str]) -> Path:
    """Returns the folder of records, in the user's state folder."""
    return state_dir(environ) / "with"


def newest_record(environ: Mapping[str, str], *, running: bool) -> Path | None:
    """Returns the newest record, or that of a `secateur with` that runs; None if there is none. Of one run it is the
    first conversation, the agent's own."""
    for path in _records(folder_of_records(environ)):
        process = int(_NAME.fullmatch(path.name)[1])  # type: ignore[index]
        first = path.with_name(f"with-{process}-0.json")
        if not running or _runs(process):
            return first if first.exists() else path
    return None


def _records(folder: Path) -> list[Path]:
    """Returns the records, the newest first."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # gone meanwhile
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, Path(entry.path)))
    return [path for _, path in sorted(found, reverse=True)]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (OSError, OverflowError):
        return False
    return True


def _without_marks(message: Any) -> Any:
    """Returns a message without the marks of a prompt cache, which an agent sets anew in each request."""
    if isinstance(message, dict):
        return {key: _without_marks(value) for key, value in message.items() if key != "cache_control"}
    return [_without_marks(value) for value in message] if isinstance(message, list) else message
