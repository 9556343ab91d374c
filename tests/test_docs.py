"""Documents that cannot rot: generated pages and pictures are fresh; every command, flag, key and link that a page
names exists."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from secateur.cli.main import COMMANDS
from secateur.settings import PROFILES, keys
from support.cli import secateur

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = {page: page.relative_to(ROOT).as_posix() for page in PAGES}
PICTURES = ROOT / "docs" / "pictures"
LINK = re.compile(r"""!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)\"""")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def _commands(text: str) -> list[str]:
    """Lines of code blocks that call the program."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if re.match(r"secateur( |$)", line)]


@pytest.fixture(scope="module")
def generate() -> dict[str, Any]:
    """The names of `docs/generate.py`."""
    return runpy.run_path(str(ROOT / "docs" / "generate.py"))


@pytest.fixture(scope="module")
def pages(generate: dict[str, Any]) -> dict[str, str]:
    """What the generated pages should be."""
    return generate["pages"]()


def test_generated_pages_are_fresh(pages: dict[str, str]) -> None:
    stale = [name for name, text in pages.items() if (ROOT / "docs" / name).read_text("utf-8") != text]
    assert not stale, "run: python docs/generate.py"


def test_no_schema_is_left_of_a_shape_that_is_gone(pages: dict[str, str]) -> None:
    folder = ROOT / "docs" / "reference" / "schemas"
    written = {path.relative_to(ROOT / "docs").as_posix() for path in folder.iterdir()}
    assert written == {name for name in pages if name.startswith("reference/schemas/")}


@pytest.mark.parametrize("name", ["inspector", "conversation", "log", "pull-request", "window"])
def test_pictures_show_what_the_inspector_shows(name: str, tmp_path: Path, generate: dict[str, Any]) -> None:
    generate["picture"](f"{name}.svg", tmp_path / f"{name}.svg")
    there, now = (_texts((folder / f"{name}.svg").read_text("utf-8")) for folder in (PICTURES, tmp_path))
    assert there == now, "run: python docs/generate.py, and look at the picture"
    why = r"At\sits\sturn|.*changed\sthe\sfile,\sso|Like\searlier\sones|Lock\sfile|dead\sweight"
    assert any(re.match(why, text) for text in now), "a picture says why something was cut, or what fills a window"


def test_the_moving_picture_is_what_the_inspector_shows_of_its_recording(
    tmp_path: Path, generate: dict[str, Any]
) -> None:
    name = "demo.svg"
    generate["picture"](name, tmp_path / name)
    there, now = ((folder / name).read_bytes() for folder in (PICTURES, tmp_path))
    assert there == now, "run: python docs/generate.py, and look at the picture"
    assert len(now) < 600_000
    assert b"<script" not in now and now.count(b"http") == 1, "it fetches nothing: only its namespace is an address"


@pytest.mark.parametrize("name", ["report.svg", "report-light.svg", "served.svg", "served-light.svg"])
def test_the_pictures_of_a_report_and_of_the_served_page_are_what_the_commands_write_and_send(
    name: str, tmp_path: Path, generate: dict[str, Any]
) -> None:
    generate["picture"](name, tmp_path / name)
    assert (PICTURES / name).read_bytes() == (tmp_path / name).read_bytes(), (
        "run: python docs/generate.py, and look at the picture"
    )


def test_a_picture_says_the_same_in_light_and_dark_and_stands_on_a_page(generate: dict[str, Any]) -> None:
    named = "".join(page.read_text("utf-8") for page in PAGES)
    assert sorted(path.name for path in PICTURES.glob("*.svg")) == sorted(generate["pictures"]())
    for name in generate["pictures"]():
        assert f"pictures/{name}" in named, f"{name} stands on no page"
        dark, light = (PICTURES / name.replace("-light", look) for look in ("", "-light"))
        if "-light" in name:
            assert _texts(dark.read_text("utf-8")) == _texts(light.read_text("utf-8"))
            assert dark.read_bytes() != light.read_bytes()


def _texts(picture: str) -> list[str]:
    """The texts of a picture, in their order."""
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture)]


@pytest.mark.parametrize("page", PAGES, ids=NAMES.values())
def test_links_lead_somewhere(page: Path) -> None:
    for target in map("".join, LINK.findall(page.read_text("utf-8"))):
        if not re.match(r"[a-z]+:", target):
            path, _, section = target.partition("#")
            assert not path or (page.parent / path).exists(), f"{NAMES[page]}: {target}"
            if section and (not path or path.endswith(".md")):
                assert section in _sections(page.parent / path if path else page), f"{NAMES[page]}: {target}"


