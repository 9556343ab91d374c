"""The command line that cuts a diff into the same chunks."""

from __future__ import annotations

from secateur.kinds.command_line import CommandWords, toml
from secateur.kinds.environment import Inputs
from secateur.settings import Settings
from secateur.settings import keys as setting_keys

_IGNORE = "chunking.ignore"
_NAMED = ("skill", "rules", "no_rules", "linter", "base", "head", "staged", "worktree", "untracked")
"""Inputs that are flags and change what is read."""


def diff_command(inputs: Inputs, settings: Settings, opened: Settings) -> str:
    """`secateur chunk …` with every setting that it depends on spelled out."""
    spelled = CommandWords("chunk", settings, opened)
    spelled.flag("--max-tokens", str(settings.chunking.max_chunk_tokens), "chunking.max_chunk_tokens")
    if opened.chunking.ignore:  # the flag adds to what a file may hold
        spelled.set(_IGNORE, toml(()))
    for pattern in dict.fromkeys((*settings.chunking.ignore, *inputs["ignore"])):
        spelled.words(f"--ignore={pattern}")
    spelled.differing((*(key for key in setting_keys() if key.startswith("chunking.") and key != _IGNORE), "tokens."))
    for name in _NAMED:
        spelled.input(name, inputs[name])
    diff = inputs["diff"]
    if diff is None:
        return spelled.line(inputs["path"])
    spelled.words(*([f"--diff={diff}"] if diff.startswith("-") else ["--diff", diff]))
    return spelled.line(*([inputs["path"]] if inputs["path"] != "." or diff.startswith("-") else []))
