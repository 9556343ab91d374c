"""Recorded command lines: does a change alter a byte of what secateur prints?

    python tests/recorded/corpus.py compare REV     # REV against the files as they are: every difference, as a diff
    python tests/recorded/corpus.py update          # prints what changed since HEAD, and writes the digests that the
                                                    # default test run checks
    python tests/recorded/corpus.py check           # the digests, public repositories too; lists what differs

The command lines are in `commands.toml`. Those on the sample repositories are checked in the default test run; those on
public repositories only here, where `--mirror FOLDER` (or BENCH_MIRROR) names a folder of bare copies,
`owner+name/...`. All run in one process, in a folder of their own, credentials by our own rules; the index of each
repository is built by the first command that needs it. A difference that is intended is listed in `exceptions.toml`
with its reason, or the digests are updated in the commit that causes it, which says why.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import hashlib
import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BASE = "<base>"
"""Stands in the recorded text for the folder the commands run in."""
SHOWN_LINES = 40
"""Lines of a difference that are printed."""
SESSION_COMMITS = 30
SHAPING = ("numpy", "tiktoken", "rapidfuzz", "PyStemmer", "wordllama", "tree-sitter")
"""Packages whose release can change an answer; every `tree-sitter-*` is one too."""


@dataclass(frozen=True)
class Command:
    """A recorded command line."""

    line: str  # as it is typed, less the word `secateur`
    public: bool  # needs a public repository

    @property
    def words(self) -> tuple[list[str], str | None]:
        """Arguments, and the file that is standard input."""
        words = shlex.split(self.line)
        if len(words) > 1 and words[-2] == "<":
            return words[:-2], words[-1]
        return words, None

    @property
    def prints_json(self) -> bool:
        """Whether what it prints is an answer in JSON; that of `envelope` is where no format is named."""
        words, _ = self.words
        return "--format json" in self.line or (words[0] == "envelope" and "--format" not in words)


@dataclass(frozen=True)
class Output:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All of it, for a person and for the digest."""
        return f"exit {self.code}\n--- standard output\n{self.out}\n--- standard error\n{self.err}\n"

    @property
    def digest(self) -> str:
        """What is committed of it."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def commands() -> list[Command]:
    """Every recorded command line, in the order of the file."""
    repositories = _toml("repositories.toml")
    found = []
    for group in _toml("commands.toml")["group"]:
        over = group.get("over", [""])
        public = "public" in over or group.get("public", False)
        names = [name for name, entry in repositories.items() if "source" in entry] if "public" in over else over
        for name in names:
            query = repositories.get(name, {}).get("query", "")
            found += [
                Command(line.replace("{repo}", name).replace("{query}", query), public) for line in group["commands"]
            ]
    return found


def run_all(base: Path, chosen: Iterable[Command]) -> Iterator[tuple[Command, Output]]:
    """Run commands in `base`, a folder that `prepare` made. Every machine and every run prints the same."""
    with environment(base), chdir(base / "work"):
        for command in chosen:
            yield command, run(base, command)


def run(base: Path, command: Command) -> Output:
    """Run one command in this process, in the folder the caller went to."""
    from support.cli import secateur

    words, stdin = command.words
    if words[0] in ("index", "status"):  # they say what was known before: nothing, whatever ran earlier
        secateur("index", words[1], "--clear")
    ran = secateur(*words, stdin=Path(stdin).read_bytes() if stdin else b"")
    return Output(ran.code, ran.out.replace(str(base), BASE), ran.err.replace(str(base), BASE))


def environment(base: Path) -> Any:
    """A cache and a configuration of their own, and nothing of the caller's terminal."""
    return patch.dict(
        os.environ,
        {"SECATEUR_CACHE_DIR": str(base / "cache"), "SECATEUR_CONFIG_DIR": str(base / "config"), "COLUMNS": "100"},
    )


