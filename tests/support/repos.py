"""Small repositories made for one question each, as files in memory or on disk, and git without anybody's settings."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

HANDLERS = 20
HANDLER_LINES = 45


def handlers(count: int = HANDLERS, lines: int = HANDLER_LINES) -> dict[str, str]:
    """Functions that all answer the query `handleToolCall` and are about as large as each other, one a file."""
    files = {}
    for number in range(count):
        body = "".join(
            f"    step_{line} = registry.lookup('{number}-{line}', fallback={line})\n" for line in range(lines)
        )
        files[f"tools/m{number:02}.py"] = f"def handle_tool_call_{number:02}(registry):\n{body}    return step_0\n"
    return files


def chain(length: int = 6) -> dict[str, str]:
    """A chain of calls, `up6 -> ... -> up1 -> middle -> down1 -> ... -> down6`; only `middle` holds the word
    `zebra`."""
    names = [f"up{i}" for i in range(length, 0, -1)] + ["middle"] + [f"down{i}" for i in range(1, length + 1)]
    text = "".join(f"def {name}():\n    return {follower}()\n\n\n" for name, follower in pairwise(names))
    return {
        "chain.py": (
            text.replace("def middle():\n", "def middle():\n    # zebra\n") + f"def {names[-1]}():\n    return 0\n"
        )
    }


SHOP = {
    "shop/refund.py": (
        "from shop.money import round_total\n\n\n"
        "def refund_total(parts):\n"
        '    """The refund total is rounded once, at the end."""\n'
        "    return round_total(sum(parts))\n"
    ),
    "shop/money.py": "def round_total(amount):\n    return int(amount + 0.5)\n",
    "shop/api.py": (
        "from shop.refund import refund_total\n\n\ndef post_refund(request):\n    return {'total':"
        " refund_total(request.parts)}\n"
    ),
    "README.md": "# Shop\n\nSells things.\n\n## Refunds\n\nThe refund total is rounded in `shop/refund.py`.\n",
}
"""A caller, a function that answers "where is the refund total rounded?", its callee, and a document."""

QUERY = "where is the refund total rounded?"


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """The files below `root`."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def git(root: Path, *words: str, time: int = 1_750_000_000) -> str:
    """One git command with a fixed author, at a fixed time."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {
            f"GIT_{role}_NAME": "Mei Lin",
            f"GIT_{role}_EMAIL": "mei@example.com",
            f"GIT_{role}_DATE": f"{time} +0000",
        }
    return subprocess.run(["git", *words], cwd=root, env=env, check=True, capture_output=True, text=True).stdout.strip()


def committed(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """The files as a repository with one commit."""
    write(root, files)
    git(root, "init", "-q", "-b", "main", "--template=")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    return root


def shop_with_inputs(root: Path) -> Path:
    """`SHOP` as a repository of two commits, with an input of every kind of context in `inputs`."""
    committed(root, SHOP)
    (root / "inputs").mkdir()
    for name in ("session.jsonl", "envelope.json", "ci.log"):
        shutil.copy(Path(__file__).parents[2] / "docs" / "examples" / name, root / "inputs" / name)
    (root / "shop" / "money.py").write_text("def round_total(amount):\n    return int(amount + 0.49)\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Round halves down")
    return root
