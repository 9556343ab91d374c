"""Small distributions that register kinds of context and commands, installed in a folder of the test's: a module, and
the metadata that an installer writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TODO = (Path(__file__).parents[2] / "docs/examples/todo/todo_kind.py").read_text(encoding="utf-8")
"""The source of a kind that works."""


def install(
    folder: Path,
    name: str,
    modules: Mapping[str, str],
    kinds: Mapping[str, str],
    commands: Mapping[str, str] | None = None,
) -> None:
    """Installs a distribution.

    Args:
        folder: is, or will be, on `sys.path`.
        modules: source by module.
        kinds: "MODULE:CLASS" by name of the kind.
        commands: "MODULE" by name of the command.
    """
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    groups = {"secateur.kinds": kinds, "secateur.commands": commands or {}}
    lines = [line for group, points in groups.items() for line in (f"[{group}]", *map(" = ".join, points.items()), "")]
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
