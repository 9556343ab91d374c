"""A part of a repository as globs: files, folders, and what lies below them."""

from __future__ import annotations

import pytest
from secateur.errors import UsageError
from secateur.sources.globs import RepositoryPart

PATHS = ("services/billing/tax.py", "services/billing/api/v1.py", "services/ship/api.py", "libs/a/src/x.py", "top.py")


@pytest.mark.parametrize(
    ("globs", "held"),
    [
        (["services/billing"], PATHS[:2]),
        (["services/billing/"], PATHS[:2]),
        (["./services/billing/**"], PATHS[:2]),
        (["services/*/api"], PATHS[1:2]),
        (["services/*"], PATHS[:3]),
        (["**/api*"], PATHS[1:3]),
        (["libs/*/src/**", "top.py"], PATHS[3:]),
        (["services/bill"], ()),
        (["*.py"], PATHS[4:]),
        (["**/*.py"], PATHS),
    ],
)
def test_a_part_holds_what_it_names_and_all_below(globs: list[str], held: tuple[str, ...]) -> None:
    part = RepositoryPart(globs)
    assert tuple(path for path in PATHS if part.holds(path)) == held


@pytest.mark.parametrize("glob", ["", "/", ".", "/services", "../other", "services/../..", "a[z-a]"])
def test_what_is_no_glob_of_a_path_below_is_refused(glob: str) -> None:
    with pytest.raises(UsageError, match="--only"):
        RepositoryPart([glob])
