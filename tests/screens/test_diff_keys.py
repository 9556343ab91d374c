"""What keys do in the Diff bench, that its command line reproduces the screen, and that text from outside stays
text."""

import shlex
from pathlib import Path

import pytest
from diff_kit import LIMIT, PULL, diff_bench, opened, packing, write_pull_request, write_repository
from inspector_kit import Inspector, press, running, settle
from secateur.kinds import registry
from secateur.kinds.diff.chunks import render_chunks
from secateur.kinds.diff.plan import Plan
from secateur.kinds.run import render as render_of
from secateur.settings import Settings, with_values
from secateur_tui.pages.diff import DiffPage, chunks_of
from secateur_tui.widgets.dialogue import QueryInput
from support.cli import secateur
from support.repos import committed, git, write
from test_hostile_screens import HOSTILE, assert_harmless

SIZE = (120, 40)
DIFF = DiffPage(registry.get_kind("diff"))
TYPED = {field.name: "" for field in DIFF.fields}


def plan_of(app: Inspector) -> Plan:
    plan: Plan = packing(app).outcome.payload.plan
    return plan


def line_of(app: Inspector, path: str) -> int:
    answer = packing(app)
    return answer.line_of(answer.place_of[path])


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pull_request(tmp_path)
    write_repository(tmp_path)
    Path("SKILL.md").write_text("Look at the roundings.\n")
    Path("lint.txt").write_text("src/cart.py:2:5: error: too many places\n")


@pytest.mark.parametrize(
    ("settings", "path", "typed", "keys"),
    [
        (LIMIT, PULL, {}, ""),
        (Settings(), PULL, {"ignore": "*.md !uv.lock", "skill": "SKILL.md"}, "B"),
        (LIMIT, PULL, {}, "B B w down down right down down left"),
        (
            with_values(LIMIT, {"chunking.ignore": ["*.md"], "tokens.counter": "estimate"}),
            PULL,
            {},
            "down K G K",
        ),
        (with_values(LIMIT, {"chunking.ignore": ["/src/shop/cart.py"]}), PULL, {}, "G K"),
        (
            with_values(LIMIT, {"chunking.max_chunk_tokens": 900}),
            "shop",
            {"base": "HEAD^", "linter": "lint.txt"},
            "w down right right right",
        ),
        (LIMIT, "shop", {"head": "--worktree --untracked"}, "w down 0"),
        (LIMIT, "shop", {"base": "HEAD^", "head": "HEAD"}, "w down down down right"),
    ],
)
async def test_the_copied_command_reproduces_the_chunks(
    settings: Settings, path: str, typed: dict[str, str], keys: str
) -> None:
    write(Path("shop"), {"src/new [1].py": "x = 1\n", "src/money.py": "y = 2\n"})
    async with running(opened(settings, path, **typed), SIZE) as app:
        await settle(app, *keys.split())
        outcome, command = packing(app).outcome, diff_bench(app).command()
        chunks = outcome.payload.chunks
        assert len(chunks) > 0
        await settle(app, "y")
        assert app.clipboard == command
    ran = secateur(*shlex.split(command)[1:])
    # Revisions are copied as the commits that they name now: the first line says them so.
    (asked, *printed), (shown, *drawn) = ran.out.splitlines(), render_of(DIFF.kind, outcome, "text").splitlines()
    assert (ran.code, printed, asked.partition(" (")[2]) == (0, drawn, shown.partition(" (")[2])
    assert "HEAD" not in command
    markdown = secateur(*shlex.split(command)[1:], "--format", "markdown")
    assert markdown.out == "".join(chunk.text for chunk in chunks)


async def test_the_copied_command_names_the_commits_that_were_read_and_not_those_that_came_since() -> None:
    shop = committed(Path("moved"), {"a.py": "x = 1\n"})
    base = git(shop, "rev-parse", "HEAD")
    write(shop, {"a.py": "x = 2\n"})
    git(shop, "commit", "-q", "-am", "Two")
    async with running(opened(path="moved", base="HEAD~1"), SIZE) as app:
        git(shop, "commit", "-q", "--allow-empty", "-m", "Nothing")
        assert f"--base {base}" in diff_bench(app).command()
        await press(app, *["B"] * 40)
        assert f"--base {base}" in diff_bench(app).command()


def test_paths_and_patterns_that_look_like_flags_stay_what_they_are() -> None:
    Path("--all.diff").write_text(Path(PULL).read_text())
    command = DIFF.command(TYPED | {"path": "--all.diff", "ignore": "-x.py"}, LIMIT, LIMIT)
    assert secateur(*shlex.split(command)[1:]).out == secateur("chunk", "--diff=--all.diff", "--max-tokens", 2000).out


