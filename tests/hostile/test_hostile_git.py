"""A repository whose configuration, attributes and hooks name programs: reading it starts none of them."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from secateur.errors import RepositoryError
from secateur.sources.commit import CommitSource
from secateur.sources.git import Git
from secateur.sources.open import WorktreeSource, open_source
from secateur.sources.process import Patience
from secateur.sources.provenance import NoGit
from secateur.sources.source import Source

HOOKS = (
    *(
        "applypatch-msg",
        "commit-msg",
        "fsmonitor-watchman",
        "post-applypatch",
        "post-checkout",
        "post-commit",
        "post-index-change",
        "post-merge",
    ),
    *(
        "post-rewrite",
        "post-update",
        "pre-applypatch",
        "pre-auto-gc",
        "pre-commit",
        "pre-push",
        "pre-rebase",
        "pre-receive",
        "prepare-commit-msg",
    ),
    *("proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate", "update"),
)
PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
WHO = ["-c", "user.name=Eve", "-c", "user.email=eve@example.com"]


class Trap:
    """A hostile repository at `root`; every program it plants leaves its name in `canaries` when it is run."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "trap"
        self.canaries = folder / "canaries"
        self.decoy = folder / "decoy"
        self._programs = folder / "programs"
        for place in (self.root, self.canaries, self.decoy, self._programs):
            place.mkdir()
        (self.decoy / "decoy.txt").write_text("not of this repository\n")
        self._commit_files()
        self._plant()

    def fired(self) -> list[str]:
        return sorted(path.name for path in self.canaries.iterdir())

    def git(self, *arguments: str, env: dict[str, str] | None = None, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=env or PLAIN,
            check=check,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=30,
        )
        return done.stdout.strip()

    def _commit_files(self) -> None:
        self.git("init", "-q", "-b", "main", "--template=")
        (self.root / "sub").mkdir()
        for number in range(3):
            (self.root / "code.txt").write_text(f"line {number}\n")
            (self.root / "sub" / "more.txt").write_text(f"more {number}\n")
            (self.root / "gone.txt").write_text("a blob that will be missing\n")
            (self.root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
            self.git("add", ".")
            self.git(*WHO, "commit", "-q", "-m", f"commit {number}")
        (self.root / "code.txt").write_text("changed, so that git wants to look\n")
        (self.root / "untracked.txt").write_text("new\n")

    def _program(self, name: str) -> str:
        script = self._programs / name
        script.write_text(f"#!/bin/sh\n: > '{self.canaries}/{name}'\nexit 1\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    def _plant(self) -> None:
        git_dir = self.root / ".git"
        missing = self.git("rev-parse", "HEAD:gone.txt")
        (git_dir / "objects" / missing[:2] / missing[2:]).unlink()
        hooks = git_dir / "hooks"
        hooks.mkdir()
        for hook in HOOKS:
            (hooks / hook).symlink_to(self._program(f"hook-{hook}"))
        included = git_dir / "more.config"
        included.write_text(
            f"[core]\n\tfsmonitor = {self._program('included-fsmonitor')}\n[pager]\n\tlog ="
            f" {self._program('included-pager')}\n"
        )
        (git_dir / "config").write_text(f"""
[core]
	repositoryformatversion = 1
	bare = false
	worktree = {self.decoy}
	fsmonitor = {self._program("fsmonitor")}
	hooksPath = {hooks}
	pager = {self._program("pager")}
	editor = {self._program("editor")}
	askPass = {self._program("askpass")}
	sshCommand = {self._program("ssh")}
	gitProxy = {self._program("proxy")}
	alternateRefsCommand = {self._program("alternate-refs")}
	attributesFile = {self.root}/.gitattributes
	excludesFile = {self.decoy}/decoy.txt
[extensions]
	partialClone = origin
[remote "origin"]
	url = file://{self.decoy}
	promisor = true
	partialclonefilter = blob:none
	uploadpack = {self._program("uploadpack")}
[remote "other"]
	url = "ext::{self._program("ext")}"
	promisor = true
[remote "third"]
	url = ssh://example.com/x
	promisor = true
[remote "fourth"]
	vcs = evil
	promisor = true
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[protocol "file"]
	allow = always
[diff]
	external = {self._program("diff-external")}
	orderFile = {self.decoy}/decoy.txt
	relative = true
[diff "evil"]
	textconv = {self._program("textconv")}
	command = {self._program("diff-command")}
[filter "evil"]
	clean = {self._program("clean")}
	smudge = {self._program("smudge")}
	process = {self._program("process")}
	required = true
[merge "evil"]
	driver = {self._program("merge-driver")}
[gpg]
	program = {self._program("gpg")}
[gpg "ssh"]
	program = {self._program("gpg-ssh")}
	defaultKeyCommand = {self._program("gpg-key")}
[log]
	showSignature = true
	follow = true
	mailmap = true
[mailmap]
	file = {self.decoy}/decoy.txt
[credential]
	helper = "!{self._program("credential")}"
[alias]
	log = "!{self._program("alias-log")}"
	ls-files = "!{self._program("alias-ls-files")}"
	rev-parse = "!{self._program("alias-rev-parse")}"
[pager]
	log = {self._program("pager-log")}
[uploadpack]
	packObjectsHook = {self._program("pack-objects")}
[trace2]
	normalTarget = {self.canaries}/trace2
[safe]
	bareRepository = all
[color]
	ui = always
[include]
	path = {included}
""")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap(tmp_path_factory.mktemp("planted").resolve())


@pytest.fixture
def trap(planted: Trap) -> Trap:
    assert planted.fired() == []
    return planted


def drain(values: Iterator[object]) -> None:
    for _ in values:
        pass


EVERY_GIT_METHOD: dict[str, Callable[[Git], object]] = {
    "head": lambda git: git.head(),
    "resolve": lambda git: git.resolve("main~1"),
    "resolve_unknown": lambda git: git.resolve("nothing"),
    "commit_time": lambda git: git.commit_time(git.resolve("main")),
    "ls_files": lambda git: git.ls_files(),
    "list_tracked": lambda git: git.list_tracked(),
    "list_absent": lambda git: git.list_absent(),
    "list_unmerged": lambda git: git.list_unmerged(),
    "tree": lambda git: git.tree(git.resolve("main")),
    "ls_tree": lambda git: git.ls_tree(git.resolve("main")),
    "sizes": lambda git: drain(git.sizes([entry.oid for entry in git.ls_tree(git.resolve("main"))])),
    "blobs": lambda git: drain(git.blobs([entry.oid for entry in git.ls_tree(git.resolve("main"))], max_bytes=100)),
    "merge_base": lambda git: git.merge_base(git.resolve("main"), git.resolve("main~1")),
    "diff": lambda git: git.diff(git.resolve("main~1"), git.resolve("main")),
    "diff_unknown": lambda git: git.diff(
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904", git.resolve("main")
    ),  # all of it, the missing blob too
    "history": lambda git: drain(git.history(git.resolve("main"), since=git.resolve("main~1"))),
    "changes_of": lambda git: drain(git.history(git.resolve("main"), path="a.txt", limit=3)),
    "log": lambda git: drain(git.log(git.resolve("main"))),
    "is_linear": lambda git: git.is_linear(git.resolve("main~1"), git.resolve("main")),
    "shallow": lambda git: git.shallow(),
    "names_still": lambda git: git.names_still("main", git.resolve("main")),
}


def test_every_public_method_is_tried() -> None:
    public = {name for name, value in vars(Git).items() if callable(value) and not name.startswith("_")}
    assert public <= {name.removesuffix("_unknown") for name in EVERY_GIT_METHOD} | {"discover"}


@pytest.mark.parametrize("below", ["", "sub"])
@pytest.mark.parametrize("method", EVERY_GIT_METHOD)
def test_no_planted_program_runs(trap: Trap, method: str, below: str) -> None:
    git = Git.discover(trap.root / below)
    assert isinstance(git, Git)
    with suppress(RepositoryError):  # the trap is damaged on purpose; what counts is what ran
        EVERY_GIT_METHOD[method](git)
    assert trap.fired() == []


def test_no_planted_program_runs_through_the_sources(trap: Trap) -> None:
    sources: list[Source] = [open_source(trap.root), open_source(trap.root / "sub")]
    sources += [open_source(trap.root, "main~1"), open_source(trap.root / "sub", "main")]
    for source in sources:
        try:
            paths = [entry.path for entry in source.entries()]
            drain(source.read([*paths, "gone.txt"]))
        except RepositoryError:
            assert source.commit  # a commit with a missing object, in a clone that would fetch it
        drain(source.history())
        assert (source.describe(), source.time, source.skips) is not None
    assert trap.fired() == []


def test_the_trap_is_live(tmp_path: Path) -> None:
    """Plain git does run the planted programs: without that the tests above prove nothing."""
    trap = Trap(tmp_path.resolve())
    config = trap.root / ".git" / "config"
    for out_of_the_way in ("nothing", "process", "(clean|smudge|required)", "command", "external"):
        config.write_text(re.sub(rf"\t{out_of_the_way} = ", "\tnothing = ", config.read_text()))
        for command in (
            ["status"],
            ["diff"],
            ["diff", "HEAD~1", "HEAD"],
            ["show", "HEAD:gone.txt"],
            ["hook", "run", "pre-commit"],
        ):
            trap.git("--work-tree=.", *command, check=False)
    expected = {
        "clean",
        "diff-command",
        "diff-external",
        "ext",
        "hook-pre-commit",
        "included-fsmonitor",
        "process",
        "ssh",
        "textconv",
        "uploadpack",
    }
    assert set(trap.fired()) >= expected


def test_the_environment_of_the_caller_does_not_reach_git(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    program = trap._program("environment")
    for name in (
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "GIT_EDITOR",
        "GIT_PROXY_COMMAND",
    ):
        monkeypatch.setenv(name, program)
    monkeypatch.setenv("GIT_DIR", str(trap.decoy))
    monkeypatch.setenv("GIT_TRACE", str(trap.canaries / "trace"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", program)
    source = open_source(trap.root)
    assert [entry.path for entry in source.entries()] == [
        ".gitattributes",
        "code.txt",
        "gone.txt",
        "sub/more.txt",
        "untracked.txt",
    ]
    assert len(list(source.history())) == 3
    assert trap.fired() == []


def test_the_configured_work_tree_is_not_believed(trap: Trap) -> None:
    source = open_source(trap.root)
    assert "decoy.txt" not in [entry.path for entry in source.entries()]
    assert dict(source.read(["code.txt"])) == {"code.txt": b"changed, so that git wants to look\n"}
    assert source.notices() == []


def test_a_missing_object_of_a_partial_clone_is_an_answer_not_a_download(trap: Trap) -> None:
    git = Git.discover(trap.root)
    assert isinstance(git, Git)
    source = CommitSource(git, "main")
    with suppress(RepositoryError):  # newer versions of git give up at the first such object
        assert [entry.path for entry in source.entries()] == [".gitattributes", "code.txt", "sub/more.txt"]
        assert [(skip.path, skip.reason) for skip in source.skips()] == [("gone.txt", "unreadable")]
    assert trap.fired() == []


@pytest.mark.parametrize("name", ["config", "index", "info/exclude", "HEAD"])
def test_a_pipe_in_the_place_of_a_repository_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.py").write_text("x\n")
    for folder in ("objects", "refs", "info"):
        (tmp_path / ".git" / folder).mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / ".git" / name)
    assert Git.discover(tmp_path) is NoGit.BROKEN_REPOSITORY
    source = open_source(tmp_path)
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert [notice.code for notice in source.notices()] == ["git_failed"]


def test_a_pipe_as_ignore_file_costs_gits_patience_and_then_our_own_walk_answers(tmp_path: Path) -> None:
    for folder in ("objects", "refs"):
        (tmp_path / ".git" / folder).mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "a.py").write_text("x\n")
    os.mkfifo(tmp_path / ".gitignore")
    source = WorktreeSource(tmp_path, Git.discover(tmp_path, patience=Patience(idle=0.05)))
    assert [entry.path for entry in source.entries()] == ["a.py"]
    assert [(skip.path, skip.reason) for skip in source.skips()] == [(".gitignore", "special_file")]
    assert [notice.code for notice in source.notices()] == ["git_failed"]


def test_git_is_never_taken_from_the_repository_or_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    (repository / "bin").mkdir(parents=True)
    for folder in ("objects", "refs"):
        (repository / ".git" / folder).mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    fake = repository / "bin" / "git"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "git").symlink_to(fake)
    monkeypatch.chdir(repository / "bin")
    for path in (".", "", "bin", str(repository / "bin"), str(outside)):
        assert Git.discover(repository, environ={"PATH": path}) is NoGit.NO_BINARY
    assert isinstance(Git.discover(repository, environ={"PATH": f".:{repository}/bin:{os.environ['PATH']}"}), Git)


@pytest.mark.parametrize(
    "rev",
    [
        "--output=/tmp/x",
        "-h",
        "",
        "no\0thing",
        "nothing",
        "HEAD:code.txt",
        "main\nmain",
        "@{upstream}",
        "^main",
        "main..main",
    ],
)
def test_a_revision_that_is_none_is_named(trap: Trap, rev: str) -> None:
    with pytest.raises(RepositoryError) as error:
        open_source(trap.root, rev)
    assert repr(rev) in error.value.message
    assert error.value.code == "UNKNOWN_REVISION"
    assert trap.fired() == []
