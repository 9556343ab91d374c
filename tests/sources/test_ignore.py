"""Ignore rules agree with git's, one by one and on generated trees."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from secateur.sources.git import Git
from secateur.sources.ignore import IgnoreFilter, Rules
from secateur.sources.walk import list_with_git, walk

NO_PATTERNS = IgnoreFilter(())


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        ("*.log", b"a/b.log", True),
        ("*.log", b"a/b.logs", False),
        ("/a", b"a", True),
        ("/a", b"b/a", False),
        ("a/b", b"a/b", True),
        ("a/b", b"x/a/b", False),
        ("**/b", b"x/y/b", True),
        ("a/**", b"a/x/y", True),
        ("a/**", b"a", False),
        ("a/**/b", b"a/b", True),
        ("a/**/b", b"a/x/y/b", True),
        ("a/*/b", b"a/x/y/b", False),
        ("*", b".hidden", True),
        ("[ab]c", b"bc", True),
        ("[!ab]c", b"bc", False),
        ("[^ab]c", b"xc", True),
        ("[]-]c", b"]c", True),
        ("[a-c]x", b"bx", True),
        ("[[:digit:]]", b"7", True),
        ("[[:nonsense:]]", b"7", False),
        ("[a", b"[a", False),
        ("a\\*", b"a*", True),
        ("a\\*", b"ab", False),
        ("\\#a", b"#a", True),
        ("\\!a", b"!a", True),
        ("a ", b"a", True),
        ("a\\ ", b"a ", True),
        ("a\t", b"a", False),
        ("a\\", b"a", False),
        ("?", b"/", False),
        ("é", "é".encode(), True),
        ("??", "é".encode(), True),  # git compares bytes
    ],
)
def test_one_pattern_decides_as_git_documents(pattern: str, path: bytes, ignored: bool) -> None:
    assert (Rules.of([pattern]).decide(path, is_folder=False) is True) == ignored


def test_a_pattern_with_a_trailing_slash_matches_folders_only() -> None:
    rules = Rules.of(["build/"])
    assert rules.decide(b"x/build", is_folder=True) is True
    assert rules.decide(b"x/build", is_folder=False) is None


def test_the_last_rule_that_matches_decides() -> None:
    rules = Rules.parse(b"\xef\xbb\xbf# comment\r\n*.log\r\n!keep.log\r\n\r\nkeep.log.\n")
    assert rules.decide(b"x.log", is_folder=False) is True
    assert rules.decide(b"keep.log", is_folder=False) is False
    assert rules.decide(b"other", is_folder=False) is None


def test_a_file_below_an_ignored_folder_stays_ignored() -> None:
    patterns = IgnoreFilter(["vendor/", "!vendor/keep.py", "*.tmp"])
    assert patterns.ignores("a/vendor/keep.py")
    assert patterns.ignores("x.tmp/y")
    assert not patterns.ignores("vendored/keep.py")
    assert not IgnoreFilter(()).ignores("anything")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 60 + "b", b"a" * 250), ("**/a*b/" * 30 + "z", b"a/ab/" * 200), ("a*" * 100 + "[!a]", b"a" * 250)],
)
def test_a_hostile_pattern_is_decided_in_this_lifetime(pattern: str, path: bytes) -> None:
    assert (
        Rules.of([pattern]).decide(path, is_folder=False) is None
    )  # a matcher that backtracks into each star never returns


def empty_repository(root: Path) -> None:
    """What `git init` makes, without its process."""
    for folder in ("objects", "refs", "info"):
        (root / ".git" / folder).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


# `a**/` is left out: git before 2.41 decides it by comparing unrelated pointers
_PIECES = [
    "a",
    "b",
    "ab",
    "*",
    "?",
    "[ab]",
    "[!a]",
    "[a-b]",
    ".",
    "\\a",
    "\\*",
    "a*",
    "*b",
    "*a*",
    "a?b",
    "[",
    "é",
    "[[:alpha:]]",
    " ",
]
_SEGMENTS = st.one_of(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3).map("".join), st.just("**"))
_PATTERNS = st.builds(
    lambda bang, lead, segments, trail: bang + lead + "/".join(segments) + trail,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(_SEGMENTS, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "  ", "\\ "]),
).filter(
    lambda pattern: (
        "**"
        not in pattern.replace("/**/", "/")
        .removeprefix("**/")
        .removeprefix("/**/")
        .removeprefix("!**/")
        .removesuffix("/**")
    )
)
_NAMES = st.sampled_from(["a", "b", "ab", "aab", "ba", "a b", "*", ".a", "é", "c", "a "])
_PATHS = st.lists(_NAMES, min_size=1, max_size=3).map("/".join)


@st.composite
def _trees(draw: st.DrawFn) -> dict[str, bytes]:
    """Files by path; no path is a folder of another."""
    tree: dict[str, bytes] = {}
    for path in draw(st.lists(_PATHS, min_size=1, max_size=12, unique=True)):
        parts = path.split("/")
        if all("/".join(parts[:i]) not in tree for i in range(1, len(parts))) and not any(
            other.startswith(path + "/") for other in tree
        ):
            tree[path] = b"x"
    folders = sorted({""} | {path.rpartition("/")[0] + "/" for path in tree if "/" in path})
    for folder in draw(st.lists(st.sampled_from(folders), min_size=1, max_size=3, unique=True)):
        patterns = draw(st.lists(_PATTERNS, min_size=1, max_size=4))
        tree[folder + ".gitignore"] = "\n".join(patterns).encode()
    return tree


@given(st.lists(_trees(), min_size=1, max_size=5))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_our_walk_lists_what_git_lists(trees: list[dict[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        empty_repository(root)
        for number, tree in enumerate(trees):
            for path, content in tree.items():
                target = root / str(number) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        git = Git.discover(root)
        assert isinstance(git, Git)
        assert walk(root, NO_PATTERNS, 1000, top=root) == list_with_git(git, NO_PATTERNS, 1000)


def test_rules_above_the_opened_folder_hold(tmp_path: Path) -> None:
    empty_repository(tmp_path)
    (tmp_path / ".gitignore").write_text("*.log\n/a/b/secret\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / ".gitignore").write_text("!keep.log\n")
    (tmp_path / ".git" / "info" / "exclude").write_text("excluded\n")
    for name in ("x.log", "keep.log", "secret", "excluded", "plain"):
        (inner / name).write_text("x")
    git = Git.discover(inner)
    assert isinstance(git, Git)
    expected = ["keep.log", "plain"]
    assert [found.path for found in list_with_git(git, NO_PATTERNS, 1000).files] == expected
    assert [found.path for found in walk(inner, NO_PATTERNS, 1000, top=tmp_path).files] == expected