def _sections(page: Path) -> set[str]:
    """The names by which a link leads to a heading of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"`", "", heading)).lower().replace(" ", "-") for heading in headings}


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    named = {(ROOT / "docs" / target.partition("#")[0]).resolve() for target, _ in LINK.findall(index)}
    assert not set((ROOT / "docs").rglob("*.md")) - named - {ROOT / "docs" / "README.md"}


def test_the_shelf_for_use_stays_short() -> None:
    pages = {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "use").iterdir()}
    assert len(pages) <= 14
    assert sum(len(text.split()) for text in pages.values()) <= 18_000
    for name, text in pages.items():
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            assert table.count("\n") <= 10, f"{name}: more than eight rows belong in docs/reference or docs/lab"


@pytest.mark.parametrize("name", ["architecture.md", "changing.md", "extending.md"])
def test_files_of_ours_that_are_named_exist(name: str) -> None:
    folders = ("core", "docs", "tests", "tui")
    there = {f"/{path.relative_to(ROOT).as_posix()}" for folder in folders for path in (ROOT / folder).rglob("*.*")}
    there |= {f"/{path.name}" for path in ROOT.iterdir()}
    named = re.findall(r"`(?:python )?([a-z0-9_./]+\.(?:py|txt))[` ]", (ROOT / "docs/inside" / name).read_text("utf-8"))
    assert len(named) > 5
    assert not [file for file in named if not any(path.endswith(f"/{file}") for path in there)]


@pytest.mark.parametrize("page", PAGES, ids=NAMES.values())
def test_commands_and_flags_exist(page: Path) -> None:
    for line in _commands(page.read_text("utf-8")):
        call = line.partition("  #")[0]
        words = call.split()
        if len(words) == 1:
            continue
        command = words[1]
        if (page.name, command) == ("kind-example.md", "todo"):
            continue  # the command that the page adds: tests/kinds/test_other_kinds.py runs it
        assert command in COMMANDS, f"{page.name}: {line}"
        usage = secateur(command, "--help").out
        for flag in FLAG.findall(call):
            assert f"{flag} " in usage or f"{flag}]" in usage, f"{page.name}: {line}"


def test_the_readme_shows_every_important_command() -> None:
    commands = {line.split()[1] for line in _commands((ROOT / "README.md").read_text("utf-8")) if " " in line}
    assert {"search", "status"} <= commands


@pytest.mark.parametrize("page", PAGES, ids=NAMES.values())
def test_settings_that_are_named_exist(page: Path) -> None:
    tables = {name.partition(".")[0] for name in keys() if "." in name}
    named = keys()
    for word in re.findall(r"`((?:[a-z_]+\.)+[a-z_]+)(?: = [^`]*)?`", page.read_text("utf-8")):
        if word.partition(".")[0] in tables and not word.endswith((".py", ".toml", ".md", ".visible")):
            assert word in named or any(name.startswith(f"{word}.") for name in named), f"{page.name}: {word}"


def test_profiles_are_documented() -> None:
    text = (ROOT / "docs" / "reference" / "configuration.md").read_text("utf-8")
    for name, table in PROFILES.items():
        assert name in text
        assert table


def test_the_readme_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from support.repos import SHOP, write

    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    write(tmp_path / "path/to/repository", SHOP)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "refund_total" in capsys.readouterr().out


def test_each_clause_of_a_spec_has_the_test_that_holds_it() -> None:
    page = (ROOT / "docs" / "reference" / "specs.md").read_text("utf-8")
    rows = re.findall(r"^\| ([A-Z][A-Z0-9-]+) \| .+ \| `(.+)::(.+)` \|$", page, re.MULTILINE)
    for clause, path, name in rows:
        assert f"def {name}(" in (ROOT / "tests" / path).read_text("utf-8"), clause
    sources = [path.read_text("utf-8") for folder in ("core", "tui") for path in (ROOT / folder).rglob("*.py")]
    named = re.findall(r"\b(?:REQ|SC|GRAG|PRUNER|BUDGET|CHUNKING)-[A-Z]+(?:-[0-9]+)?\b", "\n".join(sources))
    assert len(rows) > 40
    assert named
    assert set(named) <= {clause for clause, *_ in rows}
