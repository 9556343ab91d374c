"""Patterns as a shell reads them, by the automaton that ignore rules use. Those of git are in `test_ignore.py`."""

from __future__ import annotations

import pytest
from secateur.sources.globs import ShellPattern


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "a/b.py", False),
        ("*.py", ".py", False),
        (".*", ".env", True),
        ("?", ".", False),
        ("[!a]x", ".x", False),
        ("[.]x", ".x", False),
        ("a.b", "a.b", True),
        ("**", "a/b", True),
        ("**", "a/.b", False),
        ("**/*.py", "a/.b/c.py", False),
        ("a/**/b", "a/b", True),
        ("a/**/**", "a/x/y", True),
        ("a**b", "a/b", False),
        ("a**/b", "ax/b", True),
        ("[a", "[a", True),
        ("[!]", "[!]", True),
        ("[]-]", "]", True),
        ("[^a]", "b", True),
        ("[[:digit:]]", "7", True),
        ("a\\*", "a\\bc", True),
        ("?.md", "文.md", True),  # one character, whatever its bytes
        ("[à-é].md", "è.md", True),
        ("[à-é].md", "ê.md", False),
        ("[!é].md", "ê.md", True),
        ("文*", "文書", True),
        ("文*", "書", False),
        ("?", "\udc80", True),  # a byte that is no text
        ("*", "a\nb", True),
    ],
)
def test_one_pattern_decides_as_a_shell_does(pattern: str, path: str, matches: bool) -> None:
    assert ShellPattern(pattern).matches(path) is matches


@pytest.mark.parametrize("pattern", ["[z-a]", "[é-à]*", "[[:nonsense:]]", "".join(map(chr, range(1000, 1128))) + "*"])
def test_what_is_no_pattern_is_said(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ShellPattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 60 + "b", "a" * 250), ("**/a*b/" * 30 + "z", "a/ab/" * 200), ("*[!b]" * 100 + "b", "é" * 250)],
)
def test_a_hostile_pattern_is_decided_in_this_lifetime(pattern: str, path: str) -> None:
    assert not ShellPattern(pattern).matches(path)  # a matcher that backtracks into each star never returns
