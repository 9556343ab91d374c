"""A folder whose `.git` leads to somebody else's repository: nothing of that is shown; what really belongs here is read
as ever."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from secateur.errors import RepositoryError
from secateur.kinds.diff.comparison import ComparedStates, Comparison
from secateur.redaction import Redactor
from secateur.settings import Chunking
from secateur.sources.git import Git
from secateur.sources.open import open_source
from secateur.sources.provenance import ForeignRepository
from support.cli import secateur
from support.repos import committed, git

SECRET = "def secret_total():\n    return 4711\n"


def victim(folder: Path) -> Path:
    root = committed(folder / "victim", {"secret.py": SECRET})
    git(root, "commit", "-q", "--allow-empty", "-m", "More")
    return root


def bait(folder: Path) -> Path:
    root = folder / "bait"
    root.mkdir()
    (root / "bait.py").write_text("def total():\n    return 1\n")
    return root


def skeleton(root: Path, head: str = "") -> Path:
    """A `.git` without objects, whose branch is at a commit of somebody else's."""
    for name in ("objects/info", "objects/pack", "refs/heads"):
        (root / ".git" / name).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    if head:
        (root / ".git" / "refs/heads/main").write_text(head + "\n")
    return root / ".git"


def gitfile(root: Path, other: Path) -> None:
    (root / ".git").write_text("gitdir: ../victim/.git\n")
    assert (root / "../victim/.git").resolve() == other / ".git"


def link(root: Path, other: Path) -> None:
    (root / ".git").symlink_to(other / ".git")


def commondir(root: Path, other: Path) -> None:
    (skeleton(root) / "commondir").write_text(str(other / ".git") + "\n")


def linked_commondir(root: Path, other: Path) -> None:
    (skeleton(root) / "x").write_text(str(other / ".git") + "\n")
    (root / ".git" / "commondir").symlink_to("x")


def alternates(root: Path, other: Path) -> None:
    (skeleton(root, git(other, "rev-parse", "HEAD")) / "objects/info/alternates").write_text(
        f"# here\n{other}/.git/objects\n"
    )


def quoted_alternates(root: Path, other: Path) -> None:
    path = str(other / ".git/objects").replace("/", "\\057")
    (skeleton(root, git(other, "rev-parse", "HEAD")) / "objects/info/alternates").write_text(f'"{path}"\n')


def long_alternates(root: Path, other: Path) -> None:
    (skeleton(root, git(other, "rev-parse", "HEAD")) / "objects/info/alternates").write_text(
        "#\n" * 40_000 + f"{other}/.git/objects\n"
    )


def nested_alternates(root: Path, other: Path) -> None:
    (skeleton(root, git(other, "rev-parse", "HEAD")) / "objects/info/alternates").write_text(f"{root}/inner\n")
    (root / "inner/info").mkdir(parents=True)
    (root / "inner/info/alternates").write_text(f"{other}/.git/objects\n")


def linked_objects(root: Path, other: Path) -> None:
    folder = skeleton(root, git(other, "rev-parse", "HEAD")) / "objects"
    shutil.rmtree(folder)
    folder.symlink_to(other / ".git/objects")


def linked_pack(root: Path, other: Path) -> None:
    git(other, "gc", "-q")
    place = skeleton(root, git(other, "rev-parse", "HEAD")) / "objects/pack"
    for pack in (other / ".git/objects/pack").iterdir():
        (place / pack.name).symlink_to(pack)


def linked_loose_objects(root: Path, other: Path) -> None:
    place = skeleton(root, git(other, "rev-parse", "HEAD"))
    for found in (other / ".git/objects").glob("??/*"):
        target = place / "objects" / found.relative_to(other / ".git/objects")
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(found)


def worktree_of_another(root: Path, other: Path) -> None:
    """Leads to a real work tree's folder, which names another place."""
    git(other, "worktree", "add", "-q", str(root.parent / "real"))
    (root / ".git").write_text((root.parent / "real" / ".git").read_text())


def worktree_of_our_own_making(root: Path, other: Path) -> None:
    """A folder that says that it belongs here, and says itself whose work tree it is."""
    made = root / "w" / "worktrees" / "x"
    made.mkdir(parents=True)
    (made / "HEAD").write_text("ref: refs/heads/main\n")
    (made / "commondir").write_text(str(other / ".git"))
    (made / "gitdir").write_text(str(root / ".git"))
    (root / ".git").write_text(f"gitdir: {made}\n")


WAYS: list[Callable[[Path, Path], None]] = [
    *(gitfile, link, commondir, linked_commondir, alternates, quoted_alternates, long_alternates, nested_alternates),
    *(linked_objects, linked_pack, linked_loose_objects, worktree_of_another, worktree_of_our_own_making),
]