def test_patterns_of_a_configuration_that_were_taken_back_are_taken_back() -> None:
    configured = with_values(LIMIT, {"chunking.ignore": ["*.md"]})
    Path("secateur.toml").write_text('[chunking]\nignore = ["*.md"]\n')
    command = DIFF.command(TYPED | {"path": PULL}, LIMIT, configured)
    assert "docs/refunds.md" in secateur(*shlex.split(command)[1:]).out
    assert "a pattern of chunking.ignore" in secateur("chunk", "--diff", PULL).out


async def test_the_limit_is_turned_and_the_cursor_stays_on_its_file() -> None:
    async with running(opened(), SIZE) as app:
        await press(app, *["down"] * line_of(app, "src/shop/money.py"))
        for key, limit in (("B", 1750), ("B", 1500), ("b", 1750), ("b", 2000), ("u", 1750)):
            await settle(app, key)
            assert (plan_of(app).limit, diff_bench(app).state.entry) == (limit, "src/shop/money.py")
        await settle(app, "w", "shift+left")
        assert plan_of(app).limit == 1650


async def test_a_file_is_left_out_by_a_key_and_comes_back_with_undo() -> None:
    async with running(opened(), SIZE) as app:
        before = render_chunks(plan_of(app)).output()
        await press(app, "end", "K")
        assert app.is_running and diff_bench(app).state.settings == LIMIT, "the wrapper is no file"
        lines = await settle(app, "home", *["down"] * line_of(app, "src/shop/cart.py"), "K")
        assert chunks_of(packing(app))["src/shop/cart.py"] == ()
        assert any("patterns: /src/shop/cart.py" in line for line in lines)
        await settle(app, "u")
        assert render_chunks(plan_of(app)).output() == before


async def test_patterns_base_and_head_are_typed() -> None:
    async with running(opened(path="shop", base="HEAD^"), SIZE) as app:
        assert set(chunks_of(packing(app))) == {"src/cart.py", "src/tax.py"}
        await settle(app, "slash", "tab", "tab", "tab", *"tax.py", "enter")
        assert chunks_of(packing(app))["src/tax.py"] == () and diff_bench(app).state.baseline is not None
        lines = await settle(app, "slash", "tab", "tab", *"--x", "enter")
        assert any("--x is not a head" in line for line in lines)
        await settle(app, "slash", "tab", "tab", "ctrl+u", "enter")
        assert chunks_of(packing(app))["src/tax.py"] == ()


async def test_a_path_is_typed_and_a_wrong_one_says_what_is_wrong() -> None:
    async with running(opened(path=""), SIZE) as app:
        assert isinstance(app.focused, QueryInput)
        assert any("cannot read nowhere.diff" in line for line in await settle(app, *"nowhere.diff", "enter"))
        lines = await settle(app, "slash", "ctrl+u", *"SKILL.md", "enter")
        assert not any("Traceback" in line for line in lines)
        await settle(app, "b", "i", "v", "d", "K", "y", "escape", "x", "slash", "ctrl+u", *PULL, "enter")
        assert len(plan_of(app).coverage) == 10 and app.focused is diff_bench(app).home


@pytest.mark.parametrize("size", [SIZE, (80, 24)], ids=str)
async def test_hostile_names_and_texts_are_text(size: tuple[int, int]) -> None:
    patches = []
    for number, text in enumerate(HOSTILE):
        name = "".join(character for character in text if character not in '\n"\\\0')[:60] + str(number)
        said = "".join(
            f"\\{byte:03o}" if byte < 32 or byte > 126 else chr(byte)
            for byte in name.encode("utf-8", "surrogateescape")
        )
        lines = "".join(f"+{line}\n" for line in text.split("\n"))
        head = (
            f'diff --git "a/{said}" "b/{said}"\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++'
            f' "b/{said}"\n'
        )
        patches.append(
            f"{head}@@ -0,0 +1,{lines.count(chr(10))} @@ {text.splitlines()[0] if text.splitlines() else ''}\n{lines}"
        )
    diff = "[b]\x1b]0;x\x07\u202e.diff"
    Path(diff).write_bytes("".join(patches).encode("utf-8", "surrogateescape"))
    Path("SKILL.md").write_text("\n".join(HOSTILE), encoding="utf-8", errors="replace")
    settings = with_values(
        Settings(), {"chunking.max_chunk_tokens": 1500, "chunking.ignore": [HOSTILE[0].split("\n")[0]]}
    )
    app = opened(settings, diff, skill="SKILL.md", ignore="[b]\x1b[2J")
    async with app.run_test(size=size, notifications=True):
        assert_harmless(await settle(app), size[0])
        assert diff_bench(app).state.listed, "the diff is read"
        for _ in range(2):
            await press(app, "B", "down", "down", "K")
            for page in ("i", "v", "d", "w", "y", "slash"):
                assert_harmless(await settle(app, page), size[0])
                await press(app, "escape")
    app = opened(settings, diff + "nowhere", base=HOSTILE[1])
    async with app.run_test(size=size):
        assert_harmless(await settle(app), size[0])
