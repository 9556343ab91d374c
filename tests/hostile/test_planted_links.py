"""Symbolic links that a pull request puts where a user's command is going to write: nothing outside is written, and the
error names the link."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.errors import ConfigError, SecateurError
from secateur.kinds.registry import get_kind
from secateur.output_files import OutputLines, refuse_links, write_folder, write_output
from secateur.profile_files import repository_file, write_profile
from secateur.settings import Settings, load
from secateur_lab.commands.demo import list_demos
from secateur_lab.replays.recorder import Observation, Recorder
from secateur_lab.scenarios.location import PlacedInputs
from secateur_lab.scenarios.running import session
from support.cli import Ran, secateur
from support.repos import shop_with_inputs
from support.scenario_commands import COMMANDS

State = dict[str, tuple[int, bytes]]

LOG = ("log", "inputs/ci.log", "--max-tokens", "500")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is not the repository's, with files under the names that commands write."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("precious", "chunk-001.md", "ci.log"):
        (folder / name).write_text("mine\n")
    return folder


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of two commits with an input of every kind, in which the test works."""
    root = shop_with_inputs(tmp_path / "shop")
    monkeypatch.chdir(root)
    return root


def state(folder: Path) -> State:
    """Everything below a folder: links as what they say, files with the time at which they were written."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if ".git" not in path.parts:
            data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            found[path.relative_to(folder).as_posix()] = (path.lstat().st_mtime_ns if data else 0, data)
    return found


def refused(ran: Ran, *, said: str = "is a symbolic link") -> None:
    told = ran.err + ran.out
    assert ran.code in (1, 2), told
    assert "error: " in told and said in told and "hint: " in told
    assert "unexpected" not in told and "Traceback" not in told


# --- files ------------------------------------------------------------------------------------------------------------

FILES: dict[str, tuple[str, tuple[object, ...]]] = {
    "conversation --out": ("out.json", ("conversation", "inputs/session.jsonl", "--out")),
    "log --report .html": ("out.html", (*LOG, "--report")),
    "log --report .svg": ("out.svg", (*LOG, "--report")),
    "replay --svg": ("out.svg", ("replay", list_demos()["log"].path, "--svg")),
    "tune --out": ("tuned.toml", ("tune", ".", "--out")),
    **{f"{name} --save": ("out.scenario.toml", (*words, "--save")) for name, words in COMMANDS.items()},
}
"""By command: the name of a file that it writes, and the words before that."""


def link_to_a_file(target: Path, outside: Path) -> None:
    target.symlink_to(outside / "precious")


def link_to_nothing(target: Path, outside: Path) -> None:
    target.symlink_to(outside / "new")


def relative_link(target: Path, _outside: Path) -> None:
    target.symlink_to("../../outside/precious")


def link_to_a_folder(target: Path, outside: Path) -> None:
    target.symlink_to(outside, target_is_directory=True)


def link_to_a_device(target: Path, _outside: Path) -> None:
    target.symlink_to(os.devnull)


def link_in_a_circle(target: Path, _outside: Path) -> None:
    target.symlink_to(target.name)


def folder_that_is_a_link(target: Path, outside: Path) -> None:
    target.parent.rmdir()
    target.parent.symlink_to(outside, target_is_directory=True)


def folder_below_a_link(target: Path, outside: Path) -> None:
    (outside / target.parent.name).mkdir()
    target.parent.rmdir()
    target.parent.parent.rmdir()
    target.parent.parent.symlink_to(outside, target_is_directory=True)


LINKS: list[Callable[[Path, Path], None]] = [
    link_to_a_file,
    link_to_nothing,
    relative_link,
    link_to_a_folder,
    link_to_a_device,
    link_in_a_circle,
    folder_that_is_a_link,
    folder_below_a_link,
]


@pytest.mark.parametrize(
    ("command", "way"),
    [
        pytest.param(command, way, id=f"{command} {way.__name__}")
        for command in FILES
        for way in LINKS
        if not command.endswith("--save") or command == "log --save" or way in (link_to_a_file, folder_that_is_a_link)
    ],
)
def test_a_file_is_not_written_through_a_link(
    shop: Path, outside: Path, command: str, way: Callable[[Path, Path], None]
) -> None:
    name, words = FILES[command]
    deep = way is folder_below_a_link
    target = Path("made", "deep", name) if deep else Path("made", name)
    (shop / target.parent).mkdir(parents=True)
    way(shop / target, outside)
    before, ours = state(outside), state(shop)
    ran = secateur(*words, target)
    there = "--report" in words and "folder" not in way.__name__.split("_")[0]
    refused(ran, said="already exists" if there else "is a symbolic link")
    assert (state(outside), state(shop)) == (before, ours)
    if way is link_to_a_file and command.split()[0] not in ("tune", "replay"):  # too little history; takes long
        target.unlink()
        assert secateur(*words, target).code == 0
        assert state(outside) == before


@pytest.mark.parametrize("absolute", [False, True])
def test_a_path_is_refused_as_typed_in_whatever_way(shop: Path, outside: Path, absolute: bool) -> None:
    (shop / "made").symlink_to(outside, target_is_directory=True)
    (shop / "deep").mkdir()
    for typed in ("made/x.json", "made/../outside/x.json", "deep/../made/x.json", "./made/precious", "made/none/x"):
        before = state(outside)
        refused(secateur("conversation", "inputs/session.jsonl", "--out", (shop / typed) if absolute else typed))
        assert state(outside) == before


# --- folders ----------------------------------------------------------------------------------------------------------

FOLDERS = {
    "chunk --out": ("chunk", "--base", "HEAD~1", "--head", "HEAD", "--out"),
    "mine --out": ("mine", ".", "--out"),
}


@pytest.mark.parametrize("way", LINKS, ids=[way.__name__ for way in LINKS])
@pytest.mark.parametrize("command", FOLDERS)
def test_a_folder_is_not_written_through_a_link(
    shop: Path, outside: Path, command: str, way: Callable[[Path, Path], None]
) -> None:
    target = Path("made", "deep", "out") if way is folder_below_a_link else Path("made", "out")
    (shop / target.parent).mkdir(parents=True)
    way(shop / target, outside)
    before, ours = state(outside), state(shop)
    refused(secateur(*FOLDERS[command], target))
    assert (state(outside), state(shop)) == (before, ours)


@pytest.mark.parametrize("to", ["chunk-001.md", "none"])
def test_a_file_of_a_folder_is_not_written_through_a_link(shop: Path, outside: Path, to: str) -> None:
    (shop / "out").mkdir()
    (shop / "out" / "chunk-001.md").symlink_to(outside / to)
    before, ours = state(outside), state(shop)
    refused(secateur(*FOLDERS["chunk --out"], "out"), said="out/chunk-001.md is a symbolic link")
    assert (state(outside), state(shop)) == (before, ours)


def test_files_of_an_earlier_run_that_are_links_stay(shop: Path, outside: Path) -> None:
    assert secateur(*FOLDERS["chunk --out"], "out", "--quiet").code == 0
    shutil.copy(shop / "out" / "chunk-001.md", outside / "chunk-009.md")
    (shop / "out" / "chunk-009.md").symlink_to(outside / "chunk-009.md")
    before = state(outside)
    assert secateur(*FOLDERS["chunk --out"], "out", "--quiet").code == 0
    assert state(outside) == before
    assert (shop / "out" / "chunk-009.md").is_symlink()


# --- scenarios, recordings and configuration --------------------------------------------------------------------------


@pytest.mark.parametrize("plant", ["out.scenario.inputs", "out.scenario.inputs/ci.log"])
@pytest.mark.parametrize("to", ["", "ci.log", "none"])
def test_inputs_beside_a_scenario_are_not_written_through_a_link(
    shop: Path, outside: Path, plant: str, to: str
) -> None:
    (shop.parent / "ci.log").write_text("ERROR: no space left\n")
    (shop / plant).parent.mkdir(exist_ok=True)
    (shop / plant).symlink_to(outside / to if to else outside)
    before, ours = state(outside), state(shop)
    ran = secateur("log", "../ci.log", "--save", "out.scenario.toml")
    refused(ran, said=f"cannot write {plant}: it is a symbolic link")
    assert (state(outside), state(shop)) == (before, ours)


@pytest.mark.parametrize("linked", ["checks", "checks/log.scenario.toml", "."])
@pytest.mark.parametrize("form", ["text", "json"])
def test_updating_a_scenario_does_not_follow_a_link(shop: Path, linked: str, form: str) -> None:
    (shop / "checks").mkdir()
    assert secateur(*LOG, "--save", "checks/log.scenario.toml", "--exact").code == 0
    text = (shop / "checks/log.scenario.toml").read_text().replace("max_tokens = 500", "max_tokens = 90")
    (shop / "checks/log.scenario.toml").write_text(text)
    other = shop.parent / "other"
    shutil.move(shop, other)
    (shop / linked).parent.mkdir(parents=True, exist_ok=True)
    os.chdir(shop.parent)
    (shop / linked).symlink_to(other / linked, target_is_directory=not linked.endswith("toml"))
    before = state(other)
    ran = secateur("check", "shop/checks/log.scenario.toml", "--update", "--format", form)
    assert (ran.code, "is a symbolic link" in ran.out) == (1, True)
    assert "remove the link, or name another path" in ran.out
    assert state(other) == before
    assert secateur("check", "other/checks", "--update").code == 0


@pytest.mark.parametrize("plant", ["a.replay.jsonl", "a.replay.inputs", "a.replay.inputs/ci.log"])
@pytest.mark.parametrize("to", ["", "ci.log", "none"])
def test_a_recording_is_not_written_through_a_link(shop: Path, outside: Path, plant: str, to: str) -> None:
    (shop.parent / "ci.log").write_text("ERROR: no space left\n")
    (shop / plant).parent.mkdir(exist_ok=True)
    (shop / plant).symlink_to(outside / to if to else outside)
    before = state(outside)
    log = get_kind("log")
    seen = Observation(
        log,
        log.blank_inputs() | {"path": "../ci.log"},
        Settings(),
        None,
        "",
        pinned=False,
        page="",
        held=lambda _: None,
    )
    with (
        session(os.environ) as opened,
        pytest.raises(SecateurError, match="is a symbolic link"),
        closing(Recorder(Path("a.replay.jsonl"), opened, lambda: 0.0)) as recorder,
    ):
        recorder.observe(seen)
    assert state(outside) == before


def test_the_configuration_of_a_repository_is_not_written_through_a_link(shop: Path, outside: Path) -> None:
    settings = load(None, sets=["graph_rag.top_k=7"]).settings
    (shop / "inner").symlink_to(outside, target_is_directory=True)
    (shop / "secateur.toml").symlink_to(outside / "precious")
    before = state(outside)
    with pytest.raises(SecateurError, match="is a symbolic link"):
        write_profile(repository_file(Path("inner")), "fast", settings)
    with pytest.raises(ConfigError, match="is a link"):
        repository_file(Path())
    refused(secateur("config", ".", "--save-profile", "x", "--to", "repository"), said="is a link")
    assert state(outside) == before


# --- what stays allowed -----------------------------------------------------------------------------------------------


def test_links_above_repositories_and_the_current_folder_are_the_users_own(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to("disk", target_is_directory=True)
    shutil.copytree(shop, tmp_path / "disk" / "shop")
    for target in (
        tmp_path / "home" / "a",
        Path("../home/a"),
        tmp_path / "home/shop/a",
        Path("../home/../home/shop/b"),
    ):
        write_output(target, "text")
        assert target.read_text() == "text"
    write_folder(tmp_path / "home/x/y", {"a": "text"})
    assert (tmp_path / "disk/x/y/a").read_text() == "text"
    (tmp_path / "home" / "link").symlink_to("a")
    for write in (refuse_links, OutputLines):
        with pytest.raises(SecateurError, match="is a symbolic link"):  # the last name is one: what would be meant?
            write(tmp_path / "home" / "link")


def test_the_current_folder_is_no_concern_of_a_service_that_starts_at_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to("disk", target_is_directory=True)
    monkeypatch.chdir("/")
    write_output(tmp_path / "data" / "a", "text")
    assert (tmp_path / "disk" / "a").read_text() == "text"


def test_another_name_of_a_file_keeps_its_bytes(shop: Path, outside: Path) -> None:
    os.link(outside / "precious", shop / "out.json")
    assert secateur("conversation", "inputs/session.jsonl", "--out", "out.json", "--quiet").code == 0
    assert (outside / "precious").read_text() == "mine\n"
    assert (shop / "out.json").read_text() != "mine\n"


def test_streams_are_written_to_also_by_the_links_of_the_system(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_output(Path(f"/dev/fd/{writer}"), "text")
    os.close(writer)
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    write_output(Path(os.devnull), "text")
    assert Path(os.devnull).is_char_device()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(SecateurError, match="is a symbolic link"):
        write_output(tmp_path / "link", "text")
    write_output(tmp_path / "pipe", "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)


# --- any layout -------------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES | st.just(".."), min_size=1, max_size=4).map("/".join)
PLANTS = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.sampled_from(["file", "folder"]) | PATHS, max_size=6
)


@given(plants=PLANTS, target=PATHS)
def test_whatever_is_planted_a_write_stays_in_the_folder(
    tmp_path_factory: pytest.TempPathFactory, plants: dict[str, str], target: str
) -> None:
    """Files, folders and links, some of which lead out: after a write that succeeds all else is as it was, and what was
    written is at the place that the path names without any link."""
    base = tmp_path_factory.mktemp("layout")
    root = base / "1" / "2" / "3" / "root"
    place = Path(os.path.normpath(root / target))
    root.mkdir(parents=True)
    for name in "abc":
        (root.parent / name).write_text("mine")
    for name, what in sorted(plants.items()):
        path = root / name
        if not os.path.lexists(path) and path.parent.is_dir() and path.parent.resolve() == path.parent:
            if what == "file":
                path.write_text("mine")
            elif what == "folder":
                path.mkdir()
            else:
                path.symlink_to(what)
    (root / ".git").mkdir()
    before = state(base)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        try:
            write_output(Path(target), "new")
        except SecateurError as error:
            assert error.hint
            assert state(base) == before
            return
    after = state(base)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed == {place.relative_to(base).as_posix()}
    assert place.read_text() == "new"


def test_copies_that_cannot_be_written_remove_nothing_of_others(shop: Path) -> None:
    placed = PlacedInputs(shop / "a.scenario.inputs", shop, shop)
    placed.copies |= {shop / "a.scenario.inputs" / name: b"text" for name in ("a.log", "b.log")}
    placed.folder.mkdir()
    (placed.folder / "b.log").symlink_to("nowhere")
    with pytest.raises(SecateurError, match="is a symbolic link"), placed.written():
        pass
    assert [path.name for path in placed.folder.iterdir()] == ["b.log"]
