"""Prunes the history in the body of a request, in the formats of four interfaces.

    pruner = RequestPruner(settings, store)
    pruner.edit("/v1/messages", "", body)     # the body that is sent in its place; None: it leaves as it came

Whatever is wrong with a request, it leaves as it came, and `pruner.whole` counts the reason.
"""

from __future__ import annotations

import json
import re
import stat
import threading
import zlib
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import is_
from pathlib import Path
from typing import Any

from secateur import Settings, owner, redact

from secateur_agents.live import Live, Step
from secateur_agents.savings import SavingsRecord
from secateur_agents.store import OriginalStore

MOST_BYTES = 128 << 20  # most bytes of a body that was compressed
_MOST_MODELS = 16  # models with a memory of their own: a session asks a few
_MOST_MODEL_CHARS = 200

# The ends of paths, and the key of the history in their bodies.
_HISTORIES = (
    ("/messages", "messages"),  # Anthropic
    ("/chat/completions", "messages"),  # OpenAI, and most others
    ("/responses", "input"),  # OpenAI
    (":generateContent", "contents"),  # Gemini
    (":streamGenerateContent", "contents"),
)
# Fields of the Responses API that name a history which the provider keeps: what the request holds is not the whole.
_KEPT_BY_PROVIDER = ("previous_response_id", "conversation")

# A result of which Claude Code sends the beginning, with the file that it wrote the whole to.
_SAVED = re.compile(
    r"<persisted-output>\nOutput too large \([^)\n]{1,20}\)\. Full output saved to: ([^\n]{1,4096})\n\n"
    r"Preview \(first [^)\n]{1,20}\):\n(.{1,20000}?)(?:\n\.\.\.)?\n</persisted-output>",
    re.DOTALL,
)

Observe = Callable[[dict[str, Any], Sequence[Any], str, Step], None]


class RequestPruner:
    """See the module docstring. Safe to use from threads.

    Attributes:
        records: sizes of the requests that held a history.
        whole: reasons for which requests with a history left as they came, although they may have been too long.
    """

    def __init__(
        self, settings: Settings, store: OriginalStore | None, observe: Observe | None = None, home: Path | None = None
    ) -> None:
        """`store`: None: the agent has no tool that gives originals back. `observe`: gets the body of each request
        that was pruned or fitted, its history as it came, the model, and the step. `home`: the agent's own folder,
        to which it writes long outputs of tools."""
        self.records: list[SavingsRecord] = []
        self.whole: Tally[str] = Tally()
        self._settings, self._store, self._observe, self._home = settings, store, observe, home
        self._lives: dict[str, Live] = {}
        self._lock = threading.Lock()

    def edit(self, path: str, encoding: str, data: bytes) -> bytes | None:
        """Returns the body that is sent in place of `data`, not compressed; None: it is sent as it came.

        Args:
            path: of the request at the provider.
            encoding: the header `content-encoding`; "" without one.
        """
        if (key := next((key for end, key in _HISTORIES if path.endswith(end)), None)) is None:
            return None
        try:
            body = json.loads(_decompressed(data, encoding))
            if any(body.get(name) for name in _KEPT_BY_PROVIDER):
                raise _NotPrunedError("the provider keeps a part of the history")
            history = body.get(key)
            if not isinstance(history, list):
                raise _NotPrunedError(f"{key} is not a list")
            model = body.get("model") or path.rpartition("/")[2].partition(":")[0]
            model = model[:_MOST_MODEL_CHARS] if isinstance(model, str) else ""
            step = self._live(model).step(history)
            for notice in step.warnings:
                if notice.code == "not_pruned":
                    self.whole[notice.message] += 1
            if step.sizes is not None:
                self.records.append(step.sizes)
            if self._observe is not None:
                with suppress(Exception):  # what is only shown must not change what is sent
                    self._observe(body, history, model, step)
            if len(step.messages) == len(history) and all(map(is_, step.messages, history)):
                return None
            return json.dumps({**body, key: step.messages}, separators=(",", ":"), allow_nan=False).encode()
        except _NotPrunedError as error:
            self.whole[str(error)] += 1
        except Exception as error:  # the agent goes on, whatever is wrong here
            self.whole[f"the body cannot be read ({type(error).__name__})"] += 1
        return None

    def _live(self, model: str) -> Live:
        with self._lock:
            if model not in self._lives and len(self._lives) >= _MOST_MODELS:
                del self._lives[next(iter(self._lives))]
            limit = self._settings.log.max_tokens
            return self._lives.setdefault(model, Live(self._settings, self._store, 0, model, limit, self._read_saved))

    def _read_saved(self, result: str) -> str:
        """Returns the whole of a result of which Claude Code sends the beginning, without credentials: of a regular
        file of the user in the agent's own folder, to which no link leads, and which begins so. "": there is none."""
        if (folder := self._home) is None or (found := _SAVED.fullmatch(result)) is None:
            return ""
        with suppress(OSError, ValueError):
            path, home = Path(found[1]).resolve(strict=True), folder.resolve()
            inside, status = Path(found[1]).relative_to(folder).parts, path.stat()
            own = stat.S_ISREG(status.st_mode) and owner(path) == owner(home) and status.st_size <= 4 << 20
            if own and path == home.joinpath(*inside) and (*inside[:1], *inside[3:-1]) == ("projects", "tool-results"):
                text = path.read_bytes()[: status.st_size].decode("utf-8")
                return redact(text)[0] if text.startswith(found[2]) else ""
        return ""


class _NotPrunedError(Exception):
    """A request that is understood, and leaves as it came."""


def _decompressed(data: bytes, encoding: str) -> bytes:
    """Returns a body without its compression, which may not be a bomb."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return data
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise _NotPrunedError(f"its compression {encoding[:20]!r} is not read")
    inflating = zlib.decompressobj(wbits=47)  # gzip or zlib
    body = inflating.decompress(data, MOST_BYTES)
    if inflating.unconsumed_tail or not inflating.eof:
        raise _NotPrunedError(f"its body is cut off or larger than {MOST_BYTES:,} bytes")
    return body
