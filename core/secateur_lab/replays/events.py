"""The events of a recorded session. Each says what was meant, not which key was pressed, so that a recording stays
valid when the screen changes.

Events in words: for the report, the captions of the inspector, and readers of a recording.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct, field
from secateur import Kind, Settings, clip, get_kind, installed_keys, kind_names, lookup, visible

from secateur_lab.replays import events

Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Text = Annotated[str, Meta(max_length=1_000)]
Identifier = Annotated[str, Meta(min_length=1, max_length=4_000)]
Values = Annotated[dict[str, Any], Meta(min_length=1)]
PageName = Literal["why", "preview", "diff", "curve"]


class Event(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="do"):
    """An action of the user."""

    decides: ClassVar[bool] = False  # whether it may change the output
    plainly: ClassVar[str] = ""  # it in words, if they never differ

    at: Seconds = 0.0


class Opened(Event, frozen=True, tag="open"):
    """An input was opened in the bench of its kind, with settings that are not the defaults."""

    decides = True
    kind: str = ""
    input: dict[str, Any] = field(default_factory=dict)  # by name of the kind's inputs
    settings: dict[str, Any] = field(default_factory=dict)  # by dotted key


class BenchShown(Event, frozen=True, tag="bench"):
    """Another bench was shown, in its last state."""

    kind: str = ""


class InputChanged(Event, frozen=True, tag="input"):
    """A query, or another input, was typed."""

    decides = True
    input: Values = field(default_factory=dict)


class SettingsChanged(Event, frozen=True, tag="set"):
    """Knobs were turned: budget, weights, strategy, or any other setting, by dotted key."""

    decides = True
    values: Values = field(default_factory=dict)


class ProfileChosen(Event, frozen=True, tag="profile"):
    """A profile was chosen."""

    decides = True
    name: Identifier = ""


class HintApplied(Event, frozen=True, tag="hint"):
    """A hint was applied: with these values the item is in the output."""

    decides = True
    id: Identifier = ""
    values: Values = field(default_factory=dict)


class Pinned(Event, frozen=True, tag="pin"):
    """An item of a search was pinned or unpinned."""

    decides = True
    id: Identifier = ""
    on: bool = True


class Excluded(Event, frozen=True, tag="exclude"):
    """An item of a search was excluded, or no longer excluded."""

    decides = True
    id: Identifier = ""
    on: bool = True


class Held(Event, frozen=True, tag="hold"):
    """An entry was held or released: results of a tool are kept, a file of a change is left out or included."""

    decides = True
    id: Identifier = ""


class Undone(Event, frozen=True, tag="undo"):
    """The last change of settings was undone."""

    decides = True
    plainly = "undo"


class Redone(Event, frozen=True, tag="redo"):
    """The change that was undone was made again."""

    decides = True
    plainly = "redo"


class Refreshed(Event, frozen=True, tag="refresh"):
    """The files were read again."""

    decides = True
    plainly = "read again"


class BaselineSet(Event, frozen=True, tag="baseline"):
    """The present answer became the baseline."""

    plainly = "compare with this answer from now on"


class ComparisonShown(Event, frozen=True, tag="compare"):
    """The answer was compared with the baseline."""

    plainly = "compare with the baseline"


class CursorPlaced(Event, frozen=True, tag="cursor"):
    """The cursor was put on an entry."""

    id: Identifier = ""


class PageShown(Event, frozen=True, tag="page"):
    """A page was opened beside the entries."""

    name: PageName = "why"


class Captioned(Event, frozen=True, tag="caption"):
    """A caption for the viewer."""

    text: Text = ""


class AnswerSeen(Event, frozen=True, tag="decided"):
    """The answer on the screen: tokens of the output, and the digest of its ledger."""

    after: Annotated[int, Meta(ge=0)] = 0
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{16}$")] = "0" * 16


SettingEvent: TypeAlias = SettingsChanged | ProfileChosen | HintApplied | Pinned | Excluded
DecidingEvent: TypeAlias = SettingEvent | Opened | InputChanged | Held | Undone | Redone | Refreshed
ShowingEvent: TypeAlias = BenchShown | BaselineSet | ComparisonShown | CursorPlaced | PageShown | Captioned
AnyEvent: TypeAlias = DecidingEvent | ShowingEvent | AnswerSeen

# Fields that an event must have. (`at` is first on a line and has a default, so the others need one too.)
REQUIRED: dict[str, tuple[str, ...]] = {
    "open": ("kind",),
    "bench": ("kind",),
    "input": ("input",),
    "set": ("values",),
    "profile": ("name",),
    "hint": ("id", "values"),
    "pin": ("id",),
    "exclude": ("id",),
    "hold": ("id",),
    "cursor": ("id",),
    "page": ("name",),
    "caption": ("text",),
    "decided": ("after", "digest"),
}

ACTIONS = tuple(sorted({*REQUIRED, "undo", "redo", "refresh", "baseline", "compare"}))


def line_of(event: AnyEvent) -> str:
    """Formats an event as one line, without the line end."""
    fields = msgspec.to_builtins(event)
    at = round(event.at, 2)
    made = {"at": int(at) if at == int(at) else at, "do": fields.pop("do")}
    made |= {name: getattr(event, name) for name in REQUIRED.get(made["do"], ())}
    return json_line(made | {name: value for name, value in fields.items() if name not in made})


def json_line(value: Any) -> str:
    """Formats a value as JSON on one line; characters unsafe for a terminal are escaped."""
    return "".join(char if char.isprintable() else _escape(char) for char in msgspec.json.encode(value).decode())


def _escape(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


LONGEST_VALUE = 80  # most cells of a value in a sentence
PAGES: Mapping[str, str] = {"why": "why", "preview": "preview", "diff": "what changed", "curve": "the curve"}


def describe_event(event: events.AnyEvent, kind: Kind[Any, Any] | None, settings: Settings | None) -> str:
    """Describes an event; "" if there is nothing to say.

    Args:
        kind: the one on the screen before it.
        settings: in force before it.
    """
    match event:
        case events.Opened(kind=name, input=given, settings=changed):
            labels = _knobs(get_kind(name) if name in kind_names() else None)
            under = "".join(f", {labels.get(key, key)} {_value(value)}" for key, value in changed.items())
            return f"open {name}: {_inputs(given)}{under}"
        case events.BenchShown(kind=name):
            return f"go to {name}"
        case events.InputChanged(input=given):
            return _inputs(given)
        case events.SettingsChanged(values=values):
            return _describe_changes(values, kind, settings)
        case events.HintApplied(id=id_, values=values):
            return f"apply the lever for {_short(id_)}: {_describe_changes(values, kind, settings)}"
        case events.ProfileChosen(name=name):
            return f"profile {settings.profile} -> {_short(name)}" if settings else f"profile {_short(name)}"
        case events.Pinned(id=id_, on=on):
            return f"{'pin' if on else 'unpin'} {_short(id_)}"
        case events.Excluded(id=id_, on=on):
            return f"{'exclude' if on else 'no longer exclude'} {_short(id_)}"
        case events.Held(id=id_):
            return f"pin {_short(id_)}"
        case events.CursorPlaced(id=id_):
            return f"look at {_short(id_)}"
        case events.PageShown(name=page):
            return f"open the page: {PAGES[page]}"
        case events.Captioned(text=text):
            return visible(text)
    return event.plainly


def _knobs(kind: Kind[Any, Any] | None) -> Mapping[str, str]:
    return {knob.key: knob.label for knob in kind.knobs} if kind is not None else {}


def _inputs(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in given.items())


def _describe_changes(values: Mapping[str, Any], kind: Kind[Any, Any] | None, settings: Settings | None) -> str:
    labels = _knobs(kind)
    parts = []
    for key, value in values.items():
        old = f"{_value(lookup(settings, key))} -> " if settings is not None and key in installed_keys() else ""
        parts.append(f"{visible(labels.get(key, key))} {old}{_value(value)}")
    return ", ".join(parts)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case int():
            return f"{value:,}"
        case float():
            return re.sub("0{1,2}$", "", f"{value:.4f}")
        case list() | tuple():
            return _short(", ".join(str(item) for item in value)) or "none"
        case str():
            return _short(value) if value and " " not in value else f'"{_short(value)}"'
    return _short(str(value))


def _short(text: str) -> str:
    return clip(visible(" ".join(text.split())), LONGEST_VALUE)
