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
from secateur.kinds.diff import chunk_diff, render_chunks
from secateur.kinds.diff.comparison import ComparedStates
from secateur.kinds.diff.inputs import read_states
from secateur.kinds.diff.plan import LEFT_OUT
from secateur.model import State
from secateur.render.sentences import sentence
from secateur.settings import Settings, with_values
from secateur_tui.pages.diff import DiffPage, DiffWatch
from secateur_tui.state.diff_rows import DiffAnswer, RowKind, compare_chunks, format_chunks
from secateur_tui.state.ledger_answer import LedgerComparison
from secateur_tui.styled_text import plain
from secateur_tui.widgets.chunk_pages import text_of
from support.repos import git

DIFF = DiffPage(registry.get_kind("diff"))
TYPED = {field.name: "" for field in DIFF.fields}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pull_request(tmp_path)


def hold_row(answer: DiffAnswer, item: int, settings: Settings) -> Settings | str:
    """As the key does: a heading holds nothing."""
    number = answer.entry_number(item)
    return answer.kind.hold(answer.outcome, len(answer.ledger.entries) if number is None else number, settings)


def read(settings: Settings = LIMIT, **typed: str) -> Any:
    return DIFF.read(TYPED | {"path": PULL} | typed, settings, lambda *_: None)


def decided(settings: Settings = LIMIT, **typed: str) -> DiffAnswer:
    inputs = TYPED | {"path": PULL} | typed
    answer = DIFF.decide(DIFF.read(inputs, settings, lambda *_: None), inputs, settings)
    assert isinstance(answer.work_out(), DiffAnswer)
    return answer


def row_of(answer: DiffAnswer, path: str) -> int:
    return answer.place_of[path]


@pytest.mark.parametrize("limit", [300, 700, 2000, 9000])
@pytest.mark.parametrize("counter", ["o200k_base", "estimate"])
def test_the_rows_are_the_chunks_of_the_engine(limit: int, counter: str) -> None:
    settings = with_values(LIMIT, {"chunking.max_chunk_tokens": limit, "tokens.counter": counter})
    answer = decided(settings)
    chunks = chunk_diff(pull_request(), limit, counter=counter)
    assert answer.tokens == tuple(chunk.tokens for chunk in chunks)
    assert answer.ledger.shape() == chunks.ledger.shape()
    assert [sum(figures) for figures in zip(*(sums[1:] for sums in answer.sums.values()), strict=True)] == [
        chunks.ledger.before,
        chunks.ledger.after,
    ]
    shown = [
        [
            row.coverage.path
            for row in answer.rows
            if row.kind is RowKind.PIECE and row.chunk == chunk.index and row.coverage
        ]
        for chunk in chunks
    ]
    assert shown == [[file.path for file in chunk.files] for chunk in chunks]
    assert [row.coverage.path for row in answer.rows if row.kind is RowKind.LEFT_OUT and row.coverage] == [
        e.path for e in chunks.coverage if e.state == LEFT_OUT
    ]
    assert [answer.text(chunk.index) for chunk in chunks] == [chunk.text for chunk in chunks]
    assert len(answer.ids) == len(set(answer.ids)) == len(answer)


@pytest.mark.parametrize("limit", [300, 2000])
def test_the_screen_shows_the_ledger_of_the_engine(limit: int, tmp_path: Path) -> None:
    """Rules, instructions and findings that go in are among what the screen sums, as they are in the ledger."""
    write_repository(tmp_path)
    Path("SKILL.md").write_text("Look at the roundings.\n")
    Path("lint.txt").write_text("src/cart.py:2:5: error: too many places\nsrc/cart.py:3:1: odd\n")
    settings = with_values(LIMIT, {"chunking.max_chunk_tokens": limit})
    for typed in ({"skill": "SKILL.md"}, {"path": "shop", "base": "HEAD^", "skill": "SKILL.md", "linter": "lint.txt"}):
        answer = decided(settings, **typed)
        held = render_chunks(answer.plan).ledger
        assert (answer.ledger.before, answer.ledger.after) == (held.before, held.after)
        files = {entry.path for entry in answer.plan.coverage}
        shown = {path: [0, 0] for path in files}
        around = 0
        for item, row in enumerate(answer.rows):
            if row.coverage is not None:
                shown[row.coverage.path][0] += answer.entries[item].before
                shown[row.coverage.path][1] += answer.entries[item].after
            else:
                around += answer.entries[item].after
        assert shown == {entry.id: [entry.before, entry.after] for entry in held.entries if entry.id in files}
        assert around == held.entries[-1].after and held.entries[-1].id == "wrapper"
        assert sum(answer.tokens) == held.after


def test_a_file_keeps_its_name_when_it_is_cut_and_when_it_is_left_out() -> None:
    whole, cut = decided(with_values(LIMIT, {"chunking.max_chunk_tokens": 9000})), decided()
    rates = "src/shop/rates.py"
    assert whole.rows[row_of(whole, rates)].piece.part is None
    first = cut.rows[row_of(cut, rates)].piece
    assert first is not None and first.part is not None and first.number == 1
    out = decided(ignore="rates.py")
    assert (
        out.entries[row_of(out, rates)].state is State.DROPPED and out.rows[row_of(out, rates)].kind is RowKind.LEFT_OUT
    )


