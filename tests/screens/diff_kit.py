"""Diffs and a small repository for the Diff bench, written where a test is, and the bench opened on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector_kit import Inspector, Pace
from secateur.settings import Settings, with_values
from secateur_tui.screen import Bench
from secateur_tui.state.answer import ShownAnswer
from support.diffs import added, line_diff
from support.repos import committed, git, write

PULL = "pull.diff"
LIMIT = with_values(Settings(), {"chunking.max_chunk_tokens": 2000})

RENAMED = """diff --git a/src/shop/old_name.py b/src/shop/new_name.py
similarity index 100%
rename from src/shop/old_name.py
rename to src/shop/new_name.py
"""
BINARY = (
    "diff --git a/assets/logo.png b/assets/logo.png\nindex 1111111..2222222 100644\nBinary files a/assets/logo.png and"
    " b/assets/logo.png differ\n"
)


def functions(name: str, count: int, amount: int = 1) -> list[str]:
    """A module of so many functions."""
    return [
        line
        for number in range(count)
        for line in (
            f"def {name}_{number}(amount, places=2):",
            f"    return round(amount * {number} + {amount}, places)",
            "",
        )
    ]


def pull_request() -> str:
    """Ten changed files: one larger than a chunk of LIMIT, a renamed and a deleted one, and three that rules leave
    out."""
    return "".join(
        (
            added("assets/readme.txt", 4, "Logo number {0} of the shop."),
            BINARY,
            line_diff(
                "docs/refunds.md",
                ["# Refunds", "", "Nothing."],
                ["# Refunds", "", "Totals are rounded half to even.", "", "Every refund is booked twice."],
                newline=True,
            ),
            line_diff("src/shop/cart.py", functions("cart", 14), functions("cart", 14, 2), newline=True),
            line_diff("src/shop/gone.py", functions("gone", 6), None, newline=True),
            line_diff("src/shop/money.py", functions("money", 9), functions("money", 10, 3), newline=True),
            RENAMED,
            line_diff("src/shop/rates.py", None, functions("rate", 90), newline=True),
            added("uv.lock", 30, 'name = "package-{0}"'),
            added("vendor/tables.py", 12),
        )
    )


def write_pull_request(folder: Path) -> None:
    (folder / PULL).write_text(pull_request(), encoding="utf-8")


def write_repository(folder: Path) -> Path:
    """`shop/`: two commits, and rules of the project that hold from the first."""
    rules = "Round half to even.\n"
    first = {
        "CLAUDE.md": rules,
        "src/cart.py": "\n".join(functions("cart", 6)),
        "src/money.py": "\n".join(functions("money", 6)),
    }
    root = committed(folder / "shop", first)
    write(root, {"src/cart.py": "\n".join(functions("cart", 7, 2)), "src/tax.py": "\n".join(functions("tax", 3))})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Second")
    return root


def opened(settings: Settings | None = None, path: str = PULL, **inputs: str) -> Inspector:
    """An inspector on what was written in the current folder; it does not dawdle."""
    return Inspector(
        None, settings or LIMIT, bench="diff", path=path, inputs=inputs, pace=Pace(0.001, 0.001, 0, proves=False)
    )


def diff_bench(app: Inspector) -> Bench:
    """The bench, whatever lies on top of it."""
    return next(screen for screen in app.screen_stack if isinstance(screen, Bench))


def packing(app: Inspector) -> ShownAnswer[Any]:
    """What it shows."""
    answer: Any = diff_bench(app).state.answer
    assert isinstance(answer, ShownAnswer)
    return answer
