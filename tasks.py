#!/usr/bin/env python3
"""Everything a developer or a newcomer runs, with nothing but Python and git on the machine.

    python3 tasks.py all        everything below that a change has to pass: check and wheel, then test and cluster
    python3 tasks.py try        make an environment, install, open the inspector on a sample repository
    python3 tasks.py test       make an environment, install what tests need, run the tests, the same run every time
    python3 tasks.py explore    the tests in tests/slow.txt, then the properties with new random examples, for --minutes
                                (60); prints its seeds; before a release, and by CI once a day. With --patterns
                                [MODULES]: the regular expressions whose time grows too fast
    python3 tasks.py coverage   the tests and the lines they never reach; fails below a floor
    python3 tasks.py cluster    tests with a scheduler and workers of Dask that are killed; POSIX
    python3 tasks.py browser    opens exported pages in a headless Chromium, which has to be installed
    python3 tasks.py compare REV    what hundreds of command lines print, at a commit and now, byte for byte
    python3 tasks.py mutate     how many small changes of the engine's code the tests notice
    python3 tasks.py check      format, lint, types, import contracts, workflows, the action
    python3 tasks.py fix        format and mend what the linter can mend
    python3 tasks.py wheel      build the wheel, install it in a clean environment outside the checkout, use it there
    python3 tasks.py lock       write constraints.txt, the versions all of these install; --upgrade takes the newest

Further words go to the command behind: `python3 tasks.py test -k greedy`, `python3 tasks.py try --query "..."`.
Tests run on every core; `-n 0` runs them in one process, for a debugger.
SECATEUR_UNLOCKED=1 installs without constraints.txt.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = Path(os.environ.get("SECATEUR_VENV", ROOT / ".venv"))
BIN = ENVIRONMENT / "bin"
CONSTRAINTS = ROOT / "constraints.txt"
WORKFLOWS = ROOT / ".github" / "workflows"
STAMP = "pyproject.stamp"
THEMES = (
    "from secateur import directories; from secateur_tui.host import load_themes;themes, notices ="
    " load_themes((directories.data_dir('themes'),)); print('themes:', *sorted(themes)); assert len(themes) > 1 and not"
    " notices"
)
"""Run by the wheel's own Python: the themes came with it."""


# With a budget, because the sample fits the default one: nothing would be pruned.
FIRST_LOOK = ["sample:orders", "--query", "where is the refund total rounded?", "--budget", "1000"]


def main(words: list[str]) -> int:
    """Run one task; its exit code is the answer."""
    tasks = {
        "all": everything,
        "try": try_it,
        "test": test,
        "explore": explore,
        "coverage": coverage,
        "cluster": cluster,
        "browser": browser,
        "compare": compare,
        "mutate": mutate,
        "check": check,
        "fix": fix,
        "wheel": wheel,
        "lock": lock,
    }
    if not words or words[0] not in tasks:
        print(__doc__)
        return 0 if words in ([], ["--help"], ["-h"]) else 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is run by whatever Python is there
        print(f"error: Python 3.11 or newer is needed, this is {sys.version.split()[0]}", file=sys.stderr)
        return 2
    return tasks[words[0]](words[1:])


def everything(words: list[str]) -> int:
    """What a change has to pass, with no core idle: the wheel is built and used while the static checks run, and the
    tests of clusters are among the others. The tests come last: their summary closes the output."""
    install("dev")
    return run_at_once((sys.executable, __file__, "wheel"), *checks()) or test(["tests", "tests/cluster", *words])


def try_it(words: list[str]) -> int:
    """Install and open the inspector; without a terminal the headless report is printed."""
    install("")
    return run(BIN / "secateur", "inspect", *(words or FIRST_LOOK))


def test(words: list[str]) -> int:
    """Install and run the tests, but for those of `explore`. Later words win: `-n 0`, or `-m slow` for those."""
    install("dev")
    cores = ["-n", str(os.cpu_count() or 1), "--dist", "worksteal"]
    return run(BIN / "python", "-m", "pytest", *cores, "-m", "not slow", *words)


