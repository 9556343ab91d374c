"""The one registry of actions. Bindings, footer, help screen and command palette are all derived from it."""

import difflib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from secateur.kinds import registry
from secateur.model import Notice
from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, format_key

QUIT = "quit"  # the action that always has a key

REPLAY_NEXT, REPLAY_BACK = "replay-next", "replay-back"

BENCH = "bench-"  # the beginning of the ids of actions that open a bench
LAST_KEY = 9  # benches that a digit opens; further ones are opened from the command palette, or by a key of the user's


@dataclass(frozen=True, slots=True)
class Action:
    """Something the user can do. A part of the screen has a method `do_<id with underscores>`; those that open a bench
    are the application's."""

    id: str  # the name in `[ui] keys`
    keys: tuple[str, ...]
    label: str
    help: str
    group: str


ACTIONS = (
    Action("query", ("slash",), "Query", "Type a question, or what to open; Enter or Escape goes to the list", "Ask"),
    Action("suggested", ("Q",), "Suggested", "Show questions that suit the repository", "Ask"),
    Action("refresh", ("R",), "Refresh", "Read the files again", "Ask"),
    Action("budget-up", ("b",), "Budget+", "Raise the budget", "Turn"),
    Action("budget-down", ("B",), "Budget−", "Lower the budget", "Turn"),
    Action("type", ("equals_sign",), "Type", "Type a budget, or a value of the chosen knob", "Turn"),
    Action("weights", ("w",), "Weights", "Go to the knobs; ↑ and ↓ choose one", "Turn"),
    Action("all-knobs", ("M",), "All knobs", "Show every knob, also the parts of relevance; or fewer", "Turn"),
    Action("tune-down", ("left",), "Less", "Turn the chosen knob down", "Turn"),
    Action("tune-up", ("right",), "More", "Turn the chosen knob up", "Turn"),
    Action("tune-down-fine", ("shift+left",), "A little less", "Turn the chosen knob down by its finest step", "Turn"),
    Action("tune-up-fine", ("shift+right",), "A little more", "Turn the chosen knob up by its finest step", "Turn"),
    Action("mute", ("0",), "Mute", "Set the chosen weight to 0", "Turn"),
    Action("reset", ("r",), "Reset", "Set the chosen knob back to its first value", "Turn"),
    Action("strategy", ("s",), "Strategy", "The next strategy", "Turn"),
    Action("profile", ("p",), "Profile", "The next profile: spec, recommended, then your own", "Turn"),
    Action("hold", ("K",), "Pin, leave out", "Pin this item, or leave this file out or take it in; or undo it", "Turn"),
    Action("pin", ("space",), "Pin", "Pin this candidate: it is sent before all others; again: unpin it", "Steer"),
    Action("exclude", ("minus",), "Exclude", "Drop this candidate; again: no longer", "Steer"),
    Action("boost", ("full_stop",), "Boost", "Multiply its priority by the next larger factor", "Steer"),
    Action("damp", ("comma",), "Damp", "Multiply its priority by the next smaller factor", "Steer"),
    Action("why", ("i",), "Why", "Show why this item was kept or dropped", "Look"),
    Action("preview", ("v",), "Preview", "Show the text of this item", "Look"),
    Action("pack", ("P",), "Pack", "Show exactly what is sent, each part with its item; / finds in it", "Look"),
    Action("diff", ("d",), "Diff", "Show what changed since the ghost", "Look"),
    Action("curve", ("l",), "Curve", "Show what is sent at each budget", "Look"),
    Action("window", ("T",), "Window", "Show what fills the model's window, by tool, and when it will be full", "Look"),
    Action("hint", ("h",), "Lever", "Apply the marked lever: a value that changes the decision on this item", "Turn"),
    Action("zoom", ("enter",), "Zoom", "Let the pane with the focus fill the screen; again: no longer", "Look"),
    Action("next-hint", ("I",), "Next lever", "Mark the next lever", "Turn"),
    Action("ghost", ("x",), "Ghost", "Make this answer the ghost, which later ones are compared with", "Look"),
    Action("compare", ("c",), "Compare", "Show another profile, another budget or the ghost beside this", "Look"),
    Action("adopt", ("a",), "Adopt", "Take the settings of the right side of the comparison", "Look"),
    Action("find", ("f",), "Find", "Go to an item by its name, its path or its text", "Find"),
    Action("filter", ("F",), "Filter", "Show only one state, kind, language or folder; Esc shows all", "Find"),
    Action("order", ("o",), "Order", "Sort the list by name, tokens or any signal", "Find"),
    Action(
        "next-changed",
        ("right_square_bracket",),
        "Next changed",
        "Go to the next item that is decided differently",
        "Find",
    ),
    Action("previous-changed", ("left_square_bracket",), "Previous changed", "Go to the one before", "Find"),
    Action("next-cut", ("right_curly_bracket",), "Next cut", "Go to the next item that is sent in part", "Find"),
    Action("previous-cut", ("left_curly_bracket",), "Previous cut", "Go to the one before", "Find"),
    Action("next-dropped", ("greater_than_sign",), "Next dropped", "Go to the next item that is not sent", "Find"),
    Action("previous-dropped", ("less_than_sign",), "Previous dropped", "Go to the one before", "Find"),
    Action("undo", ("u",), "Undo", "Undo the last change of settings", "Change"),
    Action("redo", ("U", "ctrl+r"), "Redo", "Redo the change that was undone", "Change"),
    Action("copy", ("y",), "Copy", "Copy and show the command line that reproduces this screen", "Change"),
    Action("export", ("E",), "Export", "Write an HTML page, Markdown, JSON or a picture to share", "Change"),
    Action("edit", ("e",), "Edit", "Open the item in $EDITOR at its line", "Change"),
    Action("save", ("S",), "Save", "Keep the settings as a profile, or this screen as a scenario to check", "Guard"),
    Action("default", ("D",), "Default", "Make the profile on the screen your default", "Guard"),
    Action(
        "must",
        ("m",),
        "Must",
        "Assert this decision in the scenario; again: that the item is kept, or nothing",
        "Guard",
    ),
    Action("check", ("C",), "Check", "Show which assertions of the scenario fail, and why", "Guard"),
    Action("cases", ("J",), "Cases", "Show the effect on the judged cases and scenarios of --cases", "Guard"),
    Action("accept", ("A",), "Accept", "Record the present decisions in the scenario; asks first", "Guard"),
    Action(
        "caption", ("semicolon",), "Caption", "While recording: write or change a text about the screen", "Recording"
    ),
    Action(REPLAY_NEXT, ("n",), "Next", "Go to the next stop of the recording; Space does it too", "Recording"),
    Action(REPLAY_BACK, ("N", "backspace"), "Previous", "Go to the stop before", "Recording"),
    *(
        Action(
            BENCH + name,
            (str(number),) if number <= LAST_KEY else (),
            bench.title,
            f"The {bench.title} bench: {bench.about}",
            "Benches",
        )
        for number, (name, bench) in enumerate(registry.benches().items(), 1)
    ),
    Action("theme", ("t",), "Theme", "The next theme", "Program"),
    Action("back", ("escape",), "Back", "Close the page on top, or go to the list", "Program"),
    Action("palette", ("colon", "ctrl+p"), "Actions", "The palette: all actions by name", "Program"),
    Action("help", ("question_mark",), "Help", "This page", "Program"),
    Action(QUIT, ("q",), "Quit", "Leave", "Program"),
)

