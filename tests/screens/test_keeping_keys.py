"""What was tuned is kept: as a profile of the user or the repository, as the default; an item opens in an editor."""

import os
import shlex
from pathlib import Path

import tomli
from inspector_kit import bench_of, inspector, press, running, settle
from secateur.settings import Settings, load
from support.cli import secateur

TIGHT = Settings(budget=5000)


def of(tmp_path, **environ):
    variables = {"SECATEUR_CONFIG_DIR": str(tmp_path / "own"), "PATH": os.environ["PATH"], **environ}
    return inspector(settings=TIGHT, path=str(tmp_path), environ=variables)


def own(tmp_path):
    return tomli.loads((tmp_path / "own" / "secateur.toml").read_text())


async def test_knobs_are_saved_as_a_profile_of_the_user_and_read_back_headless(tmp_path, monkeypatch):
    async with running(of(tmp_path)) as app:
        await press(app, "w", "right")
        lines = await settle(app, "S", *"yours")
        assert any("yours" in one and "every repository" in one for one in lines), "\n".join(lines)
        lines = await settle(app, "enter")
        assert any("[profiles.mine]" in one for one in lines), "\n".join(lines)
        await settle(app, "enter")
        assert bench_of(app).state.settings.profiles["mine"]["graph_rag"]["token_budget"] == 5000
    saved = load(None, user_dir=tmp_path / "own", profile="mine").settings
    assert saved.smart_pruning.priority_weights.relevance == 0.45 and saved.graph_rag.token_budget == 5000
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "own"))
    ran = secateur("search", "refund", "sample:orders", "--profile", "mine", "--format", "json")
    assert ran.code == 0 and ran.json["budget"] == 5000 and ran.json["profile"] == "mine"


async def test_a_repository_is_given_what_it_may_set_and_the_rest_is_named(tmp_path):
    async with running(of(tmp_path)) as app:
        lines = await settle(app, "p", "S", *"repository", "enter")
        assert any("beside those of recommended" in one for one in lines) and not any("│ not " in one for one in lines)
        await settle(app, *["backspace"] * 20, *"ours", "enter")
    ours = tomli.loads((tmp_path / "secateur.toml").read_text())["profiles"]["ours"]
    assert ours == {"base": "recommended", "graph_rag": {"token_budget": 5000}}
    assert load(tmp_path, profile="ours").notices == ()


async def test_escape_saves_nothing_and_a_wrong_name_is_said(tmp_path):
    async with running(of(tmp_path)) as app:
        await press(app, "S", "escape")
        lines = await settle(app, "S", *"yours", "enter", *["backspace"] * 4, *"spec", "enter")
        assert any("spec is built in and cannot be changed" in one for one in lines), "\n".join(lines)
        assert app.screen.query_one("#answer").value == "spec", "what was typed stays"
        await settle(app, "escape")
    assert not (tmp_path / "own").exists()


async def test_a_profile_is_made_the_default_by_one_key(tmp_path):
    async with running(of(tmp_path)) as app:
        lines = await settle(app, "p", "D")
        assert any("recommended becomes your default" in one for one in lines) and not (tmp_path / "own").exists()
        await settle(app, "escape")
        assert not (tmp_path / "own").exists()
        await settle(app, "D", "enter")
    assert own(tmp_path) == {"profile": "recommended"}


async def test_the_default_is_said_to_be_without_what_was_changed(tmp_path):
    async with running(of(tmp_path)) as app:
        told = "What you changed is not in it: S saves"
        assert not any(told in line for line in await settle(app, "D"))
        assert any(told in line for line in await settle(app, "escape", "w", "right", "D"))


async def test_a_saved_profile_is_the_present_one_and_the_next_key_leads_round_it(tmp_path):
    async with running(of(tmp_path)) as app:
        assert "spec*" in (await settle(app, "w", "right"))[0]
        await press(app, "S", *"yours", "enter", *"mine2", "enter")  # what is proposed is marked: typing replaces it
        assert "mine2   " in (await settle(app))[0], "no star"
        tuned = bench_of(app).state.settings
        for profile in ("spec", "recommended", "mine2"):
            lines = await settle(app, "p")
            assert profile in lines[0] and not any("the program failed" in one for one in lines)
        assert bench_of(app).state.settings.smart_pruning == tuned.smart_pruning
        assert "mine2*" in (await settle(app, "right"))[0]
        assert "mine2   " in (await settle(app, *"uuuuu", "p", "p"))[0], "undo forgets no profile"


async def test_undo_takes_back_what_a_key_wrote(tmp_path):
    file = tmp_path / "own" / "secateur.toml"
    file.parent.mkdir()
    file.write_text("# mine\n[ui]\ntheme = 'paper'\n")
    before = file.read_bytes()
    async with running(of(tmp_path), notifications=True) as app:
        await settle(app, "p", "D", "enter")
        adopted = file.read_bytes()
        assert adopted != before
        assert any("undone: secateur.toml" in one for one in await settle(app, "u"))
        assert file.read_bytes() == before
        await settle(app, "U")
        assert file.read_bytes() == adopted
        file.write_bytes(adopted + b"# later\n")
        lines = await settle(app, "u")
        assert any("changed since" in one for one in lines), "\n".join(lines)
        assert file.read_bytes() == adopted + b"# later\n"
        assert bench_of(app).state.settings.profile == "recommended"
        assert any("undone: profile recommended → spec" in one for one in await settle(app, "u"))


async def test_an_item_opens_in_a_window_editor_at_its_line(tmp_path):
    script, said = tmp_path / "bin" / "code", tmp_path / "said"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(said))}.new && mv {said}.new {said}\n')
    script.chmod(0o755)
    async with running(of(tmp_path, EDITOR=f"{shlex.quote(str(script))} --wait")) as app:
        place = bench_of(app).state.answer.selection.pool
        row = bench_of(app).state.cursor
        file = tmp_path / place.path[row]
        file.parent.mkdir(parents=True)
        file.write_text("x\n")
        await press(app, "e")
        while not said.exists():
            await settle(app)
        words = said.read_text().splitlines()
        assert words == ["--wait", "--goto", f"{Path(file)}:{place.line_start[row]}"]


async def test_where_there_is_no_editor_or_no_file_it_is_said(tmp_path):
    async with running(of(tmp_path)) as app:
        await settle(app, "e")
        assert app.is_running  # the prepared pool is of files that are not there
