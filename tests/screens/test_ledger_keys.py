"""Keys, fields and states of the benches over a ledger."""

import json
import shlex
import threading
from pathlib import Path

import pytest
from inspector_kit import ORDERS, Pace, ScriptedEngine, make_pool, press, running, settle
from ledger_kit import ENVELOPE, TRANSCRIPT, WRITERS, ledger_bench, opened
from secateur.errors import BudgetExceeded, RepositoryError
from secateur.kinds.conversation.strategies import prune
from secateur.kinds.conversation.transcripts import read_transcript
from secateur.kinds.registry import get_kind
from secateur.kinds.run import format_outcome
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from secateur_tui.pages.conversation import ConversationPage
from secateur_tui.screen import Bench
from secateur_tui.widgets.dialogue import ModalPage, QueryInput
from support.cli import secateur

ZONE = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000})
SCANNED = {"redaction.scanner": "rules"}  # as the user's file says in all tests
SIZE = (120, 40)


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for write in WRITERS.values():
        write(tmp_path)


@pytest.mark.parametrize("bench", list(WRITERS))
async def test_every_knob_turns_its_setting_and_the_answer_follows(bench: str) -> None:
    async with running(opened(bench, ZONE), SIZE) as app:
        screen = ledger_bench(app)
        await press(app, "w")
        for knob in screen.kind_page.kind.knobs:
            before = knob.value(screen.state.settings)
            await settle(app, "right")
            if knob.value(screen.state.settings) == before:
                await press(app, "left")  # it stood at the end of its range
                await settle(app)
            assert knob.value(screen.state.settings) != before, knob.label
            assert screen.state.answer is not None and screen.state.answer.settings == screen.state.settings
            await settle(app, "r")
            assert knob.value(screen.state.settings) == before, knob.label
            await press(app, "down")


async def test_the_budget_moves_in_round_steps_from_what_is_in_force() -> None:
    app = opened("envelope")
    async with app.run_test(size=SIZE):
        lines = await settle(app)
        assert any("5,734 follows from the model" in line for line in lines), "70 % of 8,192"
        assert any("2,458 is the rest" in line for line in lines), "as the headline has it"
        for key, budget in (("B", 5500), ("B", 5000), ("b", 5500), ("u", 5000), ("U", 5500)):
            await settle(app, key)
            answer = ledger_bench(app).state.answer
            assert answer is not None and answer.ledger.budget == budget


async def test_undo_takes_everything_back_and_the_ghost_is_what_was_before() -> None:
    async with running(opened("conversation", ZONE), SIZE) as app:
        screen = ledger_bench(app)
        first = screen.state.answer
        assert first is not None
        await settle(app, "B", "s", "b")
        assert screen.state.baseline is first
        await settle(app, "u", "u", "u")
        assert screen.state.answer is not None and screen.state.answer.ledger.shape() == first.ledger.shape()
        lines = await settle(app, "x")
        assert not any(" was " in line for line in lines[:8])


async def test_a_burst_of_steps_ends_in_the_decision_on_the_last() -> None:
    async with running(opened("conversation", ZONE), SIZE) as app:
        for _ in range(12):
            await press(app, "B")
        await settle(app)
        state = ledger_bench(app).state
        assert state.settings.conversation_prune.safe_zone_tokens == 800, "eight steps of 250, then of 50"
        assert (
            state.answer is not None
            and state.answer.ledger.budget == state.settings.conversation_prune.safe_zone_tokens
        )


async def test_the_cursor_stays_on_its_message() -> None:
    async with running(opened("conversation", ZONE), SIZE) as app:
        screen = ledger_bench(app)
        await settle(app, "end", "up", "up")
        name = screen.state.answer.ids[screen.state.cursor] if screen.state.answer else ""
        await press(app, "s")  # summaries come before it
        await settle(app)
        assert screen.state.answer is not None
        assert screen.state.settings.conversation_prune.strategy == "summarize"
        assert screen.state.answer.ids[screen.state.cursor] == name
        assert screen.state.answer.entries[screen.state.cursor].id == name


