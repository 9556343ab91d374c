"""The GitHub action: its steps are run as a runner runs them, in a repository that attacks them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from support.cli import secateur

ROOT = Path(__file__).parents[1]
ACTION = YAML(typ="safe").load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
MONEY = "def refund_total(lines):\n    return round(sum(lines), 2)\n"
HOSTILE = ("$(touch pwned).py", "a|b](http:__evil.example)<img>`.py", "@everyone.py", "--help.py", "::error::x.py")


@dataclass
class Ran:
    """What the steps left behind."""

    codes: list[int]
    out: str
    summary: str


class Runner:
    """Runs the steps as GitHub does, without the install: an environment that has secateur is there already."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.workspace, self._temp = workspace, folder
        environment = folder / "secateur-environment"
        venv.create(environment, symlinks=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        paths = [ROOT / "core", ROOT / "tui", sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        pth = environment / "lib" / version / "site-packages" / "here.pth"
        pth.write_text("".join(f"{path}\n" for path in paths))

    def run(self, *, last_alone: bool = False, **inputs: str) -> Ran:
        """Runs all steps, or the last alone, with inputs of the action."""
        values = {name.replace("-", "_"): str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        summary = self._temp / "summary.md"
        summary.write_text("")
        given = values | {"base": "", "python": sys.executable} | inputs
        codes, out = [], ""
        for step in STEPS[-1:] if last_alone else STEPS:
            if "if" in step and not (given["coverage"] == "true" and given["base"]):
                continue
            environ = {name: _filled(text, given) for name, text in step["env"].items()}
            environ |= {"RUNNER_TEMP": str(self._temp), "GITHUB_STEP_SUMMARY": str(summary)}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.workspace,
                env=os.environ | environ,
                capture_output=True,
                text=True,
                check=False,
            )
            codes.append(done.returncode)
            out += done.stdout + done.stderr
        return Ran(codes, out, summary.read_text("utf-8"))


def _filled(text: str, given: dict[str, str]) -> str:
    text = text.replace("${{ github.action_path }}", str(ROOT))
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1].replace("-", "_")], text)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A repository with a scenario that passes, and modules that would be imported from its folder."""
    workspace = tmp_path_factory.mktemp("workspace")
    _git(workspace, "init", "-q", "-b", "main")
    (workspace / "shop").mkdir()
    (workspace / "shop" / "money.py").write_text(MONEY)
    for name in ("json", "subprocess", "secateur", "venv", "pip"):
        (workspace / f"{name}.py").write_text("open('pwned', 'w')\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(workspace)
        saved = secateur("search", "refund total", "shop", "--save", "refunds.scenario.toml", "--exact")
    assert saved.code == 0, saved.err
    _git(workspace, "add", ".")
    _git(workspace, "commit", "-qm", "base")
    for name in HOSTILE:
        (workspace / name).write_text("changed = True\n")
    (workspace / "uv.lock").write_text("version = 1\n")
    (workspace / "large.py").write_text("".join(f"number_{number} = {number}\n" for number in range(400)))
    _git(workspace, "add", ".")
    _git(workspace, "commit", "-qm", "change")
    return Runner(tmp_path_factory.mktemp("runner"), workspace)


def _git(folder: Path, *words: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def test_no_expression_is_a_part_of_a_script() -> None:
    assert len(STEPS) == 3
    for step in STEPS:
        assert "${{" not in step["run"], step["name"]
        assert "uses" not in step
        assert step["shell"] == "bash"
    text = (ROOT / "action.yml").read_text("utf-8")
    assert not re.search(r"\$\{\{[^}]*(head_ref|title|body|head\.ref|label)", text)
    for line in re.findall(r'^.*python"? .*$', "\n".join(step["run"] for step in STEPS), re.MULTILINE):
        assert " -I " in line, "Python would import from the folder that was checked out"


def test_scenarios_pass_and_the_summary_accounts_for_every_file(runner: Runner) -> None:
    ran = runner.run(base="main~1", max_tokens="1500", paths="refunds.scenario.toml\n\nshop\n")
    assert ran.codes == [0, 0, 0], ran.out
    assert "1 scenario: 1 passed" in ran.out
    assert "### ✓ secateur check" in ran.summary
    assert "7 changed files: 5 whole, 1 in parts, 1 left out." in ran.summary
    rows = [line for line in ran.summary.splitlines() if line.startswith("| ")]
    assert len([row for row in rows if "| whole |" in row]) == 5
    (parts,) = [row for row in rows if "| in parts |" in row]
    assert re.match(r"\| large&#46;py \| in parts \| 1, 2", parts)
    (left,) = [row for row in rows if "| left out |" in row]
    assert left == "| uv&#46;lock | left out |  | lockfile |"
    assert all(row.count("|") == 5 for row in rows)
    for markup in ("](", "<img>", "@everyone", "http:"):
        assert markup not in ran.summary
    assert not (runner.workspace / "pwned").exists()


def test_what_changed_is_annotated_and_fails_the_step_alone(runner: Runner) -> None:
    money = runner.workspace / "shop" / "money.py"
    money.write_text(MONEY.replace("refund_total", "total_of_refund"))
    try:
        ran = runner.run(base="main~1")
    finally:
        money.write_text(MONEY)
    assert ran.codes == [0, 4, 0]
    assert "::error file=refunds.scenario.toml,line=" in ran.out
    assert "### ✗ secateur check" in ran.summary
    assert "total_of_refund" in ran.summary
    assert "### Chunks of this pull request" in ran.summary


@pytest.mark.parametrize(
    ("fails", "allows", "code"),
    [("true", "", 4), ("true", "lockfile", 0)],
)
def test_a_file_in_no_chunk_fails_where_that_is_asked_for(runner: Runner, fails: str, allows: str, code: int) -> None:
    ran = runner.run(last_alone=True, base="main~1", fail_on_skip=fails, allow_skip=allows)
    assert ran.codes == [code]
    assert ("::error title=secateur chunk::" in ran.out) == (code == 4)


@pytest.mark.parametrize("base", ["0" * 40, "--help", "$(touch pwned)", "; touch pwned", "a b\n::error::x"])
def test_a_base_that_is_not_there_is_a_warning_that_says_what_to_do(runner: Runner, base: str) -> None:
    ran = runner.run(last_alone=True, base=base)
    assert ran.codes == [0]
    (line,) = [line for line in ran.out.splitlines() if line.startswith("::")]
    assert line.startswith("::warning title=secateur chunk::")
    assert "fetch-depth: 0" in line
    assert "fetch-depth: 0" in ran.summary
    assert not (runner.workspace / "pwned").exists()


def test_without_a_pull_request_scenarios_alone_are_run(runner: Runner) -> None:
    ran = runner.run()
    assert ran.codes == [0, 0]
    assert "Chunks" not in ran.summary


def test_paths_that_are_flags_or_missing_are_errors(runner: Runner) -> None:
    ran = runner.run(paths="--update")
    assert ran.codes[1] == 2
    assert "--update" in ran.out
    assert not (runner.workspace / "pwned").exists()


def test_hooks_run_commands_that_there_are() -> None:
    hooks = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    for hook in hooks:
        program, command, *flags = hook["entry"].split()
        assert (program, hook["language"]) == ("secateur", "python")
        usage = secateur(command, "--help").out
        assert all(f"{flag} " in usage for flag in flags)
