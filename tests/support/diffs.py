"""Diffs made for one question each, and `git apply` without anybody's settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from secateur.tokens import count_tokens

PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def added(path: str, lines: int, text: str = "value_{0} = compute({0}, fallback={0})") -> str:
    """The patch of a new file."""
    body = "".join(f"+{text.format(number)}\n" for number in range(lines))
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"


def of_tokens(path: str, tokens: int) -> str:
    """The patch of a new file that takes `tokens` tokens, or less than a line fewer."""
    low, high = 1, tokens
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(added(path, middle)) <= tokens else (low, middle - 1)
    return added(path, low)


def git_apply(root: Path, patch: str | bytes, *flags: str) -> str:
    """What `git apply FLAGS` says of a patch in a folder; raises where it does not apply."""
    data = patch.encode("utf-8", "surrogateescape") if isinstance(patch, str) else patch
    done = subprocess.run(["git", "apply", *flags, "-"], cwd=root, env=PLAIN, input=data, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
