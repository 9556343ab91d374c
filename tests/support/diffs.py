"""Diffs made for one question each, and `git apply` without anybody's settings."""

from __future__ import annotations

import os
import subprocess
from difflib import SequenceMatcher
from pathlib import Path

from secateur.tokens import count_tokens

PLAIN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


def added(path: str, lines: int, text: str = "value_{0} = compute({0}, fallback={0})") -> str:
    """The patch of a new file."""
    body = "".join(f"+{text.format(number)}\n" for number in range(lines))
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/{path}\n@@"
        f" -0,0 +1,{lines} @@\n{body}"
    )


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
    done = subprocess.run(
        ["git", "apply", *flags, "-"], cwd=root, env=PLAIN, input=data, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def line_diff(path: str, old: list[str] | None, new: list[str] | None, *, newline: bool) -> str:
    """The patch from the lines before to those after; None: no file. Without `newline` neither ends in a line break. ""
    where nothing changed."""
    if old == new:
        return ""
    head = f"diff --git a/{path} b/{path}\n" + (
        "new file mode 100644\n" if old is None else "deleted file mode 100644\n" if new is None else ""
    )
    before, after = (_ended(lines or [], newline) for lines in (old, new))
    hunks = ""
    for group in SequenceMatcher(a=before, b=after, autojunk=False).get_grouped_opcodes(3):
        a, b, c, d = group[0][1], group[-1][2], group[0][3], group[-1][4]
        hunks += f"@@ -{a + (b > a)},{b - a} +{c + (d > c)},{d - c} @@\n"
        for tag, i, j, k, m in group:
            hunks += "".join(("-" if tag != "equal" else " ") + line for line in before[i:j])
            hunks += "".join(f"+{line}" for line in after[k:m] if tag != "equal")
    if not hunks:
        return head + ("index e69de29..0000000\n" if new is None else "index 0000000..e69de29\n")
    name = path + ("\t" if " " in path else "")
    return (
        head + f"--- {'/dev/null' if old is None else 'a/' + name}\n+++"
        f" {'/dev/null' if new is None else 'b/' + name}\n{hunks}"
    )


def _ended(lines: list[str], newline: bool) -> list[str]:
    """Each line with its end, as a diff shows it."""
    return [
        f"{line}\n" + ("\\ No newline at end of file\n" if at == len(lines) and not newline else "")
        for at, line in enumerate(lines, 1)
    ]


def first_fit(sizes: list[int], capacity: int) -> list[list[int]]:
    """First-fit decreasing, the slow way."""
    bins: list[list[int]] = []
    for at in sorted(range(len(sizes)), key=lambda at: (-sizes[at], at)):
        place = next(
            (members for members in bins if sum(sizes[other] for other in members) + sizes[at] <= capacity), None
        )
        if place is None:
            bins.append([at])
        else:
            place.append(at)
    return bins
