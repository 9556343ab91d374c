"""The settings after an event that changes them, for a replay and for the inspector. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from secateur import Kind, SecateurError, Settings, shown, suggestion, with_values

from secateur_lab.replays.events import Excluded, HintApplied, Pinned, ProfileChosen, SettingsChanged
from secateur_lab.replays.events import SettingEvent as SettingEvent
from secateur_lab.replays.recording import CANNOT_READ
from secateur_lab.scenarios.running import check_hermetic, deciding_keys


def settings_after(event: SettingEvent, settings: Settings, kind: Kind[Any, Any]) -> Settings:
    """Returns the settings after an event. Raises SecateurError: a key does not affect the kind, a value is not
    allowed, or the profile is unknown."""
    match event:
        case SettingsChanged(values=values) | HintApplied(values=values):
            return with_values(settings, _check_values(values, kind))
        case ProfileChosen(name=name):
            return with_values(settings, {"profile": name})
        case Pinned(id=id_, on=on):
            values = {"pins": _toggle_id(settings.pins, id_, on), "excludes": _toggle_id(settings.excludes, id_, False)}
        case Excluded(id=id_, on=on):
            values = {"excludes": _toggle_id(settings.excludes, id_, on), "pins": _toggle_id(settings.pins, id_, False)}
    return with_values(settings, _check_values(values, kind))


def _toggle_id(ids: tuple[str, ...], id_: str, on: bool) -> tuple[str, ...]:
    others = tuple(other for other in ids if other != id_)
    return (*others, id_) if on else others


def _check_values(values: Mapping[str, Any], kind: Kind[Any, Any]) -> Mapping[str, Any]:
    check_hermetic(values)
    known = deciding_keys(kind)
    for name in values:
        if name not in known:
            near = suggestion(name, known)
            hint = f"did you mean {near}?" if near else "`secateur config` lists the keys"
            raise SecateurError(f"{shown(name)} is ignored by kind {kind.name}", hint=hint, code=CANNOT_READ)
    return values
