"""Reads what a client gives to be pruned, and tells what kind of context it is; by the protocol of kinds, for any."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.agents.mcp.roots import RootFolder, Roots, is_pattern
from secateur.agents.mcp.shapes import PruneCall
from secateur.errors import UsageError
from secateur.kinds import registry
from secateur.kinds.base import Kind
from secateur.kinds.registry import HEAD, recognised
from secateur.model import Notice

PLAIN_TEXT = "log"
"""The kind of a text that no kind takes for its own: its lines stay verbatim."""

STDIN = "-"


@dataclass(frozen=True, slots=True)
class GivenContext:
    """The context that is to be pruned: bytes, or files of a root."""

    root: RootFolder
    data: bytes | None = None
    files: tuple[str, ...] = ()  # relative to the root


def given_of(call: PruneCall, roots: Roots) -> GivenContext:
    """The context that a call gives.

    Raises:
        UsageError: nothing, or more than one thing; a file outside the roots, or in several of them.
    """
    given = [name for name in ("text", "messages", "files") if getattr(call, name)]
    if len(given) != 1:
        said = "give text, messages or files" if not given else f"{' and '.join(given)} are given: one of them"
        raise UsageError(f"prune: {said}", hint="text: a log or other output; messages: a transcript; files: paths")
    if call.files:
        found = [_file(roots, name) for name in call.files]
        if len({root.folder for root, _ in found}) > 1:
            raise UsageError("files: they are in several roots", hint="prune those of each root by themselves")
        return GivenContext(found[0][0], files=tuple(name for _, name in found))
    root = roots.place(call.path).root if call.path or len(roots.folders) == 1 else next(iter(roots.folders), None)
    if root is None:
        root = roots.place("").root  # says that there is none
    text = call.text if call.text else json.dumps(call.messages, ensure_ascii=False)
    return GivenContext(root, data=text.encode("utf-8", "replace"))


def _file(roots: Roots, name: str) -> tuple[RootFolder, str]:
    if is_pattern(name):
        return roots.pattern(name)
    place = roots.place(name)
    return place.root, place.inside


def kind_of_call(call: PruneCall, given: GivenContext) -> Kind[Any, Any]:
    """The kind that a call names, or that what it gives is told to be.

    Raises:
        UsageError: there is no such kind, or it finds what it prunes by itself.
    """
    if call.kind:
        kind = registry.kind(call.kind)
        if kind.finds_entries:
            raise UsageError(f"kind: {kind.name} is a tool of its own", hint=f"call {kind.name}")
        return kind
    if given.data is not None:
        kind = recognised(Path("text"), given.data[:HEAD].decode("utf-8", "replace").lstrip())
        return registry.kind(PLAIN_TEXT) if kind.inputs[0].repeatable else kind
    path = given.root.folder / given.files[0]
    if len(given.files) > 1 or is_pattern(given.files[0]) or not path.is_file():
        return recognised(Path("folder"), "")
    try:
        with path.open("rb") as file:
            head = file.read(HEAD).decode("utf-8-sig", "replace").lstrip()
    except OSError:
        head = ""  # reading it says why
    return recognised(path, head)


def inputs_of(kind: Kind[Any, Any], call: PruneCall, given: GivenContext) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """The inputs of a kind, and what of the call says nothing to it.

    Raises:
        UsageError: the kind needs an input that the call does not give; it takes one file, and there are several.
    """
    first = kind.inputs[0]
    files = list(given.files)
    if given.data is not None:
        if first.repeatable:
            raise UsageError(f"kind: {kind.name} reads files", hint="name them as files")
        opened = kind.opened_on(STDIN)
    elif first.repeatable:
        opened = {first.name: files}
    elif len(files) > 1:
        raise UsageError(f"kind: {kind.name} reads one file", hint="name one, or leave kind out")
    else:
        opened = kind.opened_on(files[0])
    said = {"query": call.request, "model": call.model}
    known = {one.name: one for one in kind.inputs}
    for name, one in known.items():
        wanted = one.required or (bool(one.title) and not one.optional and name in said)
        if wanted and name not in opened and not said.get(name):
            argument = "request" if name == "query" else name
            raise UsageError(f"{argument}: {kind.name} needs one", hint=f"say {one.placeholder or one.help}")
    unheard = [
        Notice("not_heard", f"{argument}: says nothing to the kind {kind.name}.")
        for argument, name in (("request", "query"), ("model", "model"))
        if said[name] and name not in known
    ]
    taken = {name: text for name, text in said.items() if text and name in known}
    return kind.blank() | dict(opened) | taken, tuple(unheard)