async def test_a_message_can_be_pinned_and_let_go() -> None:
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        screen = ledger_bench(app)
        lines = await settle(app, "K")
        assert any("only a message can be pinned" in line for line in lines), "the cursor is on the request"
        await settle(app, "down", "down", "down", "down", "K")
        answer = screen.state.answer
        assert answer is not None
        assert screen.state.settings.pins == (answer.entries[screen.state.cursor].id,)
        assert answer.entries[screen.state.cursor].state is State.KEPT
        assert sum(entry.reason is Reason.PINNED for entry in answer.entries) == 1, "one message, not all of its tool"
        await settle(app, "space")
        assert screen.state.settings.pins == ()


async def test_decisions_are_the_engines() -> None:
    async with running(opened("conversation", ZONE), SIZE) as app:
        await settle(app, "B", "B")
        state = ledger_bench(app).state
        assert state.answer is not None
        again = prune(read_transcript(Path(TRANSCRIPT).read_bytes(), TRANSCRIPT), state.settings)
        assert (
            state.answer.ledger.shape() == again.ledger.shape()
            and state.answer.outcome.payload.messages == again.messages
        )


# --- the command line -------------------------------------------------------------------------------------------------

CASES = [
    ("conversation", ZONE, "B B"),
    ("conversation", ZONE, "s w up right right"),
    ("conversation", ZONE, "s s b p"),
    ("conversation", ZONE, "down down down K"),
    (
        "conversation",
        with_values(ZONE, {"tokens.counter": "chars4", "conversation_prune.keep_last": 3}),
        "w down down down 0",
    ),
    ("envelope", Settings(), "B B"),
    ("envelope", Settings(), "w down down right right right"),
    (
        "envelope",
        with_values(Settings(), {"context_budget.windows": {"gpt-4": 6000}, "context_budget.tokens": 4500}),
        "w r 0",
    ),
    ("files", with_values(Settings(), {"context_prune.max_tokens": 800}), "s B"),
    ("files", with_values(Settings(), {"context_prune.max_tokens": 400}), "s w down down right"),
]


@pytest.mark.parametrize(("bench", "settings", "keys"), CASES)
async def test_the_copied_command_reproduces_the_answer(bench: str, settings: Settings, keys: str) -> None:
    async with running(opened(bench, with_values(settings, SCANNED)), SIZE) as app:
        await settle(app, *keys.split())
        state = ledger_bench(app).state
        ledger, command = state.answer, ledger_bench(app).command()
        await settle(app, "y")
        assert isinstance(app.screen, ModalPage) and app.clipboard == command
    ran = secateur(*shlex.split(command)[1:], "--format", "json")
    assert ran.code == 0 and ledger is not None, ran.err
    assert ran.json == json.loads(format_outcome(ledger.outcome, "json"))


async def test_the_copied_command_repeats_what_overrides_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path))
    Path("secateur.toml").write_text("[conversation_prune]\nkeep_errors = 3\n", encoding="utf-8")
    app = opened("conversation", ZONE)  # as `--set conversation_prune.keep_errors=0` opens it
    async with running(app, SIZE):
        await settle(app, "y")
    assert "--set conversation_prune.keep_errors=0" in app.clipboard


def test_a_path_that_looks_like_a_flag_stays_a_path() -> None:
    command = ConversationPage(get_kind("conversation")).command({"path": "--all.json"}, Settings(), Settings())
    assert command.endswith(" -- --all.json")


# --- fields, errors, watching -----------------------------------------------------------------------------------------


async def test_a_path_is_typed_and_read_and_a_wrong_one_says_what_is_wrong() -> None:
    async with running(opened("conversation", path=""), SIZE) as app:
        screen = ledger_bench(app)
        assert isinstance(app.focused, QueryInput), "nothing is open: the field waits"
        lines = await settle(app, *"nowhere.json", "enter")
        assert any("cannot read nowhere.json" in line for line in lines)
        assert not any("NO_SUCH_FILE" in line for line in lines), "a code says nothing to a person"
        lines = await settle(app, "slash", "ctrl+u", *TRANSCRIPT, "enter")
        assert screen.state.question == TRANSCRIPT and any("35 messages" in line for line in lines)
        assert screen.state.answer is not None and app.focused is screen.home


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ('[{"role": "user", "content": 7}]', "$[0].content"),
        ('{"a": 1}', "holds no `messages`"),
        ("prose", "neither JSON nor text"),
    ],
)
async def test_a_file_that_is_no_transcript_is_an_error_on_the_screen(text: str, said: str) -> None:
    Path("wrong.json").write_text(text)
    app = opened("conversation", path="wrong.json")
    async with app.run_test(size=(80, 24)):
        screen = "".join(line.strip("│ ") + " " for line in await settle(app))
        assert said in screen and "Traceback" not in screen
        await settle(app, "b", "s", "i", "v", "d", "K", "y", "escape", "x")


