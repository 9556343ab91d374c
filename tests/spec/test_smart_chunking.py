"""The scenarios of the spec `smart-chunking`, each under its name, and the gold vectors of the packer."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from secateur import Settings, chunk_diff
from secateur.kinds.diff.arrangement import first_fit_decreasing
from secateur.settings import Chunking
from secateur.tokens import count_tokens
from support.diffs import added, of_tokens

SKILL = "Review every change. Name the line, say what is wrong and how to mend it.\n"
RULES = "# House rules\n\n- No number without a name.\n"

# --- acceptance criteria ----------------------------------------------------------------------------------------------


def test_ac_1_pruning() -> None:
    """`main.go` (10 lines) and `pnpm-lock.yaml` (5000 lines): only `main.go` leaves."""
    chunks = chunk_diff(added("main.go", 10, "var v{0} = {0}") + added("pnpm-lock.yaml", 5000, "  /left-pad/{0}.0.0:"))
    assert [[file.path for file in chunk.files] for chunk in chunks] == [["main.go"]]
    assert "pnpm-lock" not in chunks[0].text
    assert [(entry.path, entry.state, entry.chunks) for entry in chunks.coverage] == [
        ("main.go", "whole", (1,)),
        ("pnpm-lock.yaml", "left_out", ()),
    ]
    assert chunks.coverage[1].reason == "lock file (pnpm-lock.yaml)"


def test_ac_2_single_chunk() -> None:
    """A diff below the limit is one request: with nothing else in it up to the last token that the charges leave."""
    heads = chunk_diff(added("src/a.py", 1))[0].tokens - count_tokens(added("src/a.py", 1))
    for tokens in (200, 20_000, 32_000 - 2 * heads):
        diff = of_tokens("src/a.py", tokens // 2) + of_tokens("src/b.py", tokens // 2)
        (chunk,) = chunk_diff(diff)
        assert chunk.tokens == count_tokens(chunk.text) <= 32_000
        assert diff[:200] in chunk.text


def test_ac_3_multi_chunk() -> None:
    """50k tokens, limit 32k: two chunks, files whole in each, the instructions in both."""
    diffs = [of_tokens(f"pkg/m{number}.py", 5000) for number in range(10)]
    assert 49_000 < sum(map(count_tokens, diffs)) <= 50_000
    chunks = chunk_diff("".join(diffs), 32_000, skill=SKILL, rules=RULES)
    assert len(chunks) == 2
    for diff in diffs:
        assert sum(diff in chunk.text for chunk in chunks) == 1
    for number, chunk in enumerate(chunks, 1):
        assert SKILL.strip() in chunk.text
        assert RULES.strip() in chunk.text
        assert chunk.tokens == count_tokens(chunk.text) <= 32_000
        assert all(file.part is None for file in chunk.files)
        assert (chunk.index, chunk.of) == (number, 2)


def test_ac_4_reproducibility() -> None:
    """The same diff gives the same chunks, under any hash seed."""
    diff = "".join(
        of_tokens(f"{folder}/m{number}.py", 300 + 37 * number)
        for folder in ("api", "core/db", "web")
        for number in range(9)
    )
    program = (
        "import sys; from secateur import chunk_diff; print(chunk_diff(sys.stdin.read(), 2000,"
        " skill='Look.').output().to_dict())"
    )
    seen = set()
    for seed in ("0", "1", "4242"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        seen.add(
            subprocess.run(
                [sys.executable, "-c", program],
                input=diff,
                env=env,
                capture_output=True,
                text=True,
                check=True,
                timeout=120,
            ).stdout
        )
    assert len(seen) == 1
    assert seen == {f"{chunk_diff(diff, 2000, skill='Look.').output().to_dict()}\n"}


# --- the packer -------------------------------------------------------------------------------------------------------


def test_the_packer_alone_gold_vectors() -> None:
    assert first_fit_decreasing([20_000, 18_000, 14_000, 12_000], 32_000) == [[0, 3], [1, 2]]
    assert first_fit_decreasing([32_000], 32_000) == [[0]]
    assert first_fit_decreasing([], 32_000) == []


def test_the_packer_breaks_ties_by_path() -> None:
    assert first_fit_decreasing([5, 5, 5], 10, ["c", "a", "b"]) == [[1, 2], [0]]
    assert first_fit_decreasing([5, 5, 5], 10) == [[0, 1], [2]]


# --- 3.2 pruning ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("Cargo.lock", "deep/in/flake.lock", "go.sum", "svc/go.sum", "yarn.lock", "web/yarn.lock"),
        *(
            "vendor/x/y.go",
            "a/vendor/y.go",
            "node_modules/m/i.js",
            "web/dist/app.js",
            "build/out.txt",
            ".idea/workspace.xml",
            "a/.idea/x.xml",
        ),
        *("logo.png", "a/PHOTO.JPG", "setup.exe", "lib/libz.so", "bin/z.dll"),
    ],
)
def test_the_ignore_list_holds_at_any_depth(path: str) -> None:
    chunks = chunk_diff(added(path, 3) + added("src/kept.py", 3))
    assert [entry.state for entry in chunks.coverage] == ["left_out", "whole"]
    assert [file.path for chunk in chunks for file in chunk.files] == ["src/kept.py"]


@pytest.mark.parametrize(
    "path",
    [
        "package-lock.json",
        "uv.lock",
        "poetry.lock",
        "composer.lock",
        "Gemfile.lock",
        "bun.lock",
        "deno.lock",
        "Podfile.lock",
    ],
)
def test_so_do_todays_lock_files(path: str) -> None:
    (entry,) = chunk_diff(added(f"app/{path}", 3)).coverage
    assert (entry.state, entry.verdict and entry.verdict.rule.label) == ("left_out", "lockfile")


@pytest.mark.parametrize(
    "path", ["distribution/a.py", "rebuild/x.py", "vendors.py", "lock.py", "go.summary", "deadlock.md", "clock/a.go"]
)
def test_what_only_looks_like_it_stays(path: str) -> None:
    assert [entry.state for entry in chunk_diff(added(path, 3)).coverage] == ["whole"]


def test_files_of_one_megabyte_are_left_out() -> None:
    line = "x" * 127
    below, above = added("data/a.txt", 8191, line), added("data/b.txt", 8192, line)
    chunks = chunk_diff(below + above, 4_000_000)
    assert [(entry.path, entry.state) for entry in chunks.coverage] == [
        ("data/a.txt", "whole"),
        ("data/b.txt", "left_out"),
    ]
    assert "1,048,576" in chunks.coverage[1].reason


# --- 3.3 and 3.4 ------------------------------------------------------------------------------------------------------


def test_defaults_are_those_of_the_spec() -> None:
    assert (Chunking().max_chunk_tokens, Chunking().token_ratio) == (32_000, 4.0)
    ratio = Settings(chunking=Chunking(token_ratio=2.0))
    (four,), (two,) = (
        chunk_diff(added("a.py", 9), counter="chars4", settings=settings) for settings in (Settings(), ratio)
    )
    assert four.text == two.text
    assert (four.tokens, two.tokens) == (-(-len(four.text) // 4), -(-len(two.text) // 2))


def test_injection_format() -> None:
    one, two = added("a.py", 1), added("b.py", 1)
    (chunk,) = chunk_diff(one + two, rules=RULES, skill=SKILL)
    assert (
        chunk.text
        == f"# Context Chunk 1/1\n\n## Project Rules\n{RULES.strip()}\n\n## Instructions\n{SKILL.strip()}\n\n"
        f"## Code Changes\n```diff\n{one}```\n\n```diff\n{two}```\n\n"
    )


def test_what_there_is_not_has_no_heading() -> None:
    (chunk,) = chunk_diff(added("a.py", 1))
    assert chunk.text.startswith("# Context Chunk 1/1\n\n## Code Changes\n```diff\n")


def test_a_huge_file_is_split_by_functions() -> None:
    """Above the limit: parts that start where functions start, each with a head that says which part it is."""
    functions = "".join(
        f"def f{n}(a):\n" + "".join(f"    a = step_{line}(a, {n})\n" for line in range(40)) + "    return a\n\n\n"
        for n in range(12)
    )
    lines = functions.rstrip("\n").split("\n")
    diff = (
        f"diff --git a/big.py b/big.py\nnew file mode 100644\n--- /dev/null\n+++ b/big.py\n@@ -0,0 +1,{len(lines)} @@\n"
        + "".join(f"+{line}\n" for line in lines)
    )
    chunks = chunk_diff(diff, 2000, skill=SKILL)
    assert len(chunks) > 2
    assert [entry.state for entry in chunks.coverage] == ["split"]
    parts = sorted((file.part.number, file.part.of, chunk.text) for chunk in chunks for file in chunk.files)
    assert [number for number, _, _ in parts] == list(range(1, parts[0][1] + 1))
    for number, of, text in parts:
        head, _, patch = text.partition("## Code Changes\n")[2].partition("```diff\n")
        assert head.startswith(f"Part {number}/{of} of `big.py`: lines ")
        first = next(line for line in patch.split("\n") if line.startswith("+") and not line.startswith("+++"))
        assert first.startswith("+def f")
        assert count_tokens(text) <= 2000
