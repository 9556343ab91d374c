"""Every command and snippet of the README and the docs is run, in a repository that has what they name; what a page
says they print is compared.

Of a page's fenced blocks: in `console` blocks each `$ command` is run and must print what follows it, where a line
`...` stands for any lines; in blocks without a language each line is run and must end with exit code 0; `python` blocks
are executed one after another. A block behind a comment `<!-- not run: REASON -->` is left out; one behind `<!-- needs:
OWNER/NAME COMMIT -->` is run where BENCH_MIRROR names a folder of bare copies of public repositories, `owner+name/...`:
not in the default run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.cli import secateur
from support.repos import SHOP, write

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = r"(?:<!-- (?P<mark>not run|needs): (?P<said>[^>]+) -->\n)?"
BLOCK = re.compile(MARK + r"^```(?P<language>[a-z]*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
CLONE = "git clone https://github.com/"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str  # its path
    line: int
    number: int  # among the blocks of its page, from 1
    language: str
    text: str
    reason: str  # why it is not run, if it is not
    needs: str  # the public repository it is about, and its commit

    def __str__(self) -> str:
        return f"{self.page.removeprefix('docs/')}-{self.number}"


def blocks() -> list[Block]:
    """The fenced blocks of all pages."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        name = page.relative_to(ROOT).as_posix()
        for number, match in enumerate(BLOCK.finditer(text), start=1):
            line = text.count("\n", 0, match.start()) + 1
            said = {match["mark"]: match["said"]}
            notes = (said.get("not run", ""), said.get("needs", ""))
            found.append(Block(name, line, number, match["language"], match["text"], *notes))
    return found


def calls(block: Block) -> list[tuple[str, list[str]]]:
    """(command line, the lines it prints according to the page) of a block."""
    if block.language == "console":
        parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        return [(lines[0], lines[1:]) for lines in (part.splitlines() for part in parts if part)]
    return [(line, []) for line in block.text.replace("\\\n", " ").splitlines()] if block.language == "" else []


BLOCKS = blocks()
RUN = [block for block in BLOCKS if not block.reason and calls(block)]
SNIPPETS = {
    name: [block for block in BLOCKS if block.page == name and block.language == "python"]
    for name in (page.relative_to(ROOT).as_posix() for page in PAGES)
}


