"""Each of the twelve main actions is one key, named in the last line or found in `?` by one word."""

import re
from pathlib import Path

import pytest
from inspector_kit import inspector, press, running, settle
from secateur_tui.actions import BY_ID

WORDS = {
    "query": "ask",
    "budget-up": "budget",
    "weights": "weight",
    "why": "why",
    "hint": "lever",
    "compare": "compare",
    "find": "find",
    "pin": "pin",
    "undo": "undo",
    "save": "save",
    "copy": "copy",
    "export": "export",
}
"""A word by which a person looks for each."""


async def test_each_main_action_is_found_in_the_help_by_one_word() -> None:
    async with running(inspector()) as app:
        await press(app, "question_mark")
        for id_, word in WORDS.items():
            lines = await settle(app, "slash", *word)
            action = BY_ID[id_]
            shown = [line for line in lines if f"{action.label}: {action.help[:20]}" in line]
            key = app.keymap.first_key(id_)
            assert shown, (word, *lines)
            assert f" {key} " in shown[0].partition(action.label)[0], shown
            await press(app, "escape")


def test_the_documentation_names_them() -> None:
    text = Path(__file__).parents[2].joinpath("docs", "use", "inspector.md").read_text(encoding="utf-8")
    table = text.partition("## The keys that matter")[2].partition("## ")[0]
    for id_, word in WORDS.items():
        assert f"`{word}`" in table, id_


@pytest.mark.parametrize("knob", ["pool", "query kind", "counter"])
async def test_a_knob_that_is_shown_on_demand_is_found_in_the_help(knob: str) -> None:
    async with running(inspector()) as app:
        lines = await settle(app, "p", "M", "question_mark", "slash", *knob.replace(" ", "_").split("_")[0])
        assert any(re.match(rf"[^a-z]*{knob}  ", line) for line in lines), "\n".join(lines)