async def test_a_budget_that_cannot_be_met_is_a_state_that_a_larger_one_ends() -> None:
    app = opened("envelope", with_values(Settings(), {"context_budget.tokens": 150}))
    async with app.run_test(size=SIZE):
        text = "\n".join(await settle(app))
        screen = ledger_bench(app)
        assert isinstance(screen.state.refusal, BudgetExceeded)
        assert "BUDGET_EXCEEDED" not in text and "target_snapshot" in text and "150 · not met" in text
        assert "12,341 tokens" in text, "what it holds, in the tokens of gpt-4"
        lines = await settle(app, "b")
        assert screen.state.refusal is None and any("of 200" in line and "free" in line for line in lines)
        await settle(app, "u")
        assert isinstance(screen.state.refusal, BudgetExceeded)


async def test_an_envelope_without_a_model_asks_for_it() -> None:
    app = opened("envelope", model="")
    async with app.run_test(size=SIZE):
        text = "\n".join(await settle(app))
        assert "no model is named" in text
        assert app.focused is ledger_bench(app).query_one("#field-model")
        await settle(app, *"gpt-4o", "enter")
        answer = ledger_bench(app).state.answer
        assert answer is not None and answer.ledger.budget == 89_600


async def test_another_model_is_compared_with_the_one_before() -> None:
    async with running(opened("envelope"), SIZE) as app:
        lines = await settle(app, "slash", "tab", "ctrl+u", *"gpt-4o", "enter")
        state = ledger_bench(app).state
        assert state.answer is not None and state.answer.ledger.budget == 89_600
        assert state.baseline is not None and state.baseline.ledger.budget == 5734
        assert any(" was " in line for line in lines[:8])


async def test_what_changes_on_disk_is_told_and_read_again() -> None:
    async with running(opened("conversation", ZONE), SIZE) as app:
        Path(TRANSCRIPT).write_text(json.dumps([{"role": "user", "content": "Only this."}]))
        ledger_bench(app).returned_to()
        lines = await settle(app)
        assert "the file changed" in lines[0]
        lines = await settle(app, "R")
        assert any("1 messages" in line or "1 message" in line for line in lines) and "fresh" in lines[0]


async def test_a_slow_reading_shows_progress_and_can_be_left() -> None:
    class Slow(ConversationPage):
        def read(self, inputs, settings, progress):
            progress("counting", 12, 40)
            release.wait()
            return super().read(inputs, settings, lambda *_: None)

    release = threading.Event()
    app = opened("conversation")
    bench = app.bench("conversation")
    assert isinstance(bench, Bench)
    bench.state.kind_page = Slow(get_kind("conversation"))
    async with app.run_test(size=SIZE) as pilot:
        while not (bench.is_mounted and bench.jobs.progress):
            await pilot.pause(0.01)
        await pilot.pause(0.01)
        from inspector_kit import screen_lines

        text = "\n".join(screen_lines(app))
        assert "Reading session.json" in text and "counting  12 of 40" in text
        release.set()
        assert any("35 messages" in line for line in await settle(app))


# --- between benches --------------------------------------------------------------------------------------------------


async def test_each_bench_stays_as_it_was_left() -> None:
    async with running(opened("conversation", ZONE), SIZE, notifications=True) as app:
        before = await settle(app, "B", "end")
        lines = await settle(app, "4")
        assert ledger_bench(app).name_of_bench == "envelope" and any(
            "prompt envelope can be opened" in line for line in lines
        )
        assert await settle(app, "escape", "3") == before
        assert any("it is open" in line for line in await settle(app, "3"))


