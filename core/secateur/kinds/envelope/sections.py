"""Checks an envelope: its seven sections must be present and hold only JSON. An error names the JSON path. Walks over
its values, and finds the values for each stage of trimming.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from secateur.errors import PromptComposeError
from secateur.kinds.environment import DuplicateField, lines_of, unique
from secateur.suggestions import suggestion
from secateur.terminal import clip

Path = tuple[str | int, ...]  # the keys and positions on the way to a value

_LIST_END = re.compile(r"\[\d+:\]\Z")
_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def text_of(value: Any) -> str:
    """Writes the JSON text that is counted: on one line, without escaped characters."""
    return _ENCODER.encode(value)


def digest_of(text: str) -> bytes:
    """The SHA-256 of a text, which stands for it where texts are remembered."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def section_of(path: Path) -> str:
    """A path for people: `dependency_digest.references.asset_paths`, `files[3]["odd key"]`."""
    return "".join(
        f".{step}" if isinstance(step, str) and _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step)}]" for step in path
    ).removeprefix(".")


SECTIONS = (
    "session_meta",
    "domain_profile",
    "normative_baseline",
    "target_snapshot",
    "dependency_digest",
    "tool_capabilities",
    "revision_info",
)
TARGET = "target_snapshot"
DIGEST = "dependency_digest"

# Most levels of nested values: far more than anybody writes, few enough for Python's JSON reader and writer.
DEEPEST = 200
WIDEST_NUMBER = 10_000  # bits of the largest integer: Python refuses to write integers of more than 4,300 digits
_SHOWN = 120
_HINT = "the sections are " + ", ".join(SECTIONS)


def parse_envelope(text: str) -> Any:
    """Parses the JSON value in `text`. Raises PromptComposeError: it is not JSON, with line and column; a field occurs
    twice; a number is not valid."""

    def line_of(pattern: str) -> str:
        # outside texts, which are emptied; line breaks stay, because JSON texts have none
        bare = re.sub(r'"(?:[^"\\\n]|\\.)*+("?)', lambda match: '""' if match[1] else match[0], text)
        line = lines_of(bare, pattern).partition(",")[0]
        return f"line {line}: " if line else ""

    def refuse(name: str) -> Any:
        where = line_of(rf"(?<![\w-]){name}\b")
        raise PromptComposeError(f"{where}{name} is not a JSON number", hint="write null or a number")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise PromptComposeError(f"{where}: {error.msg}", hint="an envelope is one JSON object") from error
    except DuplicateField as error:
        raise PromptComposeError(error.message(text), hint="keep the one that counts") from error
    except RecursionError as error:
        raise PromptComposeError(
            "values are nested too deep to be read", hint=f"an envelope has at most {DEEPEST} levels"
        ) from error
    except ValueError as error:
        where = line_of(r"\d{4300}")
        raise PromptComposeError(
            f"{where}a number of thousands of digits cannot be read", hint="write it as a text"
        ) from error


def sections(envelope: Any) -> dict[str, Any]:
    """Checks an envelope and copies it into dicts, lists and scalars; sections keep their order. Raises
    PromptComposeError: it is not a mapping, sections are missing or unknown, or something in it is not JSON."""
    if not isinstance(envelope, Mapping):
        raise PromptComposeError(f"$: the envelope is a {type(envelope).__name__}, not an object", hint=_HINT)
    missing = [section for section in SECTIONS if section not in envelope]
    unknown = [key for key in envelope if key not in SECTIONS]
    if missing or unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        shown = ", ".join(repr(key) for key in unknown[:3]) + more
        faults = [f"lacks {', '.join(missing)}"] if missing else []
        faults += [f"has unknown fields {clip(shown, _SHOWN)}"] if unknown else []
        near = next((near for key in unknown if isinstance(key, str) and (near := suggestion(key, missing))), "")
        hint = f"did you mean {near}? " if near else "put further fields into a section; " if unknown else ""
        raise PromptComposeError(f"$: the envelope {' and '.join(faults)}", hint=hint + _HINT)
    return {section: _copy_value(value, (section,), set()) for section, value in envelope.items()}


def copy_trimmable(envelope: dict[str, Any]) -> dict[str, Any]:
    """Copies a checked envelope for trimming; the target, which nothing changes, is shared."""
    return {section: value if section == TARGET else _copy_checked(value) for section, value in envelope.items()}


def _copy_checked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy_checked(held) for key, held in value.items()}
    return [_copy_checked(held) for held in value] if isinstance(value, list) else value


