"""A recording is run without a screen: what each event changes, for every kind, and what cannot be run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from secateur.directories import data_dir
from secateur.errors import SecateurError
from secateur.kind_places import BUILT_IN
from secateur_lab.commands.demo import list_demos
from secateur_lab.replays.events import Captioned
from secateur_lab.replays.recording import Recording, parse_recording
from secateur_lab.replays.replaying import ReplayStep, ledger_digest, replay
from secateur_lab.scenarios.comparison import Aspect
from secateur_lab.scenarios.running import Session, session
from support.cli import secateur

EXAMPLES = data_dir("docs/examples")

MARKED = {"●": "kept", "◐": "shortened", "○": "dropped", "◍": "summarised"}
_SMALL = {"budget": 1000}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Session]:
    with session({"SECATEUR_CACHE_DIR": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"}) as opened:
        yield opened


def recording(folder: Path, *events: dict[str, object], head: dict[str, object] | None = None) -> Recording:
    lines = [{"replay": 1, "paths": "here"} | (head or {}), *events]
    path = folder / "a.replay.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return parse_recording(path.read_bytes(), path)


def of_log(folder: Path, *events: dict[str, object]) -> Recording:
    shutil.copy(EXAMPLES / "ci.log", folder)
    first = {"do": "open", "kind": "log", "input": {"path": "ci.log"}, "settings": {"log.max_tokens": 600}}
    return recording(folder, first, *events)


def states(step: ReplayStep) -> dict[str, str]:
    assert step.decided is not None
    return {one.id: one.entry.state.label for one in step.decided.listed}


def test_a_setting_changes_decisions_and_undo_takes_it_back(tmp_path: Path, opened: Session):
    found = of_log(tmp_path, {"do": "set", "values": {"log.max_tokens": 300}}, {"do": "undo"}, {"do": "redo"})
    first, turned, back, again = replay(found, opened)
    assert states(first)["130"] == "kept" and states(turned)["130"] == "dropped"
    change = next(one for one in turned.changes if one.id == "130")
    assert (
        change.what is Aspect.STATE
        and change.because == "needs 39, 16 of them for marks of left-out lines, only 12 left then"
    )
    assert [ledger_digest(step.decided.ledger) for step in (back, again) if step.decided] == [
        ledger_digest(step.decided.ledger) for step in (first, turned) if step.decided
    ]


def test_the_first_change_pins_the_baseline_that_a_comparison_is_with(tmp_path: Path, opened: Session):
    found = of_log(
        tmp_path,
        {"do": "set", "values": {"log.max_tokens": 300}},
        {"do": "set", "values": {"log.max_tokens": 600, "tokens.counter": "chars4"}},
        {"do": "compare"},
        {"do": "baseline"},
        {"do": "set", "values": {"tokens.counter": "o200k_base"}},
        {"do": "compare"},
    )
    steps = list(replay(found, opened))
    assert steps[3].then == steps[0].decided.ledger.after  # type: ignore[union-attr]
    assert steps[6].then == steps[2].decided.ledger.after  # type: ignore[union-attr]


def test_a_budget_that_cannot_be_met_is_a_step_and_no_end(tmp_path: Path, opened: Session):
    shutil.copy(EXAMPLES / "envelope.json", tmp_path)
    found = recording(
        tmp_path,
        {"do": "open", "kind": "envelope", "input": {"path": "envelope.json", "model": "gpt-4o"}},
        {"do": "set", "values": {"context_budget.tokens": 600}},
        {"do": "set", "values": {"context_budget.tokens": 4000}},
    )
    _, refused, met = replay(found, opened)
    assert refused.refusal is not None and refused.refusal.code == "AI_CONTEXT_BUDGET_EXCEEDED"
    assert met.refusal is None and met.decided is not None


def test_two_kinds_are_left_and_found_again_as_they_were(tmp_path: Path, opened: Session):
    shutil.copy(EXAMPLES / "envelope.json", tmp_path)
    found = of_log(
        tmp_path,
        {"do": "set", "values": {"log.max_tokens": 300}},
        {"do": "open", "kind": "envelope", "input": {"path": "envelope.json", "model": "gpt-4o"}},
        {"do": "bench", "kind": "log"},
        {"do": "undo"},
    )
    steps = list(replay(found, opened))
    assert [step.kind for step in steps] == ["log", "log", "envelope", "log", "log"]
    assert states(steps[4]) == states(steps[0])


def test_another_query_is_no_change_of_the_one_before(tmp_path: Path, opened: Session):
    asked = (
        {"do": "open", "kind": "search", "input": {"query": "refund", "path": "sample:orders"}, "settings": _SMALL},
        {"do": "input", "input": {"query": "stock"}},
    )
    _, other = replay(recording(tmp_path, *asked), opened)
    assert other.changes == () and other.then is None
    name = next(one for one, state in states(other).items() if state == "dropped")
    found = recording(tmp_path, *asked, {"do": "pin", "id": name}, {"do": "exclude", "id": name})
    *_, pinned, excluded = replay(found, opened)
    assert states(pinned)[name] == "kept"
    change = next(one for one in excluded.changes if one.id == name)
    assert change.was is not None and change.now is not None
    assert (change.was.reason, change.now.reason) == ("pinned", "excluded")


def test_what_was_recorded_is_held_against_what_is_decided(tmp_path: Path, opened: Session):
    (first,) = replay(of_log(tmp_path), opened)
    assert first.decided is not None
    ledger = first.decided.ledger
    seen = {"do": "decided", "after": ledger.after, "digest": ledger_digest(ledger)}
    steps = list(replay(of_log(tmp_path, seen, {**seen, "after": 1, "digest": "0" * 16}), opened))
    assert [step.differs for step in steps[1:]] == ["", f"{ledger.after} tokens in the output; 1 in the recording"]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"do": "undo"}, "there is nothing to take back"),
        ({"do": "redo"}, "there is nothing to take back any more"),
        ({"do": "compare"}, "there is nothing to compare with"),
        ({"do": "bench", "kind": "files"}, "the bench files has not been opened"),
        ({"do": "hold", "id": "none"}, "unknown item none"),
        ({"do": "set", "values": {"budget": 3}}, "budget is ignored by kind log"),
        ({"do": "set", "values": {"log.max_tokens": "x"}}, "settings: log.max_tokens = 'x' is not allowed"),
        ({"do": "set", "values": {"llm.base_url": "http://x"}}, "llm.base_url cannot be part of a recording"),
        ({"do": "profile", "name": "none"}, "profile: unknown profile 'none'"),
        ({"do": "input", "input": {"path": "../x"}}, "input.path = ../x leads out of the repository"),
        (
            {"do": "input", "input": {"path": "/etc/hosts"}},
            "input.path = /etc/hosts is not a path below the repository",
        ),
        ({"do": "input", "input": {"nope": "x"}}, "log has no input nope"),
        ({"do": "input", "input": {"path": "none.log"}}, "cannot read none.log"),
        ({"do": "open", "kind": "nope"}, "there is no kind of context named nope"),
        (
            {"do": "open", "kind": "log", "input": {"path": "ci.log"}, "settings": {"index.trust_git_dir": True}},
            "index.trust_git_dir cannot be part of a recording",
        ),
        (
            {"do": "open", "kind": "log", "input": {"path": "ci.log"}, "settings": {"embedding.base_url": "http://x"}},
            "embedding.base_url cannot be part of a recording",
        ),
    ],
)
def test_what_cannot_be_run_is_named_with_its_line(
    tmp_path: Path, opened: Session, event: dict[str, object], said: str
):
    found = of_log(tmp_path, {"do": "caption", "text": "here"}, event)
    with pytest.raises(SecateurError) as raised:
        list(replay(found, opened))
    assert f"a.replay.jsonl:4: {said}" in raised.value.message


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, opened: Session):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("x")
    (inside / "link").symlink_to(tmp_path / "secret")
    first = {"do": "open", "kind": "log", "input": {"path": "link"}}
    with pytest.raises(SecateurError, match="leads out"):
        list(replay(recording(inside, first), opened))


def test_paths_count_from_the_repository_unless_the_file_says_here(tmp_path: Path, opened: Session):
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "docs"
    folder.mkdir()
    shutil.copy(EXAMPLES / "ci.log", tmp_path)
    first = {"do": "open", "kind": "log", "input": {"path": "ci.log"}}
    (step,) = replay(recording(folder, first, head={"paths": "repository"}), opened)
    assert step.decided is not None
    with pytest.raises(SecateurError, match=r"cannot read ci.log"):
        list(replay(recording(folder, first), opened))


def test_there_is_a_demo_of_every_kind_and_each_drops_something_and_keeps_it_again(opened: Session):
    known = list_demos()
    assert list(known) == [place.name for place in BUILT_IN]
    for name, one in known.items():
        steps = list(replay(one, opened))
        moved = [change for step in steps for change in step.changes]
        assert any(step.decided and set(states(step).values()) - {"kept"} for step in steps), name
        assert any(change.what is not Aspect.TOKENS for change in moved), name
        assert {step.kind for step in steps} == {name}
        looked_at, decided = "", dict[str, str]()
        for step in steps:
            looked_at, decided = getattr(step.event, "id", looked_at), states(step) if step.decided else decided
            if looked_at and isinstance(step.event, Captioned) and (mark := re.search("[●◐○◍]", step.event.text)):
                assert decided[looked_at] == MARKED[mark[0]], step.event.text  # the first mark is of this item


def test_the_command_prints_what_each_event_changed(tmp_path: Path):
    found = of_log(
        tmp_path, {"do": "caption", "text": "look \x1b[31m"}, {"do": "set", "values": {"log.max_tokens": 300}}
    )
    ran = secateur("replay", found.path)
    assert (
        ran.code == 0
        and "118-120: shortened -> dropped: needs 21 more than the marks that it replaces, only 12 left then" in ran.out
    )
    assert "look ␛[31m" in ran.out and "\x1b" not in ran.out
    told = secateur("replay", found.path, "--format", "json", "--verbose").json
    assert [step["event"]["do"] for step in told["steps"]] == ["open", "caption", "set"]
    assert told["steps"][2]["ledger"]["after"] == told["steps"][2]["after"]


def test_demo_tells_the_story_and_names_the_others():
    ran = secateur("demo")
    assert (ran.code, ran.out) == (0, secateur("demo", "search").out)
    assert ran.err.count("secateur demo ") == len(BUILT_IN) - 1
    for part in ("The problem:", "The cut:", "Why not this one?", "What would keep it?", "secateur check"):
        assert part in ran.out
    wrong = secateur("demo", "serch")
    assert wrong.code == 2 and "did you mean search?" in wrong.err


@pytest.mark.parametrize("name", list_demos())
def test_every_stop_of_a_demo_has_a_caption(name: str):
    events = list_demos()[name].events
    stops = [number for number, event in enumerate(events) if not number or event.at - events[number - 1].at > 1]
    for first, end in zip(stops, [*stops[1:], len(events)], strict=True):
        assert any(isinstance(event, Captioned) for event in events[first:end]), events[first:end]