@pytest.fixture(scope="module")
def playground(orders: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample repository `orders` with what pages name: branches, a tag, edited and staged files, transcripts, a
    diff, instructions."""
    folder = tmp_path_factory.mktemp("playground") / "orders"
    shutil.copytree(orders, folder)
    _git(folder, "checkout", "-q", "-b", "refunds")
    for branch, place in (("main", "HEAD~4"), ("release", "HEAD~2")):
        _git(folder, "branch", "-f", branch, place)
    _git(folder, "tag", "-f", "v1.2", "HEAD~9")
    shutil.copytree(folder / "orders", folder / "src")
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    shutil.copy(ROOT / "docs" / "examples" / "session.jsonl", folder / "session.jsonl")
    (folder / "issue.txt").write_text(
        "A refund of a voucher order is rounded twice\n\n`refund_total` rounds each line.\n"
    )
    (folder / "talk.json").write_text(
        json.dumps({"messages": [{"role": "user", "content": "How is a refund rounded?"}]})
    )
    (folder / "SKILL.md").write_text("Name every change of behaviour.\n")
    (folder / "ruff.json").write_text("[]")
    write(folder / "path" / "to" / "repository", SHOP)
    (folder / "pull.diff").write_bytes(_git(folder, "diff", "main", "refunds"))
    with (folder / "orders" / "cli.py").open("a") as file:
        file.write("\n\ndef staged() -> None:\n    print('staged')\n")
    _git(folder, "add", "orders/cli.py")
    yield folder


@pytest.mark.parametrize("block", RUN, ids=str)
def test_commands_print_what_the_page_says(block: Block, playground: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(playground)
    if block.needs and "BENCH_MIRROR" not in os.environ:
        pytest.skip(f"needs {block.needs}: run it with BENCH_MIRROR")
    assert_prints(block)


def assert_prints(block: Block) -> None:
    """Runs the command lines of a block, and compares what they print with what the page says."""
    for line, printed in calls(block):
        code, output = _run(line.partition("  #")[0].strip(), block.needs)
        assert code == 0, f"{line}\n{output}"
        if printed:
            wanted = "[\\s\\S]*".join(
                re.escape(part) for part in re.split(r"(?:^|\n)\.\.\.(?:\n|$)", "\n".join(printed))
            )
            assert re.fullmatch(wanted, output.rstrip("\n")), f"{block}: {line}\n{output}"


@pytest.mark.parametrize("page", [name for name, snippets in SNIPPETS.items() if snippets])
def test_snippets_run(
    page: str, playground: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(playground)
    names = _names(playground)
    for block in SNIPPETS[page]:
        if not block.reason:
            exec(compile("\n" * block.line + block.text, str(ROOT / page), "exec"), names)
    assert "Traceback" not in capsys.readouterr().out


def test_what_is_not_run_says_why() -> None:
    assert all(len(block.reason.split()) > 2 for block in BLOCKS if block.reason)


def _run(line: str, needs: str) -> tuple[int, str]:
    """Exit code and standard output (both streams where it failed) of a command line of a page, which may read a file
    or the end of a pipe."""
    if line.startswith(CLONE):
        return _cloned(line.removeprefix(CLONE), needs.split()[1])
    if line.removeprefix("PYTHONPATH=tests ").startswith("python tests/"):
        words = shlex.split(line.partition("python ")[2])
        environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
        done = subprocess.run(
            [sys.executable, ROOT / words[0], *words[1:]], capture_output=True, text=True, env=environment, check=False
        )
        return done.returncode, done.stdout + done.stderr
    before, _, call = line.rpartition(" | ")
    stdin = subprocess.run(shlex.split(before), check=True, capture_output=True).stdout if before else b""
    words = shlex.split(call)
    if "<" in words:
        place = words.index("<")
        stdin = Path(words[place + 1]).read_bytes()
        words = words[:place]
    assert words[0] == "secateur", f"{line}: say `<!-- not run: REASON -->` above a block of other commands"
    given = [name for word in words[1:] for name in _opened(word, quoted=f"'{word}'" in call)]
    ran = secateur(*given, stdin=stdin)
    return ran.code, ran.out if ran.code == 0 else ran.out + ran.err


def _opened(word: str, *, quoted: bool) -> list[str]:
    """What a shell makes of a word with a pattern."""
    return [word] if quoted or "*" not in word else sorted(path.as_posix() for path in Path().glob(word))


def _cloned(name: str, commit: str) -> tuple[int, str]:
    """What `git clone` of a public repository does, from the folder of copies."""
    folder = Path(name).name
    if not Path(folder).exists():
        (bare,) = (
            path for path in (Path(os.environ["BENCH_MIRROR"]) / name.replace("/", "+")).iterdir() if path.is_dir()
        )
        _git(Path(), "clone", "-q", str(bare), folder)
        _git(Path(folder), "checkout", "-q", commit)
    return 0, ""


def _names(playground: Path) -> dict[str, Any]:
    """What the pages' snippets take as given."""
    from secateur import Settings

    text = (playground / "orders" / "services" / "refunds.py").read_text("utf-8")
    return {
        "settings": Settings(),
        "messages": json.loads((playground / "talk.json").read_text())["messages"],
        "conversations": json.loads((playground / "talk.json").read_text())["messages"],
        "envelope": json.loads((playground / "docs" / "examples" / "envelope.json").read_text("utf-8")),
        "text": text,
        "diff_text": (playground / "pull.diff").read_text("utf-8"),
        "instructions": "",
        "rules": "",
        "findings": "",
        "send": len,
    }


def _git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True).stdout