def test_what_moved_is_told_by_the_chunks_of_a_file() -> None:
    then, now = decided(), decided(with_values(LIMIT, {"chunking.max_chunk_tokens": 9000}), ignore="*.md !uv.lock")
    moved = compare_chunks(LedgerComparison(then, now))
    assert moved is not None and compare_chunks(LedgerComparison(then, then)).groups == {
        name: [] for name in moved.groups
    }
    told = {title: [entry.path for entry in entries] for title, entries in moved.groups.items()}
    assert (
        told["taken in"] == ["uv.lock"]
        and told["left out now"] == ["docs/refunds.md"]
        and "src/shop/rates.py" in told["in other chunks"]
    )
    assert (moved.was("uv.lock"), moved.was("vendor/tables.py")) == ("out", "")
    assert moved.was("docs/refunds.md") == format_chunks(then.chunks_of["docs/refunds.md"])
    assert format_chunks((2, 3, 4)) == "2-4" and format_chunks((4, 1)) == "1,4" and format_chunks(()) == "out"


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
        assert (turned.chunks_of[path] == ()) == (answer.chunks_of[path] != ())
        assert hold_row(turned, row_of(turned, path), held) == LIMIT
    assert hold_row(answer, 0, LIMIT) == "only a file is left out or taken in"


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
    assert decided(held, path="odd.diff").chunks_of == {name: (), other: (1,)}


def test_what_has_no_room_is_not_taken_in_by_a_pattern() -> None:
    Path("long.diff").write_text(
        "diff --git a/{0} b/{0}\nold mode 100644\nnew mode 100755\n".format("a b/" * 300 + "c")
    )
    tight = with_values(LIMIT, {"chunking.max_chunk_tokens": 100})
    answer = decided(tight, path="long.diff")
    assert hold_row(answer, len(answer) - 1, tight) == "no rule leaves it out: not even a line of it has room"


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
        assert render_chunks(turned.plan).output() == render_chunks(decided(settings, ignore=ignore).plan).output()
        assert max(turned.tokens, default=0) <= limit


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
    near = with_values(
        LIMIT, {"chunking.max_chunk_tokens": 900, "chunking.keep_together": False, "chunking.ignore": ["*.md"]}
    )
    for path, again in ((PULL, False), ("shop", True)):
        inputs = TYPED | {"path": path}
        assert (DIFF.reading_key(inputs, wide) != DIFF.reading_key(inputs, LIMIT)) is again
        assert DIFF.reading_key(inputs, near) == DIFF.reading_key(inputs, LIMIT)
        assert DIFF.reading_key(inputs | {"ignore": "*.md"}, LIMIT) == DIFF.reading_key(inputs, LIMIT)


def test_the_rules_of_a_repository_instructions_and_findings_are_in_its_chunks(tmp_path: Path) -> None:
    write_repository(tmp_path)
    Path("SKILL.md").write_text("Look at the roundings.\n")
    Path("lint.txt").write_text("src/cart.py:1:1: too many places\n")
    text = decided(path="shop", base="HEAD^", skill="SKILL.md", linter="lint.txt").text(1)
    assert (
        "## Project Rules\nRound half to even.\n" in text
        and "## Instructions\nLook at the roundings.\n" in text
        and "too many places" in text
    )
    nothing = decided(path="shop")
    assert len(nothing) == 0 and nothing.warnings[0].code == "nothing_changed"


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


@pytest.mark.parametrize("line", ["x" * 700_000, "日" * 700_000, "a b " * 175_000])
def test_the_preview_of_a_chunk_is_bounded(line: str) -> None:
    Path("long.diff").write_text(
        "diff --git a/x.txt b/x.txt\nindex 0000000..1111111 100644\n--- a/x.txt\n+++ b/x.txt\n@@ -1 +1"
        f" @@\n-x\n+{line}\n",
        encoding="utf-8",
    )
    answer = decided(
        with_values(
            LIMIT, {"chunking.max_chunk_tokens": 5_000_000, "chunking.max_file_kb": 9_000, "tokens.counter": "chars4"}
        ),
        path="long.diff",
        ignore="!x.txt",
    )
    assert len(answer.tokens) == 1
    drawn = text_of(answer, 0).lines
    assert max(len(plain(one)) for one in drawn) <= 4_000
    assert "more characters" in drawn[-1][0].text and len(drawn) < 400


def test_a_damaged_file_and_a_bad_finding_are_told(tmp_path: Path) -> None:
    (tmp_path / PULL).write_text(
        "diff --git a/bad.py b/bad.py\nindex 1..2 100644\n--- a/bad.py\n+++ b/bad.py\n@@ what @@\n" + pull_request()
    )
    (tmp_path / "lint.json").write_text('[{"filename": "src/shop/rates.py", "message": "odd"}, 7]')
    answer = decided(linter="lint.json")
    place = row_of(answer, "bad.py")
    assert answer.rows[place].kind is RowKind.LEFT_OUT and "line 5 is no head of a hunk" in sentence(
        answer.entries[place]
    )
    assert [notice.code for notice in answer.warnings][:2] == ["findings_passed_over", "damaged_files"]
    assert hold_row(answer, place, LIMIT) == "no rule leaves it out: the diff cannot be made or read there"
