"""The one rule for paths that came with a folder, whatever its files, links and their names are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from secateur.sources.files import LeadsOut, confine_path

NAMES = ("a", "b", "sample:x.log", "sample:orders", ".git", ".GIT", "[slug]", "*", "c.log")
PARTS = st.sampled_from((*NAMES, "..", ".", "", "missing", "sample:orders/..", "~", "secret"))
TEXTS = st.builds(
    lambda prefix, parts: prefix + "/".join(parts),
    st.sampled_from(("", "", "sample:", "sample:orders/", "./", "/", "//")),
    st.lists(PARTS, max_size=7),
)
TARGETS = ("file", "folder", "../secret", "..", "../other", "/", ".git", ".", "nowhere", "../root/a", "a", "ring")


@contextmanager
def layout(made: list[tuple[str, str, str]]) -> Iterator[Path]:
    """A folder `root` beside a file `secret` and a folder `other`; entries are files, folders, or links to TARGETS."""
    with tempfile.TemporaryDirectory() as temporary:
        outside = Path(temporary).resolve()
        root = outside / "root"
        (outside / "other").mkdir()
        root.mkdir()
        (outside / "secret").write_text("secret")
        (outside / "other" / "secret").write_text("secret")
        for folder, name, target in made:
            place = (root / folder if (root / folder).is_dir() and not (root / folder).is_symlink() else root) / name
            if place.exists() or place.is_symlink():
                continue
            if target == "file":
                place.write_text("inside")
            elif target == "folder":
                place.mkdir()
            else:
                place.symlink_to(place if target == "ring" else target)
        yield root


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(TARGETS)), max_size=8), TEXTS)
@example([("", "sample:x.log", "../secret")], "sample:x.log")
@example([], "sample:orders/../../secret")
@example([("", "a", "..")], "a/other/secret")
@example([("", "a", "folder"), ("a", "b", "../secret")], "a/*/../b")
@example([("", "[slug]", "../other")], "[slug]/secret")
def test_what_is_read_lies_in_the_folder_whatever_the_text_and_the_links(made: list[tuple[str, str, str]], text: str):
    with layout(made) as root:
        try:
            real = confine_path(text, root)
        except LeadsOut:
            return
        assert real.is_relative_to(root)
        assert not any(part.lower() == ".git" for part in real.relative_to(root).parts)
        place = root / text
        assert not place.is_file() or place.read_text() == "inside"


@pytest.mark.parametrize("text", ["a/b.py", ".", "", "a/../a/b.py", "src/**/*.py", "not there", "sample:orders/a"])
def test_what_lies_in_the_folder_is_given(tmp_path: Path, text: str):
    assert confine_path(text, tmp_path) == (tmp_path / text).resolve()


def test_an_absolute_path_counts_by_where_it_leads(tmp_path: Path):
    (tmp_path / "root").mkdir()
    assert confine_path(str(tmp_path / "root" / "a"), tmp_path / "root") == tmp_path.resolve() / "root" / "a"
    with pytest.raises(LeadsOut, match="leads out of the repository"):
        confine_path(str(tmp_path / "a"), tmp_path / "root")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("../a", "leads out of the repository"),
        ("a/../../root/a", "leads out of the repository"),
        ("link/secret", "is a link that leads out of the repository"),
        (".git/config", "leads into the data of git"),
        ("inside/config", "leads into the data of git"),
        ("**/../../a", "leads out of the repository"),
        ("ring", "cannot be read: "),
        ("a\0b", "cannot be read: "),
    ],
)
def test_a_refusal_says_what_the_path_does(tmp_path: Path, text: str, said: str):
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path)
    (root / "inside").symlink_to(".git")
    (root / "ring").symlink_to("ring")
    with pytest.raises(LeadsOut, match=said):
        confine_path(text, root)
