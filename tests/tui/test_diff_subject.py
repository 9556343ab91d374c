"""The Diff bench without a screen: rows that sum to the chunks, what moved, patterns and revisions that are typed."""

from pathlib import Path
from typing import Any

import pytest
from diff_kit import LIMIT, PULL, pull_request, write_pull_request, write_repository
from hypothesis import given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur.errors import BudgetExceeded, SecateurError, UsageError
from secateur.kinds import registry
from secateur.kinds.diff.chunks import render_chunks
from secateur.kinds.diff.comparison import ComparedStates
from secateur.kinds.diff.repository import read_states
from secateur.model import State
from secateur.render.page import sentence
from secateur.settings import Settings, with_values
from secateur_tui.pages.diff import DiffPage, DiffWatch
from secateur_tui.state.answer import ShownAnswer
from support.repos import git

DIFF = DiffPage(registry.get_kind("diff"))
TYPED = {field.name: "" for field in DIFF.fields}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pull_request(tmp_path)


def hold_row(answer: ShownAnswer[Any], item: int, settings: Settings) -> Settings | str:
    """As the key does: a heading holds nothing."""
    number = answer.entry_number(item)
    return answer.kind.hold(answer.outcome, len(answer.ledger.entries) if number is None else number, settings)


def read(settings: Settings = LIMIT, **typed: str) -> Any:
    return DIFF.read(TYPED | {"path": PULL} | typed, settings, lambda *_: None)


def decided(settings: Settings = LIMIT, **typed: str) -> ShownAnswer[Any]:
    inputs = TYPED | {"path": PULL} | typed
    return DIFF.decide(DIFF.read(inputs, settings, lambda *_: None), inputs, settings)


def chunks_of(answer: ShownAnswer[Any]) -> dict[str, tuple[int, ...]]:
    return {covered.path: covered.chunks for covered in answer.outcome.payload.plan.coverage}


def row_of(answer: ShownAnswer[Any], path: str) -> int:
    return answer.place_of[path]


def test_leaving_out_and_taking_in_is_a_pattern_and_once_more_takes_it_back() -> None:
    answer = decided()
    for path, pattern in (
        ("src/shop/cart.py", "/src/shop/cart.py"),
        ("uv.lock", "!/uv.lock"),
        ("vendor/tables.py", "!/vendor/tables.py"),
    ):
        held = hold_row(answer, row_of(answer, path), LIMIT)
        assert isinstance(held, Settings) and held.chunking.ignore == (pattern,)
        turned = decided(held)
        assert (chunks_of(turned)[path] == ()) == (chunks_of(answer)[path] != ())
        assert hold_row(turned, row_of(turned, path), held) == LIMIT
    assert hold_row(answer, len(answer) - 1, LIMIT) == "only a file can be left out or taken in"


@pytest.mark.parametrize(
    "name", ["a*b.py", "a[1].py", "q?.py", "back\\slash.py", "!x.py", "#x.py", "end ", "two  blanks.py"]
)
def test_the_pattern_of_a_file_is_about_that_file_alone(name: str) -> None:
    other = {"a*b.py": "acb.py", "a[1].py": "a1.py", "q?.py": "qq.py"}.get(name, "other.py")
    quoted = '"' + name.replace("\\", "\\\\") + '"'
    patch = (
        "diff --git {0} {1}\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ {1}\n@@ -0,0 +1 @@\n+x\n"
    )
    text = patch.format(f'"a/{quoted[1:]}', f'"b/{quoted[1:]}') + patch.format(f"a/{other}", f"b/{other}")
    Path("odd.diff").write_text(text)
    answer = decided(path="odd.diff")
    held = hold_row(answer, row_of(answer, name), LIMIT)
    assert isinstance(held, Settings)
    assert chunks_of(decided(held, path="odd.diff")) == {name: (), other: (1,)}


def test_what_has_no_room_is_not_taken_in_by_a_pattern() -> None:
    Path("long.diff").write_text(
        "diff --git a/{0} b/{0}\nold mode 100644\nnew mode 100755\n".format("a b/" * 300 + "c")
    )
    tight = with_values(LIMIT, {"chunking.max_chunk_tokens": 100})
    answer = decided(tight, path="long.diff")
    assert hold_row(answer, 0, tight) == "no rule leaves it out: not even a line of it has room"


@budgeted(max_examples=6, deadline=None)
@given(
    limits=st.lists(st.integers(100, 4000), min_size=1, max_size=4),
    patterns=st.sets(st.sampled_from(["*.md", "src/", "!uv.lock", "money.py"])),
)
def test_turning_is_pure_whatever_was_turned_before(limits: list[int], patterns: set[str]) -> None:
    Path(PULL).write_text(pull_request())
    material, ignore = read(), " ".join(sorted(patterns))
    for limit in limits:
        settings = with_values(LIMIT, {"chunking.max_chunk_tokens": limit})
        turned = DIFF.decide(material, TYPED | {"path": PULL, "ignore": ignore}, settings)
        again = decided(settings, ignore=ignore).outcome.payload.plan
        assert render_chunks(turned.outcome.payload.plan).output() == render_chunks(again).output()
        assert max(turned.outcome.payload.tokens, default=0) <= limit


