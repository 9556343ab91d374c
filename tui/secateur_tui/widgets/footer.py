"""The last line: the keys of the actions that matter most, as they are mapped now."""

from __future__ import annotations

from collections.abc import Callable

from secateur_tui.actions import ACTIONS, Keymap
from secateur_tui.styled_text import ELLIPSIS, Line, Span, line, width

_ALWAYS = ("help", "quit")


def draw_footer(keys: Keymap, unavailable: Callable[[str], str], cells: int) -> Line:
    """As many actions as fit, in the order of the registry; help and quit always; an ellipsis where some are left
    out."""

    def entry(action_id: str, label: str) -> Line:
        off = bool(unavailable(action_id))
        return line(
            Span(f" {keys.shown(action_id)}", "faint" if off else "key"), Span(f" {label} ", "faint" if off else "")
        )

    entries = [
        (action.id, entry(action.id, action.label)) for action in ACTIONS if action.footer and keys.keys[action.id]
    ]
    last = tuple(span for action_id, drawn in entries if action_id in _ALWAYS for span in drawn)
    others = [drawn for action_id, drawn in entries if action_id not in _ALWAYS]
    out: Line = ()
    for index, drawn in enumerate(others):
        more = index + 1 < len(others)
        if width(out) + width(drawn) + width(last) + (2 if more else 0) > cells:
            return (*out, Span(f" {ELLIPSIS}", "faint"), *last)
        out = (*out, *drawn)
    return (*out, *last)
