"""What the bench says while there is nothing to show yet, or nothing at all: each kind of empty is named."""

import threading

import pytest
from inspector_kit import (
    KitStatus,
    ScriptedEngine,
    bench_of,
    inspector,
    make_pool,
    orders_engine,
    running,
    screen_lines,
    settle,
)
from secateur.errors import EmbeddingError, UsageError
from secateur.settings import Settings
from secateur_tui.app import run


async def text_of(
    engine: ScriptedEngine, settings: Settings | None = None, query: str = "refund", size: tuple[int, int] = (120, 40)
) -> str:
    app = inspector(engine, settings, query=query)
    async with app.run_test(size=size, notifications=True):
        return "\n".join(await settle(app))


async def test_no_query_shows_how_to_ask() -> None:
    text = await text_of(orders_engine(), query="")
    assert "Ask in the words of the task" in text and "A pause asks. Esc leaves the query" in text
    assert "42 files, 517 fragments indexed" in text
    assert "8,000" in text


async def test_nothing_matched() -> None:
    text = await text_of(ScriptedEngine(lambda query, _settings: make_pool([], query)))
    assert "Nothing matched refund" in text and "0 candidates" in text


async def test_nothing_indexed() -> None:
    text = await text_of(ScriptedEngine(lambda query, _settings: make_pool([], query), state=KitStatus(0, 0)))
    assert "Nothing is indexed here" in text and "Nothing matched" not in text


@pytest.mark.parametrize(("budget", "told"), [(0, "The budget is 0 tokens"), (20, "too small for any whole fragment")])
async def test_a_budget_too_small_keeps_the_candidates_in_sight_and_says_so(budget: int, told: str) -> None:
    text = await text_of(orders_engine(), Settings(budget=budget))
    assert told in text and "Money.round_half_even" in text and "nothing is sent" in text
    assert f"Budget ─ 0 of {budget} " in text and f"free {budget} " in text


async def test_an_error_shows_message_and_hint_and_can_be_left() -> None:
    def fail(query: str) -> None:
        if query == "refund":
            raise EmbeddingError(
                "the server at port 9 does not answer", hint="start it, or set embedding.model = static"
            )

    engine = orders_engine(before=fail)
    app = inspector(engine, query="refund")
    async with app.run_test(size=(120, 40)):
        text = "\n".join(await settle(app))
        assert "does not answer" in text and "embedding.model = static" in text
        text = "\n".join(await settle(app, "slash", "s"))
        assert "does not answer" not in text and "Money.round_half_even" in text


async def test_progress_of_the_index_is_counted() -> None:
    gate = threading.Event()

    def refresh(progress):
        progress("parsing", 1204, 5000)
        gate.wait(10)

    app = inspector(orders_engine(on_refresh=refresh), query="refund")
    async with app.run_test(size=(120, 40)) as pilot:
        while not any("1,204 of 5,000" in line for line in screen_lines(app)):
            await pilot.pause()
        assert any("indexing" in line for line in screen_lines(app)[:1])
        gate.set()
        text = "\n".join(await settle(app))
        assert "of 5,000" not in text and "● fresh" in text


async def test_quitting_stops_the_index_at_its_next_report() -> None:
    entered, gate, stopped = threading.Event(), threading.Event(), threading.Event()

    def refresh(progress):
        entered.set()
        gate.wait(10)
        try:
            progress("parsing", 1, 2)
        except BaseException:
            stopped.set()
            raise

    app = inspector(orders_engine(on_refresh=refresh))
    async with app.run_test(size=(120, 40)) as pilot:
        while not entered.is_set():
            await pilot.pause()
        app.exit(0)
    gate.set()
    assert stopped.wait(10)


async def test_no_colour_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(inspector(settings=Settings(budget=4000))) as app:
        styles = [
            segment.style
            for strip in app.screen._compositor.render_strips()
            for segment in strip.apply_filter(app._filters[-1], app.screen.background_colors[1])
            if segment.style
        ]
        assert styles
        for style in styles:
            for colour in (style.color, style.bgcolor):
                assert colour is None or colour.triplet is None or max(colour.triplet) - min(colour.triplet) <= 1, (
                    "shades of grey only"
                )


def test_a_bench_that_does_not_exist_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no bench kitchen"):
        run(".", settings=Settings(), bench="kitchen")


async def test_decisions_are_the_engines() -> None:
    async with running(inspector(settings=Settings(budget=4000))) as app:
        state = bench_of(app).state
        assert state.answer is not None and state.reading is not None
        assert (
            state.answer.selection.state
            == bench_of(app).kind_page.engine.select(state.reading.material.pool, state.settings).state
        ).all()
