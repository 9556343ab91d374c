"""Files named by path, folder, pattern and sample."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.errors import SecateurError, UsageError
from secateur.kinds.files.inputs import HEAD_BYTES, read_files
from secateur.settings import Settings, with_values
from support.repos import committed, write
from support.systems import IS_ROOT

TREE = {
    "src/a.py": "a = 1\n",
    "src/deep/b.py": "b = 2\n",
    "src/deep/c.txt": "c\n",
    "src/.hidden.py": "h = 1\n",
    "src/[id].ts": "export {}\n",
    "top.py": "t = 3\n",
    "build/out.py": "o = 4\n",
    ".gitignore": "build/\n",
    "pic.png": b"\x89PNG\r\n\x1a\n\0\0",
    "uv.lock": "version = 1\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return committed(tmp_path / "tree", TREE)


def names(base: Path, *words: str, **values: object) -> list[str]:
    files, _ = read_files(words, with_values(Settings(), values), base / "cache", base)
    return [file.module_name for file in files]


def test_a_file_a_folder_and_a_pattern_in_the_order_given_each_file_once(tree: Path) -> None:
    assert names(tree, "top.py", "src/deep", "src/*.py", "./src/a.py", "src") == [
        "top.py",
        "src/deep/b.py",
        "src/deep/c.txt",
        "src/a.py",
        "src/.hidden.py",
        "src/[id].ts",
    ]


def test_a_folder_gives_what_the_index_would_read_and_says_what_it_leaves_out(tree: Path) -> None:
    files, notices = read_files(["."], Settings(), tree / "cache", tree)
    assert [file.module_name for file in files] == [
        ".gitignore",
        "src/.hidden.py",
        "src/[id].ts",
        "src/a.py",
        "src/deep/b.py",
        "src/deep/c.txt",
        "top.py",
    ]
    assert [notice.message for notice in notices] == ["Left out: 1 binary, 1 lockfile (pic.png, uv.lock)."]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["top.py"]),
        ("**/*.py", ["src/a.py", "src/deep/b.py", "top.py"]),
        ("src/**", ["src/[id].ts", "src/a.py", "src/deep/b.py", "src/deep/c.txt"]),
        ("src/**/**/b.*", ["src/deep/b.py"]),
        ("src/.*.py", ["src/.hidden.py"]),
        ("src/d??p/[a-b].py", ["src/deep/b.py"]),
        ("src/*/[!b]*", ["src/deep/c.txt"]),
        ("src/[id].ts", ["src/[id].ts"]),
    ],
)
def test_patterns(tree: Path, pattern: str, found: list[str]) -> None:
    assert names(tree, pattern) == found


def test_a_named_file_is_read_whatever_the_ignore_rules_say(tree: Path) -> None:
    assert names(tree, "build/out.py", "uv.lock") == ["build/out.py", "uv.lock"]
    assert names(tree, "build/*.py") == names(tree, "build") == ["build/out.py"], "so is a folder that is named"
    with pytest.raises(SecateurError, match=r"nothing matches \*\*/out\.py") as error:
        names(tree, "**/out.py")
    assert error.value.code == "NO_MATCH"
    assert "name them" in error.value.hint


def test_a_named_file_that_is_no_text_is_left_out_and_said(tree: Path) -> None:
    files, notices = read_files(["top.py", "pic.png"], Settings(), tree / "cache", tree)
    assert [file.module_name for file in files] == ["top.py"]
    assert [notice.code for notice in notices] == ["left_out"]


def test_bytes_that_are_no_text_are_replaced_and_said(tree: Path) -> None:
    write(tree, {"odd.py": b"x = '\xff'\n"})
    files, notices = read_files(["odd.py"], Settings(), tree / "cache", tree)
    assert files[0].source_code == "x = '\ufffd'\n"
    assert [notice.message for notice in notices] == ["Bytes that are not text were replaced in odd.py."]


def test_absolute_paths_are_named_from_the_folder_that_holds_them_all(tree: Path) -> None:
    inside = [str(tree / "src"), str(tree / "top.py")]
    assert names(tree, *inside) == names(tree, "src", "top.py")
    assert names(tree, inside[0], "top.py") == names(tree, "src", "top.py")
    elsewhere = tree.parent / "elsewhere"
    elsewhere.mkdir()
    assert names(elsewhere, inside[0]) == names(tree / "src", ".")
    assert names(elsewhere, *inside) == names(tree, "src", "top.py")
    assert names(elsewhere, str(tree / "src/*/*.py")) == ["deep/b.py"]
    assert names(elsewhere, inside[1]) == names(Path("/"), inside[1]) == ["top.py"]


def test_paths_that_lead_elsewhere_keep_their_names(tree: Path) -> None:
    write(tree.parent, {"beside/x.py": "x = 1\n"})
    assert names(tree, "../beside", str(tree.parent / "beside" / "x.py")) == ["../beside/x.py"]
    beside = str(tree.parent / "beside/x.py")
    assert names(tree, "top.py", beside) == ["top.py", beside]
    assert names(tree / "src", "../top.py") == ["../top.py"]


def test_samples_are_folders_files_and_patterns(tree: Path, orders: Path) -> None:
    cache = orders.parents[2]
    files, _ = read_files(
        ["sample:orders/orders/domain/money.py", "sample:orders/docs", "sample:orders/*.toml"], Settings(), cache, tree
    )
    found = [file.module_name for file in files]
    assert found[0] == "orders/domain/money.py"
    assert "docs/refunds.md" in found
    assert found[-1] == "orders.toml" or "pyproject.toml" in found


@pytest.mark.parametrize("word", ["no/such.py", "src/none", "top.py/x", "a\0b", "x" * 5000, ""])
def test_what_is_not_there_is_an_error_that_names_it(tree: Path, word: str) -> None:
    if not word:
        assert names(tree, word) == names(tree, ".")
        return
    with pytest.raises(SecateurError) as error:
        names(tree, word)
    assert error.value.code in ("NO_SUCH_FILE", "UNREADABLE")
    assert error.value.hint
    assert len(error.value.message) < 200


def test_a_broken_pattern_is_a_usage_error(tree: Path) -> None:
    with pytest.raises(UsageError, match="not a pattern"):
        names(tree, "src/[z-a]*")
    with pytest.raises(SecateurError, match="nothing matches"):
        names(tree, "src/[")


@pytest.mark.skipif(IS_ROOT, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_an_error_that_names_it(tree: Path) -> None:
    (tree / "top.py").chmod(0)
    with pytest.raises(SecateurError, match=r"cannot read top\.py"):
        names(tree, "top.py")


def test_the_settings_of_the_index_hold_for_folders_and_patterns_only(tree: Path) -> None:
    write(tree, {"src/large.py": "x = 1\n" * 1000})
    limits = {"index.max_file_kb": 1, "index.ignore": ["deep/"]}
    assert names(tree, "src/*.py", **limits) == ["src/a.py"]
    assert "src/deep/b.py" not in names(tree, "src", **limits)
    assert names(tree, "src/large.py", "src/deep/b.py", **limits) == ["src/large.py", "src/deep/b.py"]


def test_a_folder_that_is_a_link_is_named_in_the_error(tree: Path) -> None:
    write(tree.parent, {"beside/x.py": "x = 1\n"})
    (tree / "leads").symlink_to(tree.parent / "beside")
    with pytest.raises(SecateurError, match=r"^leads is a link that leads elsewhere") as error:
        names(tree, "leads")
    assert error.value.code == "SYMBOLIC_LINK"


def test_only_the_beginning_of_a_file_says_whether_it_is_text(tree: Path) -> None:
    text = "x = 1\n" * (HEAD_BYTES // 6 + 1)
    write(tree, {"late.py": text + "\0", "early.py": "\0" + text})
    assert names(tree, "late.py", "early.py") == ["late.py"]


@pytest.mark.parametrize("trusted", [False, True])
def test_another_repositorys_git_folder_is_trusted_where_the_user_says_so(tree: Path, trusted: bool) -> None:
    folder = tree.parent / "folder"
    write(folder, {"a.py": "a = 1\n", ".git": f"gitdir: {tree / '.git'}\n"})
    files, notices = read_files(
        ["."], with_values(Settings(), {"index.trust_git_dir": trusted}), tree / "cache", folder
    )
    assert "a.py" in [file.module_name for file in files]
    assert ("git_foreign" in [notice.code for notice in notices]) is not trusted