@pytest.mark.parametrize("way", WAYS, ids=[way.__name__ for way in WAYS])
def test_another_repository_is_not_shown(tmp_path: Path, way: Callable[[Path, Path], None]) -> None:
    other, root = victim(tmp_path), bait(tmp_path)
    way(root, other)
    assert isinstance(Git.discover(root), ForeignRepository)
    for words in (
        ["search", "total", root, "--rev", "HEAD"],
        ["chunk", root, "--base", "HEAD~1"],
        ["chunk", root, "--worktree"],
    ):
        refused = secateur(*words, "--no-cache" if words[0] == "search" else "--no-rules")
        assert refused.code == 1, refused.out
        assert "--trust-git-dir" in refused.err
        assert "secret" not in refused.out + refused.err
    found = secateur("search", "total", root, "--no-cache", "--format", "json")
    assert {candidate["file_path"] for candidate in found.json["candidates"]} == {"bait.py"}
    assert [warning["code"] for warning in found.json["warnings"]] == ["git_foreign"]
    assert "--trust-git-dir" in found.json["warnings"][0]["message"]


@pytest.mark.parametrize("way", [gitfile, link, alternates, linked_objects], ids=lambda way: way.__name__)
def test_who_trusts_the_folder_says_so(tmp_path: Path, way: Callable[[Path, Path], None]) -> None:
    other, root = victim(tmp_path), bait(tmp_path)
    way(root, other)
    found = secateur("search", "total", root, "--no-cache", "--format", "json", "--rev", "HEAD", "--trust-git-dir")
    assert [candidate["file_path"] for candidate in found.json["candidates"]] == ["secret.py"]
    assert secateur("chunk", root, "--base", "HEAD~1", "--trust-git-dir").code == 0


def test_a_repository_cannot_trust_itself(tmp_path: Path) -> None:
    other, root = victim(tmp_path), bait(tmp_path)
    gitfile(root, other)
    (root / "secateur.toml").write_text("[index]\ntrust_git_dir = true\n")
    assert secateur("search", "total", root, "--rev", "HEAD").code == 1


def submodule(folder: Path, inner: Path) -> Path:
    outer = committed(folder / "outer", {"a.py": "def a():\n    return 1\n"})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lib")
    return outer / "lib"


def further_work_tree(folder: Path, inner: Path) -> Path:
    git(inner, "worktree", "add", "-q", str(folder / "further"))
    return folder / "further"


def moved_with_everything(_folder: Path, inner: Path) -> Path:
    """The repository of a folder, inside of it under another name."""
    (inner / ".git").rename(inner / ".repository")
    (inner / ".git").write_text("gitdir: .repository\n")
    return inner


def whole_clone(folder: Path, inner: Path) -> Path:
    git(folder, "clone", "-q", str(inner), "clone")
    return folder / "clone"


def below_a_work_tree(folder: Path, inner: Path) -> Path:
    (further_work_tree(folder, inner) / "deep").mkdir()
    shutil.copy(inner / "secret.py", folder / "further" / "deep")
    git(folder / "further", "add", "-A")
    git(folder / "further", "commit", "-qm", "Deep")
    return folder / "further" / "deep"


OWN: list[Callable[[Path, Path], Path]] = [
    submodule,
    further_work_tree,
    moved_with_everything,
    whole_clone,
    below_a_work_tree,
]


@pytest.mark.parametrize("way", OWN, ids=[way.__name__ for way in OWN])
def test_what_belongs_to_the_folder_is_read(tmp_path: Path, way: Callable[[Path, Path], Path]) -> None:
    root = way(tmp_path, victim(tmp_path))
    assert [entry.path for entry in open_source(root, "HEAD").entries()] == ["secret.py"]
    source = open_source(root)
    assert list(source.history())
    assert source.notices() == []
    assert Comparison(root, ComparedStates(worktree=True)).read(Chunking(), Redactor()).diff.changes == ()


def test_a_work_tree_of_another_owner_is_not_read(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    root = further_work_tree(tmp_path, victim(tmp_path))
    os.chown(root / ".git", 65534, 65534)
    assert isinstance(Git.discover(root), ForeignRepository)
    with pytest.raises(RepositoryError, match="nothing there shows that it belongs to this folder"):
        open_source(root, "HEAD")


def test_a_shared_clone_is_told_the_ways_out(tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(victim(tmp_path)), "shared")
    refused = secateur("chunk", tmp_path / "shared", "--base", "HEAD~1")
    assert (
        refused.code,
        "--shared" in refused.err,
        "git repack -ad" in refused.err,
        "--trust-git-dir" in refused.err,
    ) == (1, True, True, True)
    git(tmp_path / "shared", "repack", "-adq")
    (tmp_path / "shared/.git/objects/info/alternates").unlink()
    assert secateur("chunk", tmp_path / "shared", "--base", "HEAD~1").code == 0
