from collections import Counter

import pytest
from secateur.kinds.registry import get_kind
from secateur.settings import Settings
from secateur_tui import actions
from secateur_tui.app import bench_on, page_of
from secateur_tui.frame import draw_footer
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.styled_text import plain


def test_no_key_does_two_things() -> None:
    keys = Counter(key for action in actions.ACTIONS for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_action_is_done_somewhere() -> None:
    bench = bench_on(KindPage(get_kind("log")), Settings(), {})
    doable = {action for part in bench.parts for action in part.actions}
    assert {action.id for action in actions.ACTIONS if not action.id.startswith(actions.BENCH)} == doable


def test_every_action_can_be_remapped_and_shows_its_key() -> None:
    for action in actions.ACTIONS:
        keys = actions.make_keymap({action.id: "f9"})
        assert keys.keys[action.id] == ("f9",)
        assert actions.list_overrides(keys) == {action.id: "f9"}
        assert keys.notices == ()


def test_a_chosen_key_is_taken_from_whoever_had_it() -> None:
    keys = actions.make_keymap({"budget-up": "x"})
    assert keys.keys["budget-up"] == ("x",)
    assert keys.keys["ghost"] == ()
    assert keys.first_key("ghost") == ""


def test_keys_may_be_written_as_people_do() -> None:
    keys = actions.make_keymap({"help": "!", "undo": "ctrl+z, #"})
    assert keys.keys["help"] == ("exclamation_mark",)
    assert keys.keys["undo"] == ("ctrl+z", "number_sign")
    assert keys.first_key("help") == "!"


def test_an_unknown_action_is_reported_with_the_nearest_one() -> None:
    (notice,) = actions.make_keymap({"budget-upp": "z"}).notices
    assert "budget-upp" in notice.message and "did you mean budget-up?" in notice.message


@pytest.mark.parametrize(
    "chosen", [{"strategy": "q"}, {"quit": ""}, {"quit": "z", "undo": "z"}, {"strategy": "q", "undo": "q,ctrl+z"}]
)
def test_quit_never_loses_its_last_key(chosen: dict[str, str]) -> None:
    keys = actions.make_keymap(chosen)
    assert keys.keys["quit"] == ("q",)
    assert [has for action, has in keys.keys.items() if action != "quit" and "q" in has] == []
    (notice,) = keys.notices
    assert notice.code == "quit_kept"
    assert "q stays with quit" in notice.message


def test_the_key_of_quit_is_free_once_quit_has_another() -> None:
    keys = actions.make_keymap({"strategy": "q", "quit": "ctrl+x"})
    assert (keys.keys["strategy"], keys.keys["quit"], keys.notices) == (("q",), ("ctrl+x",), ())


def test_printed_keys() -> None:
    assert [actions.key_name(key) for key in ("question_mark", "shift+left", "escape", "slash", "b")] == [
        "?",
        "shift+←",
        "Esc",
        "/",
        "b",
    ]


def test_what_people_do_most_are_actions_each_once() -> None:
    assert set(actions.MOST_USED) <= actions.BY_ID.keys() and len(set(actions.MOST_USED)) == len(actions.MOST_USED)


def test_the_last_line_names_only_what_the_bench_does() -> None:
    drawn = {"search": plain(draw_footer(actions.make_keymap({}), lambda _: "", 300))}
    for name in ("files", "conversation", "envelope", "log", "diff"):
        labels = bench_on(page_of(get_kind(name)), Settings(), {}).kind_page.action_labels
        drawn[name] = plain(draw_footer(actions.make_keymap({}), lambda _: "", 300, None, labels))
    assert " space Pin " in drawn["search"] and " - Exclude " in drawn["search"]
    for name in ("files", "conversation", "envelope", "log"):
        assert " space Pin " in drawn[name] and "Exclude" not in drawn[name], name
    assert " space Take in " in drawn["diff"] and " - Leave out " in drawn["diff"]


MOST = {"h": "Lever", "c": "Compare", "u": "Undo", "S": "Save", "y": "Copy", "f": "Find", "space": "", "E": "Export"}


@pytest.mark.parametrize("name", ["search", "files", "conversation", "envelope", "log", "diff"])
def test_at_120_columns_the_last_line_names_what_people_do_most(name: str) -> None:
    page = page_of(get_kind(name)) if name != "search" else None
    labels = bench_on(page, Settings(), {}).kind_page.action_labels if page is not None else {}
    drawn = plain(draw_footer(actions.make_keymap({}), lambda _: "", 120, None, labels))
    assert all(f" {key} {label}" in drawn for key, label in MOST.items()), drawn
    assert drawn.endswith(" : Actions ? Help q Quit"), "the palette of all actions is named"
    assert not any(label in drawn for label in ("Exclude", "Ghost"))


def test_actions_stand_apart_where_all_have_room() -> None:
    drawn = plain(draw_footer(actions.make_keymap({}), lambda _: "", 300))
    assert drawn.startswith(" / Query  b Budget+  w Weights  ") and drawn.endswith(" : Actions  ? Help  q Quit ")


def test_the_last_line_calls_an_action_as_the_bench_does() -> None:
    drawn = plain(draw_footer(actions.make_keymap({}), lambda _: "", 120, None, {"query": "Open", "weights": "Knobs"}))
    assert " / Open " in drawn and " w Knobs " in drawn and "Query" not in drawn
