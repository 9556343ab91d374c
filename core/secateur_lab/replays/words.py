"""Events in words: for the report, the captions of the inspector, and readers of a recording."""

import re
from collections.abc import Mapping
from typing import Any

from secateur import Kind, Settings, clip, get_kind, installed_keys, kind_names, lookup, visible

from secateur_lab.replays import events

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
            return f"apply the hint for {_short(id_)}: {_describe_changes(values, kind, settings)}"
        case events.ProfileChosen(name=name):
            return f"profile {settings.profile} -> {_short(name)}" if settings else f"profile {_short(name)}"
        case events.Pinned(id=id_, on=on):
            return f"{'pin' if on else 'unpin'} {_short(id_)}"
        case events.Excluded(id=id_, on=on):
            return f"{'exclude' if on else 'no longer exclude'} {_short(id_)}"
        case events.Held(id=id_):
            return f"hold {_short(id_)}"
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
