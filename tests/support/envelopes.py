"""Prompt envelopes for tests."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

SECTIONS = (
    "session_meta",
    "domain_profile",
    "normative_baseline",
    "target_snapshot",
    "dependency_digest",
    "tool_capabilities",
    "revision_info",
)


def envelope(digest: Any = None, target: Any = None, **others: Any) -> dict[str, Any]:
    """A small envelope of a step of a workflow, with some sections replaced."""
    return {
        "session_meta": {"session": "s-1", "mode": "optimize"},
        "domain_profile": {"industry_domain": "音乐制作", "quality_style": "exact"},
        "normative_baseline": {"rules": ["no extra fields"]},
        "target_snapshot": (
            {"path": "steps/step-01.md", "content": "# Step\nDo the thing.\n"} if target is None else target
        ),
        "dependency_digest": {"references": {"asset_paths": ["assets/a.png"]}} if digest is None else digest,
        "tool_capabilities": {"tools": ["builder.step.read"]},
        "revision_info": {"revision": 12},
    } | others


def asset_paths(chars: int) -> list[str]:
    """Paths whose JSON text has exactly `chars` characters."""
    paths: list[str] = []
    while (room := chars - 2 - sum(len(path) + 4 for path in paths)) > 60:
        paths.append(f"assets/{('img', 'audio', 'video')[len(paths) % 3]}/scene-{len(paths):04}/background.png")
    return [*paths, "assets/" + "z" * (room - 2 - len("assets/"))]


def files(number: int, chars: int) -> list[dict[str, str]]:
    """Dependencies as objects, each with a long text."""
    return [
        {
            "path": f"docs/{position}.md",
            "title": f"Doc {position}",
            "summary": f"What doc {position} says.",
            "content": ("Lorem ipsum dolor. " * chars)[:chars],
        }
        for position in range(number)
    ]


def dependencies(number: int, chars: int = 0) -> list[dict[str, str]]:
    """Dependencies as path, summary and hash, each with a long text where `chars` are given."""
    return [
        {
            "path": f"src/orders/module_{position:02}/service_{position:02}.py",
            "summary": (
                f"Service {position} rounds refunds, keeps the ledger of order {position} and tells the shop what it"
                " owes. " * 2
            ),
            "hash": "sha256:" + sha256(str(position).encode()).hexdigest(),
        }
        | ({"content": ("Lorem ipsum dolor. " * chars)[:chars]} if chars else {})
        for position in range(number)
    ]
