"""Revisions as the commits that they name now."""

from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.revisions import commit_of, with_commits
from support.repos import SHOP, committed, git


def test_revisions_of_every_kind_become_commits(tmp_path):
    shop = committed(tmp_path / "shop", SHOP)
    git(shop, "commit", "-q", "--allow-empty", "-m", "Nothing")
    first, second = git(shop, "rev-parse", "HEAD~1"), git(shop, "rev-parse", "HEAD")
    search, diff = registry.kind("search"), registry.kind("diff")
    inputs = search.blank() | {"query": "HEAD", "path": str(shop), "rev": "HEAD~1"}
    assert with_commits(search, inputs, Environment()) == inputs | {"rev": first}
    compared = diff.blank() | {"path": "shop", "base": "HEAD~1", "head": "HEAD"}
    there = Environment(folder=tmp_path)
    assert with_commits(diff, compared, there) == compared | {"base": first, "head": second}


def test_what_names_no_commit_stays_as_it_is(tmp_path):
    kind = registry.kind("search")
    for path, rev in ((tmp_path, "HEAD"), (tmp_path / "nowhere", "HEAD"), ("sample:nowhere", "HEAD")):
        inputs = kind.blank() | {"query": "x", "path": str(path), "rev": rev}
        assert with_commits(kind, inputs, Environment()) == inputs
    shop = committed(tmp_path / "shop", SHOP)
    assert commit_of(shop, "--all") == "--all" and commit_of(shop, "nowhere") == "nowhere"
    assert with_commits(kind, kind.blank(), Environment()) == kind.blank()