# The actions that people use most, first: the last line of the screen names them, and the palette begins with them.
MOST_USED = (
    *("query", "budget-up", "weights", "find", "hint", "compare", "pin", "undo", "save", "copy", "export", "pack"),
    *("why", "preview", "diff", "exclude", "edit", "palette", "help", QUIT),
)

BY_ID = {action.id: action for action in ACTIONS}


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys of each action after the user's `[ui] keys`, and what was wrong with those."""

    keys: Mapping[str, tuple[str, ...]]  # per action id; may be empty where another action took the key
    notices: tuple[Notice, ...] = ()

    def first_key(self, action: str) -> str:
        """Returns the first key of an action as printed; "" where it has none."""
        keys = self.keys[action]
        return key_name(keys[0]) if keys else ""


def make_keymap(chosen: Mapping[str, str]) -> Keymap:
    """Returns the default keys under the user's own. A chosen key is taken from the action that had it; an unknown
    action is reported with the nearest name.

    `quit` always keeps a key: where the last one is taken, it gets its default keys back, and a notice says so.
    """
    notices: list[Notice] = []
    keys = {action.id: action.keys for action in ACTIONS}
    for action, text in chosen.items():
        if action not in keys:
            near = difflib.get_close_matches(action, keys, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            notices.append(Notice("unknown_action", f"ui.keys: there is no action {action}{hint}"))
            continue
        taken = tuple(normalise_key(part) for part in text.split(",") if part.strip())
        for other in keys:
            keys[other] = tuple(key for key in keys[other] if key not in taken)
        keys[action] = taken
    if not keys[QUIT]:
        kept = BY_ID[QUIT].keys
        losers = [action for action in keys if set(kept) & set(keys[action])]
        keys = {action: tuple(key for key in has if key not in kept) for action, has in keys.items()} | {QUIT: kept}
        shown = ", ".join(map(key_name, kept))
        why = f"{', '.join(losers)} would take the last key of {QUIT}" if losers else f"{QUIT} would have no key"
        notices.append(
            Notice(
                "quit_kept",
                f'ui.keys: {why}; {shown} stays with {QUIT}. Another key for it frees {shown}: {QUIT} = "ctrl+x"',
            )
        )
    return Keymap(keys, tuple(notices))


def list_overrides(keys: Keymap) -> dict[str, str]:
    """Returns what Textual needs to know: the actions whose keys are not the default ones."""
    return {
        action.id: ",".join(keys.keys[action.id]) for action in ACTIONS if keys.keys[action.id] not in (action.keys, ())
    }


NEED_ANSWER = frozenset(("why", "preview", "pack", "diff", "curve", "ghost"))
NEED_DECISION = frozenset(("compare", "export"))
# Actions by what there must be first: an answer, one to the present settings, items in the list.
NEED_ITEMS = frozenset(
    (
        "find",
        "filter",
        "order",
        *(f"{way}-{what}" for way in ("next", "previous") for what in ("changed", "cut", "dropped")),
    )
)

# Bindings of every bench, with ids, so that a keymap can replace their keys; an action without a key has one that no
# keyboard has.
BINDINGS = [
    Binding(",".join(action.keys) or action.id, f"do('{action.id}')", action.label, id=action.id, show=False)
    for action in ACTIONS
]


def normalise_key(text: str) -> str:
    """Returns Textual's name of a key as people write it: `?` → `question_mark`."""
    text = text.strip()
    if len(text) != 1 or text.isalnum():
        return text
    name = unicodedata.name(text, text).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


def key_name(key: str) -> str:
    """Returns a key as printed: `question_mark` → `?`, `shift+left` → `shift+←`."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, _PRINTED.get(last) or format_key(last)])


_PRINTED = {"escape": "Esc"}
