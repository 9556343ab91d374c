"""Messages of commits as queries: what is left of them, and which of them say nothing."""

from __future__ import annotations

import pytest
from secateur.history import LONGEST, is_release, is_revert, query_of


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("Round refunds half to even (#812)\n", "Round refunds half to even"),
        ("fixes #12: cookie path ignores the blueprint prefix", "cookie path ignores the blueprint prefix"),
        ("Cookie path ignores prefix\n\nSigned-off-by: A <a@example.com>\n", "Cookie path ignores prefix"),
        ("Cookie path ignores prefix\n\nCo-authored-by: B <b@example.com>\n", "Cookie path ignores prefix"),
        ("Merge pull request #1 from a/b\n\nCookie path ignores prefix\n", "Cookie path ignores prefix"),
        (
            "Session opens twice\n\nThe second time it\nis empty.\n",
            "Session opens twice\n\nThe second time it\nis empty.",
        ),
    ],
)
def test_what_is_said_of_the_code_is_left(message: str, query: str) -> None:
    assert query_of(message) == query


@pytest.mark.parametrize(
    "message",
    ["", "\n\n", "wip", "fix typo", "Update docs and tests", "address review feedback", "#12", "1.2.3",
     "Merge branch 'main' into topic", "more fixes (#3)", "run latest black format"],
)  # fmt: skip
def test_messages_that_name_nothing_are_no_queries(message: str) -> None:
    assert query_of(message) == ""


def test_long_messages_are_cut() -> None:
    assert len(query_of("rounding refunds totals\n" + "x" * 1_000_000)) <= LONGEST


@pytest.mark.parametrize(
    "message",
    ["Revert \"Round refunds\"", "revert: round refunds", "Reapply rounding", "Roll back rounding", "Back out rounding",
     "Fix the build\n\nThis reverts commit 1234567."],
)  # fmt: skip
def test_reverts(message: str) -> None:
    assert is_revert(message)


@pytest.mark.parametrize(
    "message",
    ["1.2.3", "v2.0", "Release 1.2", "Bump version to 3", "Bump urllib3 from 1.0 to 2.0",
     "chore(deps): bump foo from 1 to 2", "start version 3.2.0.dev0", "update requirements",
     "[maven-release-plugin] prepare release gson-parent-2.10"],
)  # fmt: skip
def test_changes_of_versions(message: str) -> None:
    assert is_release(message)


@pytest.mark.parametrize(
    "message",
    ["Reverse proxies keep their prefix", "Update the cookie path", "Rolled logs are read", "Bumper cars collide"],
)
def test_other_commits_are_neither(message: str) -> None:
    assert not is_revert(message)
    assert not is_release(message)