def test_what_is_typed_is_what_is_compared() -> None:
    def asked(**typed: str) -> ComparedStates:
        return read_states(DIFF.given(TYPED | {"path": "sample:orders"} | typed))

    assert asked() == ComparedStates()
    assert asked(base=" main ", head="feature") == ComparedStates("main", "feature")
    assert asked(head="--worktree --untracked") == ComparedStates(None, None, False, True, True)
    for wrong in ("--all", "main --staged", "-x"):
        with pytest.raises(UsageError):
            read(path="sample:orders", head=wrong)
    held = with_values(LIMIT, {"chunking.ignore": ["*.sql"]})
    assert decided(held, ignore=" *.md  !docs/ ").outcome.settings.chunking.ignore == ("*.sql", "*.md", "!docs/")


def test_a_repository_is_read_again_where_its_diff_depends_on_a_knob_and_a_diff_file_is_not(tmp_path: Path) -> None:
    write_repository(tmp_path)
    wide = with_values(LIMIT, {"chunking.context_lines": 9, "chunking.signatures": True})
    near = with_values(LIMIT, {"chunking.max_chunk_tokens": 900, "chunking.ignore": ["*.md"]})
    for path, again in ((PULL, False), ("shop", True)):
        inputs = TYPED | {"path": path}
        assert (DIFF.reading_key(inputs, wide) != DIFF.reading_key(inputs, LIMIT)) is again
        assert DIFF.reading_key(inputs, near) == DIFF.reading_key(inputs, LIMIT)
        assert DIFF.reading_key(inputs | {"ignore": "*.md"}, LIMIT) == DIFF.reading_key(inputs, LIMIT)


def test_the_rules_of_a_repository_instructions_and_findings_are_in_its_chunks(tmp_path: Path) -> None:
    write_repository(tmp_path)
    Path("SKILL.md").write_text("Look at the roundings.\n")
    Path("lint.txt").write_text("src/cart.py:1:1: too many places\n")
    text = decided(path="shop", base="HEAD^", skill="SKILL.md", linter="lint.txt").outcome.payload.chunks[0].text
    assert (
        "## Project Rules\nRound half to even.\n" in text
        and "## Instructions\nLook at the roundings.\n" in text
        and "too many places" in text
    )
    nothing = decided(path="shop")
    assert len(nothing) == 0 and nothing.outcome.notices[0].code == "nothing_changed"


def test_a_commit_behind_the_bench_is_seen_and_so_is_another_diff(tmp_path: Path) -> None:
    root, watch = write_repository(tmp_path), DiffWatch()
    watch.read("shop")
    assert watch.changes() == ""
    git(root, "commit", "-q", "--allow-empty", "-m", "Third")
    assert watch.changes() == "the repository changed"
    watch.read(PULL)
    assert watch.changes() == ""
    Path(PULL).write_text("another")
    assert watch.changes() == "the file changed"


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    write_repository(tmp_path)
    Path("prose.diff").write_text("@@ nothing of a diff @@\n--- a\n+++ b\n@@ -1,9 +1 @@\n-x\n")
    for typed in (
        {"path": "nowhere"},
        {"path": "prose.diff"},
        {"base": "main"},
        {"path": "shop", "base": "nowhere"},
        {"skill": "nowhere"},
        {"linter": PULL},
    ):
        with pytest.raises(SecateurError) as caught:
            read(**typed)
        assert caught.value.hint
    Path("LONG.md").write_text("Look at everything. " * 2000)
    with pytest.raises(BudgetExceeded):
        decided(skill="LONG.md")


def test_a_damaged_file_and_a_bad_finding_are_told(tmp_path: Path) -> None:
    (tmp_path / PULL).write_text(
        "diff --git a/bad.py b/bad.py\nindex 1..2 100644\n--- a/bad.py\n+++ b/bad.py\n@@ what @@\n" + pull_request()
    )
    (tmp_path / "lint.json").write_text('[{"filename": "src/shop/rates.py", "message": "odd"}, 7]')
    answer = decided(linter="lint.json")
    place = row_of(answer, "bad.py")
    assert answer.entries[place].state is State.DROPPED and "line 5 is not a hunk header" in sentence(
        answer.entries[place]
    )
    assert [notice.code for notice in answer.outcome.notices][:2] == ["findings_passed_over", "damaged_files"]
    assert hold_row(answer, place, LIMIT) == "no rule leaves it out: the diff cannot be made or read there"
