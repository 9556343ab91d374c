"""Keeps what was taken out of conversations, so that it can be had back: a file for each text in the user's own folder.

    store = OriginalStore.at(state_dir(os.environ) / "originals", clock=time.time)
    store.keep({"550ccfe33fea": text})
    store.recall("550ccfe33fea", lines="1-80")

A file is named by the digest that the placeholder in the conversation names. Credentials are replaced before anything
is written, only the user may read the files, and what is older than a week or beyond 256 MB goes, the oldest first.
Files that the store did not write stay, whatever their age.

Records what pruning took out, in a file beside the originals of a store, and adds it up.

    store.savings.add(SavingsRecord("run", session, whole=39_001, sent=21))
    for session in summarize(store.savings.read(), 20).sessions: ...

Each record is one line, written at once, so that several programs may write. Only the user may read the file. A full
file becomes the older of two, and what was older goes. No text of a conversation is in it.

What was taken out is not what an agent saved: agents cut long outputs themselves, and nothing here knows how.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from secateur import SecateurError, UsageError, redact, shown, state_dir

from secateur_agents.savings import SavingsFile, SavingsRecord

MOST_BYTES = 256 * 1024 * 1024
MOST_SECONDS = 7 * 24 * 60 * 60.0

_DIGEST = re.compile(r"[0-9a-f]{12}")
_SUFFIX = ".original"
# Names of originals, of unfinished ones, and of those that an earlier release kept without a suffix.
_OWN_NAME = re.compile(r"[0-9a-f]{12}((\.\w{8})?\.original)?")

_LINES = re.compile(r"(\d{1,9})(-(\d{0,9}))?")


@dataclass(frozen=True, slots=True)
class OriginalStore:
    """See the module docstring.

    Attributes:
        clock: seconds since 1970.
        session: of an agent, for what is recorded.
    """

    folder: Path
    clock: Callable[[], float] = time.time
    session: str = ""

    @property
    def savings(self) -> SavingsFile:
        """The records of what pruning with this store took out."""
        return SavingsFile(self.folder, self.clock)

    @classmethod
    def at(cls, folder: Path | str, clock: Callable[[], float] = time.time) -> OriginalStore:
        """Returns the store in a folder, which is made when something is kept. Raises UsageError: the folder lies in a
        repository, where others could come by what is kept."""
        folder = Path(os.path.abspath(folder))  # noqa: PTH100 - a link to it is not followed
        for above in (folder, *folder.parents):
            git = above / ".git"
            # The sandbox of Codex shows an empty `.git` in folders it may write, which is none to git.
            if os.path.lexists(git / "HEAD") or (os.path.lexists(git) and not os.path.isdir(git)):  # noqa: PTH112
                raise UsageError(
                    f"cannot keep originals in {shown(folder)}: it lies in the repository {shown(above)}",
                    hint="SECATEUR_STATE_DIR names another folder",
                )
        return cls(folder, clock)

    def keep(self, originals: Mapping[str, str]) -> None:
        """Keeps texts by digest; those that are there already count as new. Raises SecateurError: `OUTPUT`: the folder
        cannot be written."""
        if not originals:
            return
        now = self.clock()
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for digest, text in originals.items():
                path = self.folder / f"{digest}{_SUFFIX}"
                if not path.exists():
                    # readable for the user alone
                    handle, name = tempfile.mkstemp(prefix=f"{path.stem}.", suffix=_SUFFIX, dir=self.folder)
                    try:
                        with os.fdopen(handle, "wb") as file:
                            file.write(redact(text)[0].encode("utf-8", "surrogatepass"))
                        os.replace(name, path)  # noqa: PTH105
                    except BaseException:
                        with suppress(OSError):
                            os.unlink(name)  # noqa: PTH108
                        raise
                os.utime(path, (now, now))
            self._forget(now, path.lstat())
        except OSError as error:
            raise SecateurError(
                f"cannot write {shown(self.folder)}: {error.strerror or error}",
                hint="check the path, and whether its folder can be written",
                code="OUTPUT",
            ) from error

    def recall(self, digest: str, lines: str = "") -> str:
        """Returns a text, or lines of it: `10-80`, `10-` or `10`.

        Raises:
            SecateurError: `NOT_KEPT`: nothing is kept under this digest.
            UsageError: `digest` is not a digest, or the text has no such `lines`.
        """
        if not _DIGEST.match(digest):
            raise UsageError(f"{digest[:80]!r} is not a digest", hint="give the 12 digits behind `recall`")
        text = None
        for name in (digest[:12], digest[:12] + _SUFFIX):
            path = self.folder / name
            with suppress(OSError):
                if self.clock() - path.stat().st_mtime <= MOST_SECONDS:
                    text = path.read_bytes().decode("utf-8", "surrogatepass")
        if text is None:
            raise SecateurError(
                f"nothing is kept under {digest[:12]}: originals are deleted after 7 days, or beyond 256 MB",
                hint="make the call again, or read the file",
                code="NOT_KEPT",
            )
        asked = _lines_of(text, lines) if lines else text
        self.savings.add(SavingsRecord("recall", self.session))
        return asked

    def _forget(self, now: float, own: os.stat_result) -> None:
        """Removes originals that are too old, then the oldest beyond the most bytes. `own`: the status of an original,
        whose type, owner and permissions the others share."""
        found = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(OSError):  # another process removed it
                    status = entry.stat(follow_symlinks=False)
                    alike = (status.st_mode, status[stat.ST_UID]) == (own.st_mode, own[stat.ST_UID])
                    if alike and _OWN_NAME.fullmatch(entry.name):
                        found.append((status, entry.path))
        left = MOST_BYTES
        for status, path in sorted(found, key=lambda one: (-one[0].st_mtime, one[1])):
            left -= status.st_size
            if left < 0 or now - status.st_mtime > MOST_SECONDS:
                with suppress(OSError):  # another process removed it
                    os.unlink(path)  # noqa: PTH108


def user_store(environ: Mapping[str, str], clock: Callable[[], float] = time.time) -> OriginalStore:
    """Returns the store in the user's state folder. Claude Code tells what it starts its session."""
    return replace(
        OriginalStore.at(state_dir(environ) / "originals", clock), session=environ.get("CLAUDE_CODE_SESSION_ID", "")
    )


def _lines_of(text: str, lines: str) -> str:
    asked, all_lines = _LINES.fullmatch(lines.strip()), text.splitlines(keepends=True)
    if asked is None:
        raise UsageError(f"lines {lines[:40]!r} is not a range", hint="give 10-80, 10- or 10")
    first, last = int(asked[1]), int(asked[3] or len(all_lines)) if asked[2] else int(asked[1])
    if not 1 <= first <= min(last, len(all_lines)):
        raise UsageError(f"lines {lines} are outside its {len(all_lines):,} lines", hint=f"give 1-{len(all_lines)}")
    return "".join(all_lines[first - 1 : last])
