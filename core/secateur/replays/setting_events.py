"""The settings after an event that changes some: the same for a replay and for the inspector. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from secateur.errors import SecateurError, shown
from secateur.kinds.base import Kind
from secateur.replays.events import Excluded, HintApplied, Pinned, ProfileChosen, SettingsChanged
from secateur.replays.recording import CANNOT_READ
from secateur.scenarios.running import check_hermetic, deciding_keys
from secateur.settings import Settings, with_profile, with_values
from secateur.settings.keys import nested
from secateur.suggestions import suggestion

SettingEvent: TypeAlias = SettingsChanged | ProfileChosen | HintApplied | Pinned | Excluded


def settings_after(event: SettingEvent, settings: Settings, kind: Kind[Any, Any]) -> Settings:
    """The settings after an event.

    Raises:
        SecateurError: no decision of the kind depends on a key, a value is not allowed, there is no such profile.
    """
    match event:
        case SettingsChanged(values=values) | HintApplied(values=values):
            return with_values(settings, _checked(values, kind))
        case ProfileChosen(name=name):
            return with_profile(settings, name)
        case Pinned(id=id_, on=on):
            values = {"pins": _with(settings.pins, id_, on), "excludes": _with(settings.excludes, id_, False)}
        case Excluded(id=id_, on=on):
            values = {"excludes": _with(settings.excludes, id_, on), "pins": _with(settings.pins, id_, False)}
    return with_values(settings, _checked(values, kind))


def _with(ids: tuple[str, ...], id_: str, on: bool) -> tuple[str, ...]:
    others = tuple(one for one in ids if one != id_)
    return (*others, id_) if on else others


def _checked(values: Mapping[str, Any], kind: Kind[Any, Any]) -> Mapping[str, Any]:
    check_hermetic(nested(values))
    known = deciding_keys(kind)
    for name in values:
        if name not in known:
            near = suggestion(name, known)
            hint = f"did you mean {near}?" if near else "`secateur config` lists the keys"
            raise SecateurError(f"{shown(name)} says nothing to {kind.name}", hint=hint, code=CANNOT_READ)
    return values