def explore(words: list[str]) -> int:
    """Run what `test` leaves out, and try new random examples of every property; `--patterns`: time every regular
    expression."""
    install("dev")
    if words[:1] == ["--patterns"]:
        return run(BIN / "python", "tests/benchmarks/patterns.py", *words[1:])
    return run(BIN / "python", "tools/explore.py", *words)


def coverage(words: list[str]) -> int:
    """Run the tests and hold what they reach against the floor."""
    return test(["--cov", "--cov-report=term", *words])


def cluster(words: list[str]) -> int:
    """Start clusters on this machine and kill workers of them: once per change, not on every Python and system."""
    install("dev")
    return run(BIN / "python", "-m", "pytest", "tests/cluster", "-n", "2", *words)


def browser(words: list[str]) -> int:
    """Open the pages that `--report` writes in the Chromium of this machine, without a network."""
    install("browser")
    return run(BIN / "python", "-m", "pytest", "tests/browser", *words)


def compare(words: list[str]) -> int:
    """Run the recorded command lines with the product of a commit and with that of the files as they are."""
    install("dev")
    return run(BIN / "python", "tests/recorded/corpus.py", "compare", *words)


def mutate(words: list[str]) -> int:
    """Score the tests with small changes of the code."""
    install("mutate")
    return run(BIN / "python", "tools/mutate.py", *words)


def lock(words: list[str]) -> int:
    """Resolve every dependency once for all systems and Pythons, from the public index, and write the versions down."""
    install("lock")
    groups = ["--all-extras", *(part for name in ("browser", "dev", "lock", "mutate") for part in ("--group", name))]
    every = ["--universal", "--python-version", "3.11"]
    public = ["--no-config", "--no-emit-index-url"]  # uv's own index, whatever this machine is set up with
    plain = ["--quiet", "--no-header", "--no-annotate", "--output-file", CONSTRAINTS.name]
    return run(BIN / "uv", "pip", "compile", "pyproject.toml", *groups, *every, *public, *plain, *words)


def check(words: list[str]) -> int:
    """All static checks, on every core; every one is run, the first failure's code is returned."""
    install("dev")
    return run_at_once(*checks(*words))


def checks(*words: str) -> list[Sequence[str | Path]]:
    """The commands of the static checks, the longest first. `words`: for mypy."""
    schema = ["--quiet", "--builtin-schema"]
    # A cache for each system: mypy throws away what it remembers of another.
    types = [
        (BIN / "mypy", "--platform", system, "--cache-dir", f".mypy_cache/{system}", *words)
        for system in ("linux", "darwin")
    ]
    return [
        *types,
        # All tests are imported, which compiles them once; each worker of pytest-xdist would compile all by itself.
        (BIN / "python", "-m", "pytest", "-n", "0", "-k", "test_public_names"),
        (BIN / "ruff", "format", "--check", "."),
        (BIN / "ruff", "check", "."),
        (BIN / "lint-imports", "--no-cache"),
        (BIN / "check-jsonschema", *schema, "vendor.github-workflows", *sorted(WORKFLOWS.glob("*.yml"))),
        (BIN / "check-jsonschema", *schema, "vendor.github-actions", ROOT / "action.yml"),
    ]


def fix(words: list[str]) -> int:
    """Format and mend."""
    install("dev")
    return run(BIN / "ruff", "format", ".", *words) or run(BIN / "ruff", "check", "--fix", ".")


