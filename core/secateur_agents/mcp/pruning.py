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
    """The context to prune: bytes, or files of a root."""

    root: RootFolder
    data: bytes | None = None
    files: tuple[str, ...] = ()  # relative to the root


def read_context(call: PruneCall, roots: Roots) -> GivenContext:
    """Returns the context of a call. Raises UsageError: nothing is given, or more than one thing; a file outside the
    roots, or in several of them."""
    given = [name for name in ("text", "messages", "files") if getattr(call, name)]
    if len(given) != 1:
        fault = "give text, messages or files" if not given else f"{' and '.join(given)} are given: give one"
        raise UsageError(f"prune: {fault}", hint="text: a log or other output; messages: a transcript; files: paths")
    if call.files:
        files = [roots.resolve_files(name) for name in call.files]
        if len({root.folder for root, _ in files}) > 1:
            raise UsageError("files: they are in several roots", hint="prune the files of each root separately")
        return GivenContext(files[0][0], files=tuple(name for _, name in files))
    unclear = len(roots.folders) > 1 and not call.path  # and it does not matter for a text
    root = roots.folders[0] if unclear else roots.resolve_path(call.path).root
    text = call.text or json.dumps(call.messages, ensure_ascii=False)
    return GivenContext(root, data=text.encode("utf-8", "replace"))


def kind_of_call(call: PruneCall, given: GivenContext) -> Kind[Any, Any]:
    """Returns the kind that a call names, or the kind detected from its context. Raises UsageError: there is no such
    kind, or it finds its entries by itself."""
    if call.kind:
        kind = get_kind(call.kind)
        if kind.finds:
            raise UsageError(f"kind: {kind.name} is a separate tool", hint=f"call {kind.name}")
        return kind
    if given.data is not None:
        kind = recognise_kind(Path("text"), given.data)
        return get_kind(PLAIN_TEXT) if kind.inputs[0].repeatable else kind
    path = given.root.folder / given.files[0]
    if len(given.files) > 1 or is_pattern(given.files[0]) or not path.is_file():
        return recognise_kind(Path("folder"), b"")
    return recognise_kind(path)


def inputs_of(kind: Kind[Any, Any], call: PruneCall, given: GivenContext) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Returns the inputs of a kind, and notices about ignored parts of the call. Raises UsageError: the call lacks an
    input that the kind needs; or the kind takes one file, and there are several."""
    first = kind.inputs[0]
    files = list(given.files)
    if given.data is not None:
        if first.repeatable:
            raise UsageError(f"kind: {kind.name} reads files", hint="name them as files")
        opened = kind.opened_inputs(STDIN)
    elif first.repeatable:
        opened = {first.name: files}
    elif len(files) > 1:
        raise UsageError(f"kind: {kind.name} reads one file", hint="name one, or leave kind out")
    else:
        opened = kind.opened_inputs(files[0])
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
    return kind.blank_inputs() | dict(opened) | taken, tuple(unheard)
