"""Revisions of a kind's inputs as the commits that they name now: `HEAD~50` is another one tomorrow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.base import Kind
from secateur.kinds.environment import Environment
from secateur.sources.git import Git


def with_commits(kind: Kind[Any, Any], inputs: Mapping[str, Any], environment: Environment) -> dict[str, Any]:
    """The inputs with every revision as the id of its commit. One that names none stays: reading says what is wrong."""
    fixed = dict(inputs)
    for one in kind.inputs:
        if one.role == "revision" and isinstance(rev := inputs.get(one.name), str) and rev:
            fixed[one.name] = _commit_of(str(inputs.get("path") or "."), rev, environment)
    return fixed


def _commit_of(path: str, rev: str, environment: Environment) -> str:
    try:
        return commit_of(environment.folder_of(path), rev, trust=environment.trusts_git_dir())
    except (SecateurError, OSError):
        return rev


def commit_of(folder: Path, rev: str, *, trust: bool = False) -> str:
    """The id of the commit that a revision names; the revision itself where it names none or nothing can be read."""
    try:
        git = Git.discover(folder.resolve(), trust=trust)
        return git.resolve(rev) if isinstance(git, Git) else rev
    except (SecateurError, OSError):
        return rev