def wheel(words: list[str]) -> int:
    """Build, install away from here, and run the main job with it."""
    parser = argparse.ArgumentParser(prog="tasks.py wheel")
    parser.add_argument("--out", type=Path, help="also build the source distribution, and keep both in this folder")
    parser.add_argument("--tag", help="fail unless this is v and the version")
    options = parser.parse_args(words)
    source = (ROOT / "core" / "secateur" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    version = found[1] if found else "unknown"
    if options.tag and options.tag != f"v{version}":
        print(
            f"error: the tag is {options.tag}, the version {version}\nhint: set __version__, then tag", file=sys.stderr
        )
        return 1
    install("dev")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out.resolve() if options.out else Path(temporary)
        code = run(BIN / "python", "-m", "build", *(() if options.out else ("--wheel",)), "--outdir", folder, ROOT)
        if code:
            return code
        away = Path(temporary) / "environment"
        venv.create(away, with_pip=True)
        python = away / BIN.name / "python"
        built = next(folder.glob("*.whl"))
        return (
            run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", built, cwd=Path(temporary))
            or run(
                away / BIN.name / "secateur",
                "search",
                "where is the refund total rounded?",
                "sample:orders",
                "--save",
                "refunds.scenario.toml",
                cwd=Path(temporary),
            )
            or run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pytest>=9", cwd=away)
            or run(python, "-m", "pytest", "--quiet", "refunds.scenario.toml", cwd=Path(temporary))
            or run(away / BIN.name / "secateur", "chunk", "sample:orders", "--base", "HEAD~3", cwd=Path(temporary))
            or run(
                away / BIN.name / "secateur",
                "envelope",
                ROOT / "docs" / "examples" / "envelope.json",
                "--model",
                "gpt-4o",
                "--format",
                "text",
                cwd=Path(temporary),
            )
            or run(python, "-c", THEMES, cwd=Path(temporary))
        )


def install(group: str) -> None:
    """Make the environment and install into it, unless it is up to date with pyproject.toml and constraints.txt."""
    locked = CONSTRAINTS.is_file() and not os.environ.get("SECATEUR_UNLOCKED")
    wanted = (ROOT / "pyproject.toml").read_text("utf-8") + group + (CONSTRAINTS.read_text("utf-8") if locked else "")
    stamp = ENVIRONMENT / f"{group or 'run'}.{STAMP}"
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return
    if not (BIN / "python").exists():
        print(f"creating {ENVIRONMENT.name} ...", file=sys.stderr)
        try:
            venv.create(ENVIRONMENT, with_pip=True)
        except (subprocess.CalledProcessError, OSError) as error:
            sys.exit(
                f"error: no virtual environment could be made ({error})\nhint: on Debian and Ubuntu install"
                " python3-venv"
            )
    print("installing ...", file=sys.stderr)
    words = ["-e", str(ROOT)] + (["--group", f"{ROOT / 'pyproject.toml'}:{group}"] if group else [])
    pip = [BIN / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if group:  # dependency groups came with pip 25.1
        code = run(*pip, "install", "pip>=25.1")
        if code:
            sys.exit(code)
    code = run(*pip, "install", *words, *(["--constraint", CONSTRAINTS] if locked else []))
    if code and locked:
        print("note: the versions of constraints.txt cannot be had here; pyproject.toml decides", file=sys.stderr)
        code = run(*pip, "install", *words)
    if code:
        sys.exit(f"error: installing failed with code {code}\nhint: see what pip said above")
    stamp.write_text(wanted, "utf-8")


def run_at_once(*commands: Sequence[str | Path]) -> int:
    """Run commands on every core, print what each printed when it ends, and return the first code that is not 0."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        codes = list(threads.map(lambda command: run(*command, output=subprocess.PIPE), commands))
    return next((code for code in codes if code), 0)


def run(*words: str | Path, cwd: Path = ROOT, output: int | None = None) -> int:
    """Run a command, say how long it took, and return its exit code. `output`: a pipe, to print it in one piece.

    Bytecode is kept even where the machine says otherwise: the tests start many Pythons, and pytest rewrites 300 files.
    pip makes none: most of what it installs is never imported, and compiling it was a third of its time.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept["PIP_NO_COMPILE"] = "1"
    begin = time.monotonic()
    stderr = subprocess.STDOUT if output else None
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=kept, check=False, stdout=output, stderr=stderr, encoding="utf-8"
    )
    name = " ".join([Path(words[0]).name, *map(str, words[1:4])])
    print(f"{done.stdout or ''}{time.monotonic() - begin:.0f} seconds: {name}", file=sys.stderr, flush=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
