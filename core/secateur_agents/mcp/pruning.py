"""Reads what a client wants pruned, and detects its kind of context, through the protocol of kinds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur import Kind, Notice, UsageError, get_kind, recognise_kind

from secateur_agents.mcp.roots import RootFolder, Roots, is_pattern
from secateur_agents.mcp.shapes import PruneCall

PLAIN_TEXT = "log"  # the kind of a text that no kind claims: its lines stay verbatim

STDIN = "-"


@dataclass(frozen=True, slots=True)
class GivenContext:
    """The context to prune, as its kind reads it."""

    root: RootFolder
    kind: Kind[Any, Any]
    inputs: dict[str, Any]
    data: bytes | None = None  # the content of `-`
    notices: tuple[Notice, ...] = ()


def read_context(call: PruneCall, roots: Roots) -> GivenContext:
    """Returns the context of a call, with notices about the parts of the call that its kind ignores.

    Raises:
        UsageError: nothing is given, or more than one thing; a file is outside the roots, or in several of them; the
            kind does not exist, finds its entries by itself, needs an input that is not given, or takes one file only.
    """
    given = [name for name in ("text", "messages", "files") if getattr(call, name)]
    if len(given) != 1:
        fault = "give text, messages or files" if not given else f"{' and '.join(given)} are given: give one"
        raise UsageError(f"prune: {fault}", hint="text: a log or other output; messages: a transcript; files: paths")
    data, files = None, list[str]()
    if call.files:
        found = [roots.resolve_files(name) for name in call.files]
        if len({root.folder for root, _ in found}) > 1:
            raise UsageError("files: they are in several roots", hint="prune the files of each root separately")
        root, files = found[0][0], [name for _, name in found]
    else:
        unclear = len(roots.folders) > 1 and not call.path  # and it does not matter for a text
        root = roots.folders[0] if unclear else roots.resolve_path(call.path).root
        text = call.text or json.dumps(call.messages, ensure_ascii=False)
        data = text.encode("utf-8", "replace")

    if call.kind:
        kind = get_kind(call.kind)
        if kind.finds:
            raise UsageError(f"kind: {kind.name} is a separate tool", hint=f"call {kind.name}")
    elif data is not None:
        kind = recognise_kind(Path("text"), data)
        if kind.inputs[0].repeatable:
            kind = get_kind(PLAIN_TEXT)
    elif len(files) > 1 or is_pattern(files[0]) or not (root.folder / files[0]).is_file():
        kind = recognise_kind(Path("folder"), b"")
    else:
        kind = recognise_kind(root.folder / files[0])

    first = kind.inputs[0]
    if data is not None and first.repeatable:
        raise UsageError(f"kind: {kind.name} reads files", hint="name them as files")
    if len(files) > 1 and not first.repeatable:
        raise UsageError(f"kind: {kind.name} reads one file", hint="name one, or leave kind out")
    opened = {first.name: files} if first.repeatable else kind.opened_inputs(files[0] if files else STDIN)
    values = {"query": call.request, "model": call.model}
    known = {spec.name: spec for spec in kind.inputs}
    for name, spec in known.items():
        wanted = spec.required or (bool(spec.title) and not spec.optional and name in values)
        if wanted and name not in opened and not values.get(name):
            argument = "request" if name == "query" else name
            raise UsageError(f"{argument}: {kind.name} needs one", hint=f"give {spec.placeholder or spec.help}")
    unheard = [
        Notice("not_heard", f"{argument} is ignored by kind {kind.name}.")
        for argument, name in (("request", "query"), ("model", "model"))
        if values[name] and name not in known
    ]
    taken = {name: text for name, text in values.items() if text and name in known}
    return GivenContext(root, kind, kind.blank_inputs() | dict(opened) | taken, data, tuple(unheard))
