"""The last line: the keys of the actions that matter most, as they are mapped now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from secateur_tui.actions import ACTIONS, BY_ID, Keymap
from secateur_tui.styled_text import ELLIPSIS, Line, Span, line, width

_ALWAYS = ("help", "quit")


def draw_footer(
    keys: Keymap,
    unavailable: Callable[[str], str],
    cells: int,
    only: Sequence[str] | None = None,
    *,
    typing: bool = False,
) -> Line:
    """As many actions as fit, in the order of the registry; help and quit always; an ellipsis where some are left out.

    Args:
        only: ids of the actions, in their order; None: those of the registry that belong here.
        typing: the keys go to a field: its own come first, and the others are faint, because they would be typed.
    """

    def entry(action_id: str, label: str) -> Line:
        off = typing or bool(unavailable(action_id))
        return line(
            Span(f" {keys.shown(action_id)}", "faint" if off else "key", action_id),
            Span(f" {label} ", "faint" if off else "", action_id),
        )

    named = [BY_ID[action_id] for action_id in only] if only else [action for action in ACTIONS if action.footer]
    entries = [(action.id, entry(action.id, action.label)) for action in named if keys.keys[action.id]]
    last = tuple(span for action_id, drawn in entries if action_id in _ALWAYS for span in drawn)
    others = [drawn for action_id, drawn in entries if action_id not in _ALWAYS]
    out: Line = ()
    if typing:
        back = keys.shown("back")
        leave = line(Span(f"  {back}", "key"), " Leave the field ", Span(" then", "faint")) if back else ()
        out = (*line(Span(" ⏎", "key"), " Ask"), *leave)
    for index, drawn in enumerate(others):
        more = index + 1 < len(others)
        if width(out) + width(drawn) + width(last) + (2 if more else 0) > cells:
            return (*out, Span(f" {ELLIPSIS}", "faint"), *last)
        out = (*out, *drawn)
    return (*out, *last)