def prepare(base: Path, mirror: Path | None) -> None:
    """Make the inputs in `base`; with a mirror also the public repositories, each at its commit, and a long session."""
    from recorded import inputs

    try:
        from secateur.sources.samples import materialise
    except ImportError:  # the code of a commit that `compare` looks back to
        from secateur.repository.samples import materialise

    from secateur.settings import keys

    if "redaction.scanner" in keys():  # else answers depend on whether the extra `secrets` is installed
        (base / "config").mkdir(parents=True)
        (base / "config" / "secateur.toml").write_text('[redaction]\nscanner = "rules"\n')
    work = base / "work"
    work.mkdir(parents=True)
    inputs.make_inputs(work, materialise("orders", base / "cache"))
    if mirror is None:
        return
    for name, entry in _toml("repositories.toml").items():
        if "source" in entry:
            bare = next(path for path in (mirror / entry["source"].replace("/", "+")).iterdir() if path.is_dir())
            _git("clone", "-q", "--no-checkout", str(bare), str(work / name))
            _git("-C", str(work / name), "checkout", "-q", "--detach", entry["commit"])
    sys.path.insert(0, str(HERE.parent / "benchmarks"))
    import sessions

    lines = sessions.session(work / "click", SESSION_COMMITS)
    (work / "long.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


def versions() -> dict[str, str]:
    """Releases that shape the answers, to tell a change of ours from a change of theirs."""
    grammars = {
        name
        for each in importlib.metadata.distributions()
        if (name := each.metadata["Name"]).startswith("tree-sitter-")
    }
    return {name: importlib.metadata.version(name) for name in sorted({*SHAPING, *grammars})}


def digests(public: bool) -> dict[str, Any]:
    """What was recorded: `versions`, and `commands` with the digest of each."""
    stored: dict[str, Any] = json.loads(_digest_file(public).read_text("utf-8"))
    return stored


def differences(before: Mapping[str, Output], after: Mapping[str, Output]) -> Iterator[tuple[str, str, str]]:
    """(command line, the reason why it may differ or "", a diff) of every command whose output differs."""
    allowed = _toml("exceptions.toml").get("exception", [])
    for line in sorted({*before, *after}):
        old, new = (outputs[line].text if line in outputs else "" for outputs in (before, after))
        if old != new:
            reason = next((entry["reason"] for entry in allowed if fnmatch.fnmatchcase(line, entry["commands"])), "")
            difference = difflib.unified_diff(old.splitlines(), new.splitlines(), "before", "after", lineterm="", n=1)
            yield line, reason, "\n".join(text[:300] for text in list(difference)[:SHOWN_LINES])


def main() -> int:
    """Exit code 0: no difference but listed ones; 1: differences; 2: the call was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("compare", "update", "check", "record"))
    parser.add_argument("revision", nargs="?", help="with compare: the commit before; with record: the file to write")
    parser.add_argument(
        "--mirror",
        type=Path,
        default=os.environ.get("BENCH_MIRROR"),
        help="folder of bare copies of public repositories",
    )
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only command lines that match, e.g. 'search*'")
    options = parser.parse_args()
    mirror = None if options.mirror is None else Path(options.mirror).resolve()
    chosen = [
        each for each in commands() if (mirror or not each.public) and fnmatch.fnmatchcase(each.line, options.only)
    ]
    if options.task in ("compare", "record") and options.revision is None:
        parser.error(f"{options.task} needs an argument")
    if options.task == "compare":
        return _compare(options.revision, options.only, mirror, _outputs(chosen, mirror))
    outputs = _outputs(chosen, mirror)
    if options.task == "record":
        Path(options.revision).write_text(json.dumps({line: vars(output) for line, output in outputs.items()}), "utf-8")
        return 0
    if options.task == "check":
        return _check(outputs)
    known = digests(False)["commands"] | digests(True)["commands"]
    if any(known.get(line) != output.digest for line, output in outputs.items()):
        _compare("HEAD", options.only, mirror, outputs)
    return _update(outputs)


def _outputs(chosen: list[Command], mirror: Path | None) -> dict[str, Output]:
    with tempfile.TemporaryDirectory(prefix="recorded-") as folder:
        base = Path(folder).resolve()
        prepare(base, mirror if any(each.public for each in chosen) else None)
        started = time.process_time()
        outputs = {command.line: output for command, output in run_all(base, chosen)}
        print(f"{len(outputs)} commands, {time.process_time() - started:.0f} s of processor time", file=sys.stderr)
        return outputs


def _compare(revision: str, only: str, mirror: Path | None, after: Mapping[str, Output]) -> int:
    """Run the product of `revision` under the commands of this tree, and print what differs."""
    with tempfile.TemporaryDirectory(prefix="before-") as folder:
        tree, answers = Path(folder) / "tree", Path(folder) / "answers.json"
        _git("-C", str(ROOT), "worktree", "add", "-q", "--detach", str(tree), revision)
        try:
            paths = os.pathsep.join(str(path) for path in (tree / "core", tree / "tui", HERE.parent))
            words = [sys.executable, str(HERE / "corpus.py"), "record", str(answers), "--only", only]
            words += [] if mirror is None else ["--mirror", str(mirror)]
            subprocess.run(words, check=True, env=os.environ | {"PYTHONPATH": paths})
        finally:
            _git("-C", str(ROOT), "worktree", "remove", "--force", str(tree))
        before = {line: Output(**output) for line, output in json.loads(answers.read_text("utf-8")).items()}
    wrong = 0
    for line, reason, difference in differences(before, after):
        wrong += not reason
        print(f"secateur {line}\n{'may differ: ' + reason if reason else difference}\n")
    print(f"{len(after)} commands compared with {revision}: {wrong} differ")
    return 1 if wrong else 0


def _update(outputs: Mapping[str, Output]) -> int:
    """Command lines that were not run keep their digests."""
    for public in (False, True):
        lines = {each.line for each in commands() if each.public == public}
        if lines & outputs.keys():
            known = digests(public)["commands"] | {line: output.digest for line, output in outputs.items()}
            stored = {"versions": versions(), "commands": {line: known[line] for line in sorted(lines & known.keys())}}
            _digest_file(public).write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return 0


def _check(outputs: Mapping[str, Output]) -> int:
    known = digests(False)["commands"] | digests(True)["commands"]
    wrong = [line for line, output in outputs.items() if known.get(line) != output.digest]
    for line in wrong:
        print(f"secateur {line}")
    print(f"{len(outputs)} commands: {len(wrong)} differ from what was recorded")
    return 1 if wrong else 0


def _digest_file(public: bool) -> Path:
    return HERE / ("public.json" if public else "samples.json")


def _toml(name: str) -> dict[str, Any]:
    import tomli

    return tomli.loads((HERE / name).read_text("utf-8"))


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    sys.exit(main())
