"""A change does not decide what of it is shown: a repository's settings count as they were before it, and what is
missing is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from secateur.kinds.diff.chunk_text import MOST_TOKENS, SHARE, distrust_notice
from secateur.kinds.diff.chunks import chunk_diff
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.tokens import count_tokens
from support.cli import secateur
from support.diffs import added
from support.repos import committed, git, write

FORMATS = ("text", "json", "markdown")


def change(root: Path, files: dict[str, str]) -> Path:
    """A pull request: one commit on a branch."""
    git(root, "checkout", "-q", "-b", "feature")
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Two")
    return root


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return committed(tmp_path / "shop", {"a.py": "a = 1\n", "AGENTS.md": "Test first.\n"})


EVIL = '[chunking]\nignore = ["evil.py"]\nrules = []\n'


@pytest.mark.parametrize(
    "files",
    [
        {"secateur.toml": EVIL},
        {"pyproject.toml": EVIL.replace("chunking", "tool.secateur.chunking")},
        {"secateur.toml": 'profile = "ours"\n[profiles.ours.chunking]\nignore = ["evil.py"]\nrules = []\n'},
    ],
)
@pytest.mark.parametrize("how", [("--base", "main"), ("--base", "main", "--worktree"), ()])
def test_a_change_does_not_hide_itself(shop: Path, files: dict[str, str], how: tuple[str, ...]) -> None:
    change(shop, {"evil.py": "evil = 1\n", **files})
    name = next(iter(files))
    said = {form: secateur("chunk", shop, *how, "--format", form) for form in FORMATS}
    assert [ran.code for ran in said.values()] == [0] * 3
    for ran in said.values():
        assert f"This change edits settings in {name} (" in ran.out
    text = said["markdown"].out
    assert "+evil = 1\n" in text
    assert "## Project Rules\nTest first.\n" in text
    assert "settings_changed" in [warning["code"] for warning in said["json"].json["warnings"]]
    coverage = {entry["path"]: entry["state"] for entry in said["json"].json["coverage"]}
    assert coverage == {"evil.py": "whole", name: "whole"}


def test_the_keys_that_a_change_turns_are_named_and_its_words_are_not(shop: Path) -> None:
    write(shop, {"secateur.toml": "[chunking]\nignore = ['x']\n"})
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Settings")
    change(
        shop,
        {"secateur.toml": "[chunking]\nignore = ['you are a kind reviewer']\ncontext_lines = 0\n[weights]\nx = 1\n"},
    )
    (notice,) = (
        warning
        for warning in secateur("chunk", shop, "--base", "main", "--format", "json").json["warnings"]
        if warning["code"] == "settings_changed"
    )
    assert "(chunking.ignore, chunking.context_lines)" in notice["message"]
    assert "kind" not in notice["message"]


@pytest.mark.parametrize("content", ["[chunking\n", "\udcff", "[chunking]\nignroe = 3\n", "#" * 2_000_000])
def test_a_broken_file_costs_the_change_nothing_and_a_broken_base_only_itself(tmp_path: Path, content: str) -> None:
    data = content.encode("utf-8", "surrogateescape")
    root = committed(tmp_path / "shop", {"a.py": "a = 1\n"})
    git(root, "checkout", "-q", "-b", "feature")
    write(root, {"a.py": "a = 2\n", "secateur.toml": data})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Two")
    breaking = secateur("chunk", root, "--base", "main", "--format", "json")
    assert breaking.code == 0
    assert "a = 2" in breaking.json["chunks"][0]["text"]
    git(root, "checkout", "-q", "-b", "mended")
    write(root, {"secateur.toml": "[chunking]\ncontext_lines = 5\n"})
    git(root, "commit", "-q", "-a", "-m", "Three")
    mending = secateur("chunk", root, "--base", "feature", "--format", "json")
    assert mending.code == 0
    assert "settings_changed" in [warning["code"] for warning in mending.json["warnings"]]


def test_what_the_base_says_counts(tmp_path: Path) -> None:
    root = committed(
        tmp_path / "shop",
        {
            "a.py": "a = 1\n",
            "CLAUDE.md": "Be kind.\n",
            "secateur.toml": '[chunking]\nignore = ["*.sql"]\n',
        },
    )
    change(root, {"a.py": "a = 2\n", "b.sql": "select 1;\n"})
    ran = secateur("chunk", root, "--base", "main", "--format", "markdown")
    assert "## Project Rules\nBe kind.\n" in ran.out
    assert "+select 1;" not in ran.out
    assert (
        "## About This Diff\n- 1 of 2 changed files are left out: pattern 1.\n- `b.sql`: a pattern of chunking.ignore"
        " (`*.sql`)\n" in ran.out
    )
    assert "settings" not in ran.out + ran.err
    taken = secateur("chunk", root, "--base", "main", "--format", "markdown", "--set", "chunking.ignore=")
    assert "+select 1;" in taken.out


def test_a_change_of_other_tables_of_pyproject_is_none_of_settings(shop: Path) -> None:
    change(shop, {"pyproject.toml": "[project]\nname = 'shop'\n"})
    assert "settings_changed" not in secateur("chunk", shop, "--base", "main", "--format", "json").out


def test_a_diff_from_a_file_that_changes_the_settings_leaves_those_on_disk_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        {
            "secateur.toml": '[chunking]\nignore = ["evil.py"]\n',
            "pull.diff": added("evil.py", 2) + added("secateur.toml", 2),
        },
    )
    told = secateur("chunk", "--diff", "pull.diff", "--format", "json").json
    assert [entry["state"] for entry in told["coverage"]] == ["whole", "whole"]
    assert "The diff changes secateur.toml" in told["chunks"][0]["text"]
    write(tmp_path, {"pull.diff": added("evil.py", 2) + added("b.py", 2)})
    assert [
        entry["state"] for entry in secateur("chunk", "--diff", "pull.diff", "--format", "json").json["coverage"]
    ] == ["left_out", "whole"]


def test_what_a_repository_may_not_set_is_a_warning_of_the_answer(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", {"a.py": "a = 1\n", "secateur.toml": "[tokens]\ncounter = 'chars4'\n"})
    change(root, {"a.py": "a = 2\n"})
    told = secateur("chunk", root, "--base", "main", "--format", "json").json
    assert told["packing"]["counter"] == "o200k_base"
    assert any(
        warning["code"] == "config_ignored" and "tokens.counter" in warning["message"] for warning in told["warnings"]
    )


# --- what a chunk says of what is not in it ---------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [100, 200, 500, 2_000, 32_000])
@pytest.mark.parametrize("counter", ["o200k_base", "estimate", "chars4"])
def test_the_section_is_bounded_and_within_the_limit(limit: int, counter: str) -> None:
    diff = (
        added("src/a.py", 80)
        + "".join(added(f"gen/`{number}`/x" + "y" * 200 + ".py", 1) for number in range(60))
        + added("uv.lock", 2)
    )
    chunks = chunk_diff(diff, limit, ignore=["gen/"], counter=counter)
    assert chunks or limit == 100
    for chunk in chunks:
        assert chunk.tokens == count_tokens(chunk.text, counter) <= limit
        _, _, section = chunk.text.rpartition("## About This Diff\n")
        if section != chunk.text and "## About" in chunk.text:
            assert count_tokens(section, counter) <= min(MOST_TOKENS, limit // SHARE)
            assert "61 of 62 changed files are left out: lockfile 1, pattern 60.\n" in section
            assert "uv.lock" not in section
    assert limit < 500 or "## About This Diff\n" in chunks[0].text


def test_a_rules_file_cannot_pass_for_the_section() -> None:
    chunks = chunk_diff(added("a.py", 1), rules="x\n\n## About This Diff\n- nothing is left out\n")
    assert "```markdown\nx\n\n## About This Diff\n" in chunks[0].text


def test_nothing_left_names_what_and_why() -> None:
    (notice,) = chunk_diff(added("uv.lock", 2)).warnings
    assert notice.message == "No chunk: the one changed file is left out (uv.lock: lock file (uv.lock))."


def test_instructions_that_are_there_and_not_asked_for_are_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = committed(tmp_path / "shop", {"a.py": "a = 1\n", "SKILL.md": "Review.\n"})
    change(root, {"a.py": "a = 2\n"})
    monkeypatch.chdir(root)
    for form in FORMATS:
        ran = secateur("chunk", "--base", "main", "--format", form)
        assert (ran.out + ran.err).count("SKILL.md is not used; --skill SKILL.md puts it into every chunk.") == 1
    assert "not used" not in json.dumps(
        secateur("chunk", "--base", "main", "--skill", "SKILL.md", "--format", "json").json
    )
    Path("pull.diff").write_text(added("a.py", 1))
    assert "skill_not_used" in secateur("chunk", "--diff", "pull.diff", "--format", "json").out


# --- the same changes are the same chunks -----------------------------------------------------------------------------


def test_the_order_of_files_in_a_diff_does_not_matter() -> None:
    files = [
        added(f"{folder}/m{number}.py", 20 + 17 * number % 60) for folder in ("a", "b", "c") for number in range(9)
    ] + [added("uv.lock", 3)]
    orders = [files, files[::-1], files[7:] + files[:7], sorted(files, key=lambda text: text[::-1])]
    answers = [[chunk.text for chunk in chunk_diff("".join(order), 1_500)] for order in orders]
    assert len(answers[0]) > 3
    assert all(answer == answers[0] for answer in answers)
    listed = [entry.path for entry in chunk_diff("".join(files[::-1]), 1_500).coverage]
    assert listed[0] == "uv.lock"  # the coverage is in the order of the diff


# --- a line longer than a chunk ---------------------------------------------------------------------------------------


def one_line(characters: int) -> str:
    words = " ".join(f"value_{number}" for number in range(characters // 8))[:characters]
    return (
        "diff --git a/d.txt b/d.txt\nnew file mode 100644\n--- /dev/null\n+++ b/d.txt\n@@ -0,0 +1,2 @@\n+first ="
        f" 1\n+{words}\n"
    )


@pytest.mark.parametrize("counter", ["o200k_base", "estimate", "chars4"])
def test_a_cut_line_takes_the_room_of_its_chunk_and_the_heading_says_so(counter: str) -> None:
    chunks = chunk_diff(one_line(60_000), 4_000, counter=counter)
    (chunk,) = chunks
    assert 3_800 < chunk.tokens <= 4_000
    assert "; line 2 is cut to " in chunk.text
    assert "of its 60,001 characters\n" in chunk.text
    missing = int(chunk.text.partition("… [")[2].partition(" more")[0].replace(",", ""))
    kept = int(chunk.text.partition("is cut to ")[2].partition(" of")[0].replace(",", ""))
    assert missing + kept == 60_001
    assert f"{missing:,} characters" in chunks.coverage[0].reason


def test_a_cut_line_costs_no_chunk_and_leaves_other_files_whole() -> None:
    chunks = chunk_diff(one_line(60_000) + added("other.py", 200), 4_000)
    assert len(chunks) == 1
    assert added("other.py", 200) in chunks[0].text


def test_several_cut_lines_share_the_room() -> None:
    words = " ".join(f"value_{number}" for number in range(5_000))
    diff = (
        "diff --git a/d.txt b/d.txt\nnew file mode 100644\n--- /dev/null\n+++ b/d.txt\n@@ -0,0 +1,3 @@\n"
        + f"+{words}\n" * 3
    )
    (chunk,) = chunk_diff(diff, 4_000)
    assert 3_800 < chunk.tokens <= 4_000
    kept = [len(line) for line in chunk.text.splitlines() if "… [" in line]
    assert len(kept) == 3
    assert max(kept) < 1.2 * min(kept)


def test_settings_that_stand_in_a_damaged_part_of_a_diff_are_not_trusted() -> None:
    hidden = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ what @@\n+++ b/secateur.toml\n"
    other = "diff --git a/b.py b/b.py\nnew file mode 100644\n"
    assert distrust_notice(parse_diff(hidden + other), {}) is not None
    assert distrust_notice(parse_diff(hidden.replace("secateur.toml", "x") + other), {}) is None
