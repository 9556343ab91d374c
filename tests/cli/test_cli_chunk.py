"""`secateur chunk` as a shell sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from secateur.kinds.diff.temporary_objects import LARGEST_FILE
from secateur.tokens import count_tokens
from support.cli import secateur
from support.diffs import added
from support.repos import committed, git, write

DIFF = added("src/a.py", 60) + added("src/b.py", 60) + added("uv.lock", 9)


@pytest.fixture
def diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("pull.diff").write_text(DIFF)
    Path("SKILL.md").write_text("Review it.\n")
    Path("RULES.md").write_text("No tabs.\n")
    return "pull.diff"


def test_json_is_that_of_the_contract(diff: str) -> None:
    told = secateur(
        "chunk", "--diff", diff, "--max-tokens", 900, "--skill", "SKILL.md", "--rules", "RULES.md", "--format", "json"
    ).json
    assert set(told) >= {"chunks", "coverage", "report", "warnings"}
    assert [set(chunk) >= {"index", "of", "token_count", "files", "text"} for chunk in told["chunks"]] == [True] * 2
    for chunk in told["chunks"]:
        assert chunk["token_count"] == count_tokens(chunk["text"]) <= 900
        assert chunk["files"][0]["part"] is None
        assert "## Project Rules\nNo tabs.\n\n## Instructions\nReview it.\n\n## Code Changes\n" in chunk["text"]
    assert [(entry["path"], entry["state"], entry["chunks"]) for entry in told["coverage"]] == [
        ("src/a.py", "whole", [1]),
        ("src/b.py", "whole", [2]),
        ("uv.lock", "left_out", []),
    ]
    assert told["coverage"][2]["reason"] == "lock file (uv.lock)"
    report = told["report"]
    assert (
        sum(action["afterTokens"] for action in report["actions"])
        == report["estimateAfter"]
        == sum(chunk["token_count"] for chunk in told["chunks"])
    )
    assert told["packing"]["lower_bound"] == 2


def test_text_names_every_chunk_and_what_is_not_seen(diff: str) -> None:
    out = secateur("chunk", "--diff", diff).out
    assert "chunks    1 of at most 32,000 tokens (o200k_base); not possible in fewer than 1\n" in out
    assert "chunk 1/1" in out
    assert "not seen, or not whole: 1" in out
    assert "uv.lock  lock file (uv.lock)" in out


def test_markdown_is_the_chunks_as_they_are(diff: str) -> None:
    both = secateur("chunk", "--diff", diff, "--max-tokens", 900, "--format", "markdown").out
    one, two = (
        secateur("chunk", "--diff", diff, "--max-tokens", 900, "--format", "markdown", "--only", number).out
        for number in (1, 2)
    )
    assert both == one + two
    assert one.startswith("# Context Chunk 1/2\n")
    assert added("src/b.py", 60) in two


def test_a_file_per_chunk(diff: str, tmp_path: Path) -> None:
    ran = secateur("chunk", "--diff", diff, "--max-tokens", 900, "--out", "out")
    assert ran.err == "written: 2 chunks and coverage.json to out\n"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "chunk-001.md",
        "chunk-002.md",
        "coverage.json",
    ]
    manifest = json.loads((tmp_path / "out" / "coverage.json").read_text())
    assert len(manifest["coverage"]) == 3
    assert [chunk["token_count"] for chunk in manifest["chunks"]] == [
        count_tokens((tmp_path / "out" / f"chunk-00{number}.md").read_text()) for number in (1, 2)
    ]
    (tmp_path / "out" / "chunk-009.md").write_text("mine\n")
    secateur("chunk", "--diff", diff, "--out", "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "chunk-001.md",
        "chunk-009.md",
        "coverage.json",
    ]


def test_stdin_is_a_dash(diff: str) -> None:
    assert (
        secateur("chunk", "--diff", "-", stdin=Path(diff).read_bytes()).out.split("\n", 1)[1]
        == secateur("chunk", "--diff", diff).out.split("\n", 1)[1]
    )


def test_a_check_fails_on_what_is_not_seen(diff: str) -> None:
    ran = secateur("chunk", "--diff", diff, "--fail-on-skip")
    assert (ran.code, ran.err) == (4, "not seen: 1 changed file: uv.lock\n")
    assert secateur("chunk", "--diff", diff, "--fail-on-skip", "--allow-skip", "lockfile,binary").code == 0
    assert secateur("chunk", "--diff", diff, "--fail-on-skip", "--ignore", "!uv.lock").code == 0
    assert secateur("chunk", "--diff", diff, "--fail-on-skip", "--allow-skip", "binary").code == 4
    wrong = secateur("chunk", "--diff", diff, "--allow-skip", "lockfiles")
    assert (wrong.code, "did you mean lockfile?" in wrong.err) == (2, True)


def test_a_check_fails_on_what_was_not_looked_at(tmp_path: Path) -> None:
    root = committed(tmp_path, {"a.py": "a = 1\n"})
    with (root / "huge.bin").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    ran = secateur("chunk", root, "--untracked", "--fail-on-skip", "--allow-skip", "binary,too_large")
    assert (ran.code, "could not be read and counts as unchanged (the first is huge.bin)" in ran.out) == (4, True)
    assert secateur("chunk", root, "--untracked").code == 0


def test_patterns_of_the_user_decide(diff: str) -> None:
    coverage = secateur("chunk", "--diff", diff, "--ignore", "*.py", "--ignore", "!b.py", "--format", "json").json[
        "coverage"
    ]
    assert [(entry["path"], entry["state"], entry["rule"]) for entry in coverage] == [
        ("src/a.py", "left_out", "pattern"),
        ("src/b.py", "whole", None),
        ("uv.lock", "left_out", "lockfile"),
    ]
    assert coverage[0]["reason"] == "a pattern of chunking.ignore (*.py)"


def test_patterns_of_the_call_add_to_the_configured_ones(diff: str) -> None:
    Path("secateur.toml").write_text('[chunking]\nignore = ["a.py", "*.lock"]\n')
    coverage = secateur("chunk", "--diff", diff, "--ignore", "b.py", "--ignore", "!*.lock", "--format", "json").json[
        "coverage"
    ]
    assert [(entry["path"], entry["state"]) for entry in coverage] == [
        ("src/a.py", "left_out"),
        ("src/b.py", "left_out"),
        ("uv.lock", "whole"),
    ]


def test_a_folder_that_cannot_be_written_stays_as_it_was(diff: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "chunk-002.md").mkdir(parents=True)
    (out / "chunk-001.md").write_text("# Context Chunk 1/1\n")
    ran = secateur("chunk", "--diff", diff, "--max-tokens", 900, "--out", "out")
    hint = "hint: check the path, and whether its folder can be written\n"
    assert (ran.code, ran.err) == (1, f"error: cannot write out: chunk-002.md is a folder\n{hint}")
    assert sorted(path.name for path in out.iterdir()) == ["chunk-001.md", "chunk-002.md"]
    assert (out / "chunk-001.md").read_text() == "# Context Chunk 1/1\n"


def test_nothing_changed_is_done(tmp_path: Path) -> None:
    root = committed(tmp_path, {"a.py": "a = 1\n"})
    ran = secateur("chunk", root, "--format", "json")
    assert (ran.code, ran.json["chunks"]) == (0, [])
    assert [warning["code"] for warning in ran.json["warnings"]] == ["nothing_changed"]
    assert "--base REV" in ran.json["warnings"][0]["message"]
    nothing = secateur("chunk", "--diff", "-")
    assert (nothing.code, nothing.out.endswith("! nothing changed: Nothing changed: standard input.\n")) == (0, True)


def test_a_repository_brings_its_rules_unless_told_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = committed(tmp_path / "r", {"a.py": "a = 1\n", "AGENTS.md": "Test first.\n"})
    write(root, {"a.py": "a = 2\n"})
    git(root, "commit", "-q", "-a", "-m", "Two")
    monkeypatch.chdir(root)
    text = secateur("chunk", "--base", "HEAD~1", "--format", "markdown").out
    assert "## Project Rules\nTest first.\n" in text
    assert "## Project Rules" not in secateur("chunk", "--base", "HEAD~1", "--no-rules", "--format", "markdown").out
    said = secateur("chunk", "--base", "HEAD~1").out
    assert "compared  HEAD~1...HEAD (from " in said
    assert "headings, rules" in said


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--diff", "nowhere"], 1, "--diff: cannot read nowhere: No such file"),
        (["--diff", "pull.diff", "--base", "main"], 2, "--base does not go with --diff"),
        (["--diff", "pull.diff", "--skill", "nowhere"], 1, "--skill: cannot read nowhere"),
        (["--diff", "pull.diff", "--max-tokens", "99"], 2, "--max-tokens 99 is not allowed"),
        (["--diff", "pull.diff", "--max-tokens", "many"], 2, "--max-tokens many is not allowed"),
        (["--diff", "pull.diff", "--only", "1"], 2, "it goes with --format markdown"),
        (["--diff", "pull.diff", "--only", "2", "--format", "markdown"], 2, "there is no chunk 2: the last is 1"),
        (["--diff", "pull.diff", "--rules", "RULES.md", "--no-rules"], 2, "contradict"),
        (["nowhere"], 1, "no such folder: nowhere"),
        (["."], 1, "not in a git repository"),
    ],
)
@pytest.mark.usefixtures("diff")
def test_wrong_calls(words: list[str], code: int, message: str) -> None:
    ran = secateur("chunk", *words)
    assert (ran.code, message in ran.err) == (code, True), ran.err
    assert ran.err.startswith("error: ")
    assert "hint: " in ran.err


def test_instructions_above_the_limit_exit_3(diff: str) -> None:
    Path("SKILL.md").write_text("Read it all again. " * 300)
    ran = secateur("chunk", "--diff", diff, "--max-tokens", 500, "--skill", "SKILL.md", "--format", "json")
    assert (ran.code, ran.json["error"]["code"]) == (3, "CHUNK_INSTRUCTIONS_TOO_LARGE")