def _copy_value(value: Any, path: Path, above: set[int]) -> Any:
    """Copies one value; `above` holds the ids of its containers. Tuples stay tuples in the target, which must come back
    equal."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > WIDEST_NUMBER:
            raise _json_error(path, "is a number of thousands of digits", "write it as a text")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _json_error(path, f"is {value}, which is not a JSON number", "write null or a number")
        return value
    if not isinstance(value, Mapping | list | tuple):
        hint = "an envelope holds objects, lists, texts, numbers, true, false and null"
        raise _json_error(path, f"is a {type(value).__name__}, which JSON does not have", hint)
    if id(value) in above:
        raise _json_error(path, "contains itself", "break the circle")
    if len(path) >= DEEPEST:
        raise _json_error(path, f"is nested deeper than {DEEPEST} levels", "make it flatter")
    above.add(id(value))
    copy: Any
    if isinstance(value, Mapping):
        copy = {}
        for key, held in value.items():
            if not isinstance(key, str):
                raise _json_error(
                    path,
                    f"has the key {clip(repr(key), _SHOWN)}, which is not a text",
                    "keys of JSON objects are texts",
                )
            copy[key] = _copy_value(held, (*path, key), above)
    else:
        copy = [_copy_value(held, (*path, position), above) for position, held in enumerate(value)]
        if isinstance(value, tuple) and path[0] == TARGET:
            copy = tuple(copy)
    above.remove(id(value))
    return copy


def _json_error(path: Path, what: str, hint: str) -> PromptComposeError:
    return PromptComposeError(f"$.{clip(section_of(path), 2 * _SHOWN)} {what}", hint=hint)


# Fields that identify an object: never truncated, so that the rest of an object can be found again.
NAMING = ("path", "summary", "hash", "id", "name", "title")


class EnvelopeValue(Struct, frozen=True):
    """A node of an envelope: a value and its location."""

    holder: Any  # a dict or a list
    key: Any  # of the holder
    path: Path

    @property
    def value(self) -> Any:
        """The current value of the node."""
        return self.holder[self.key]


def walk(
    root: EnvelopeValue, keep: int | None = None, into: Callable[[EnvelopeValue], bool] = lambda _: True
) -> Iterator[EnvelopeValue]:
    """Yields `root` and the nodes below it, in document order.

    Args:
        keep: how many first items of a list to visit; None: all.
        into: tells whether to visit the nodes inside a node.
    """
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        value = node.value
        if isinstance(value, dict | list) and into(node):
            keys = value if isinstance(value, dict) else range(len(value[:keep]))
            pending += reversed([EnvelopeValue(value, key, (*node.path, key)) for key in keys])


def is_entry(node: EnvelopeValue) -> bool:
    """Tells whether a node is an object in a list, or an object with a `path`."""
    held = node.value
    return len(node.path) > 1 and isinstance(held, dict) and (isinstance(node.key, int) or "path" in held)


def entries_of(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """Yields the outermost entries of the digest: its dependencies."""
    return filter(is_entry, walk(digest, into=lambda node: not is_entry(node)))


def fields_without_entries(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """Yields the outermost nodes of the digest that are not entries and hold none, except naming fields."""
    above = {node.path[:length] for node in entries_of(digest) for length in range(1, len(node.path) + 1)}

    def holds_entries(node: EnvelopeValue) -> bool:
        return node.path in above and isinstance(node.value, dict) and not is_entry(node)

    for node in walk(digest, into=holds_entries):
        if node.path not in above and len(node.path) > 1 and node.key not in NAMING:
            yield node


def fields_of(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """Yields the fields of the digest, except naming fields."""
    for name in digest.value if isinstance(digest.value, dict) else ():
        if name not in NAMING:
            yield EnvelopeValue(digest.value, name, (*digest.path, name))


# Names of extension fields, beside those that begin with `x_` or `x-`: those in use in JSON formats.
EXTENSIONS = frozenset(("extensions", "extension", "ext", "extras", "extra"))


def extensions_of(envelope: dict[str, Any]) -> Iterator[EnvelopeValue]:
    """Yields the outermost extension fields outside the target and the digest."""

    def extension(node: EnvelopeValue) -> bool:
        name = node.key.casefold() if isinstance(node.key, str) else ""
        return len(node.path) > 1 and (name in EXTENSIONS or name.startswith(("x_", "x-")))

    for section in SECTIONS:
        if section not in (TARGET, DIGEST):
            yield from filter(
                extension, walk(EnvelopeValue(envelope, section, (section,)), into=lambda node: not extension(node))
            )


def pinned_paths(envelope: dict[str, Any], pins: Iterable[str]) -> dict[str, Path]:
    """Returns the path of each value that a pin names by its id in the ledger; the end of a list stands for the list.
    Pins that name nothing are left out."""
    names = {_LIST_END.sub("", pin): pin for pin in pins}

    def leads_on(node: EnvelopeValue) -> bool:
        return any(name.startswith(section_of(node.path)) for name in names)

    roots = (EnvelopeValue(envelope, section, (section,)) for section in envelope) if names else ()
    named = ((section_of(node.path), node.path) for root in roots for node in walk(root, into=leads_on))
    return {names[name]: path for name, path in named if name in names}


def value_at(value: Any, path: Path) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value