async def test_a_folder_can_be_opened_for_the_search_later() -> None:
    engine = ScriptedEngine(lambda query, _settings: make_pool(query=query))

    def opener(path: str, settings: Settings) -> ScriptedEngine:  # noqa: ARG001 - as the application's own
        if path != "orders":
            raise RepositoryError(f"there is no folder {path}", hint="check the path")
        return engine

    async with running(opened("envelope", opener=opener), SIZE) as app:
        lines = await settle(app, "1")
        assert ledger_bench(app).state.kind_page.unopened and any(
            "A folder can be opened here" in line for line in lines
        )
        assert any("there is no folder elsewhere" in line for line in await settle(app, *"elsewhere", "enter"))
        await settle(app, "ctrl+u", *"orders", "enter")
        assert not ledger_bench(app).state.kind_page.unopened
        lines = await settle(app, *"refund", "enter")
        assert any(f"{len(ORDERS)} candidates" in line for line in lines)
        assert any(f"{len(ORDERS)} candidates" in line for line in await settle(app, "4", "1"))


async def test_the_counter_of_a_bench_is_the_one_that_was_weighed_with() -> None:
    app = opened("conversation", with_values(ZONE, {"tokens.counter": "chars4"}))
    async with app.run_test(size=SIZE):
        lines = await settle(app)
        assert "chars4" in lines[0]
        answer = ledger_bench(app).state.answer
        assert answer is not None
        whole = prune(read_transcript(Path(TRANSCRIPT).read_bytes()), answer.settings)
        assert answer.ledger.shape() == whole.ledger.shape() and get_counter("chars4").name == "chars4"


def test_an_envelope_is_told_by_how_it_begins(tmp_path: Path) -> None:
    from secateur.cli.inspect import bench_of

    assert bench_of(tmp_path) == "search"
    assert bench_of(tmp_path / "nowhere") == "search"
    assert bench_of(tmp_path / ENVELOPE) == "envelope"
    assert bench_of(tmp_path / TRANSCRIPT) == "conversation"
    (tmp_path / "results.txt").write_text("Then it ran.\n<tool_result tool_name='a'>b</tool_result>\n")
    assert bench_of(tmp_path / "results.txt") == "conversation"
    assert bench_of(tmp_path / "shop" / "cart.py") == "files"


# --- one rule for all fields ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bench", list(WRITERS))
async def test_a_pause_asks_and_escape_keeps_what_was_typed(bench: str) -> None:
    async with running(opened(bench), SIZE) as app:
        screen = ledger_bench(app)
        first = screen.kind_page.fields[0].name
        path = screen.state.inputs[first]
        screen.go_to(screen.field(first))
        await press(app, "ctrl+u", *"nowhere")
        assert any(("nowhere" in line and "is no" in line) or "cannot read" in line for line in await settle(app))
        await settle(app, "ctrl+u", *path)
        assert screen.state.answer is not None and not screen.state.needs_answer, "the pause asked"
        await settle(app, *"x", "escape")
        assert screen.field(first).value == f"{path}x" == screen.state.inputs[first]


async def test_the_slash_goes_to_the_query_after_a_path_that_does_not_exist_too() -> None:
    async with running(opened("files"), SIZE) as app:
        screen = ledger_bench(app)
        screen.go_to(screen.field(screen.kind_page.fields[0].name))
        await settle(app, "ctrl+u", *"nowhere", "escape")
        await press(app, "slash")
        assert app.focused is screen.field("query")


async def test_enter_asks_now_and_escape_too() -> None:
    for key in ("enter", "escape"):
        app = opened("files")
        app.pace = Pace(3600, 0.001, 0, proves=False)
        async with running(app, SIZE):
            screen = ledger_bench(app)
            await press(app, "slash")
            assert app.focused is screen.field("query"), "the slash goes to the query"
            await settle(app, *" mail", key)
            assert screen.state.answered.inputs == screen.state.wanted.inputs
            assert screen.state.inputs["query"].endswith(" mail")


async def test_what_is_typed_dims_the_answer_to_the_path_before() -> None:
    app = opened("conversation", ZONE)
    app.pace = Pace(3600, 0.001, 0, proves=False)
    async with running(app, SIZE):
        screen = ledger_bench(app)
        await press(app, "slash", "x")
        assert screen.query_one("#list").has_class("-stale") and screen.state.answer is not None
