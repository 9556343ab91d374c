"""`secateur config [PATH]`: the settings in force, each with where it comes from; `--schema` prints the JSON schema."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from secateur import directories
from secateur.cli.common import common_arguments, load_settings, sample_or_path
from secateur.cli.output import emit
from secateur.errors import unreadable_folder
from secateur.ledger import Reason
from secateur.render.sentences import SENTENCES
from secateur.settings import installed_keys, lookup, schema
from secateur.terminal import visible


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default=".", help="the repository whose file is read (default: here)"
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of secateur.toml")
    parser.add_argument(
        "--reasons", action="store_true", help="print every reason code of the ledger with its sentence"
    )
    common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Prints every key, its value and its origin."""
    if options.schema:
        emit(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
        return 0
    if options.reasons:
        emit(_reasons(options.format))
        return 0
    root = sample_or_path(options.path)
    if not root.is_dir():
        raise unreadable_folder(root)
    loaded = load_settings(options, root)
    rows = [
        (key, lookup(loaded.settings, key.name), loaded.origins.get(key.name, "default"))
        for key in installed_keys().values()
        if key.scope != "run"
    ]
    if options.format == "json":
        emit(
            json.dumps(
                {key.name: {"value": _plain(value), "origin": origin} for key, value, origin in rows},
                indent=2,
                ensure_ascii=False,
            )
            + "\n"
        )
        return 0
    for key, value, origin in rows:
        text = json.dumps(_plain(value), ensure_ascii=False)
        emit(f"{key.name:<46} {visible(text):<18} {visible(origin)}\n")
        if options.verbose:
            emit(f"    {key.doc} {key.allowed()[0].upper()}{key.allowed()[1:]}.\n")
    emit(f"\nyour configuration folder: {visible(str(directories.config_dir(os.environ)))}\n")
    return 0


def _reasons(form: str) -> str:
    """The reason codes; figures of an entry stand in braces."""
    if form == "json":
        rows = [{"reason": reason.label, "sentence": SENTENCES[reason]} for reason in Reason]
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    return "".join(f"{reason.label:<20} {SENTENCES[reason]}\n" for reason in Reason)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if hasattr(value, "keys") else value
