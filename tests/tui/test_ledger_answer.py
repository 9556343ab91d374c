from hypothesis import given
from hypothesis import strategies as st
from secateur.ledger import VERBS
from secateur.model import State, TrimAction, TrimReport
from secateur.settings import Settings
from secateur_tui.state.ledger_answer import ABSENT, LedgerAnswer, LedgerComparison
from secateur_tui.styled_text import plain, width
from secateur_tui.widgets.ledger_bar import draw_budget
from secateur_tui.widgets.ledger_list import draw_header, draw_item


@st.composite
def ledgers(draw: st.DrawFn) -> LedgerAnswer[None]:
    actions, states = [], []
    for section in draw(st.lists(st.sampled_from(["a", "b", "b[1]", "c", "日本", "[/x]"]), max_size=8)):
        state = draw(st.sampled_from(State))
        before = draw(st.integers(0, 10_000_000))
        after = before if state is State.KEPT else draw(st.integers(0, before))
        actions.append(TrimAction(section, VERBS[state], "reason", before, after))
        states.append(state)
    before, after = sum(action.before for action in actions), sum(action.after for action in actions)
    report = TrimReport(True, before, after, draw(st.integers(0, 20_000_000)), actions=tuple(actions))
    return LedgerAnswer(Settings(), report, None, states)


@given(ledgers())
def test_every_item_has_a_name_of_its_own_and_the_sums_are_the_reports(ledger: LedgerAnswer[None]) -> None:
    assert len(set(ledger.ids)) == len(ledger)
    assert all(ledger.place_of[ledger.ids[item]] == item for item in range(len(ledger)))
    assert sum(total.items for total in ledger.sums.values()) == len(ledger)
    assert sum(total.before for total in ledger.sums.values()) == ledger.report.before
    assert sum(total.after for total in ledger.sums.values()) == ledger.report.after
    kept = [action.action == "keep" for action in ledger.report.actions]
    assert [state is State.KEPT for state in ledger.states] == kept


@given(ledgers(), ledgers())
def test_a_comparison_accounts_for_every_token(then: LedgerAnswer[None], now: LedgerAnswer[None]) -> None:
    comparison = LedgerComparison(then, now)
    gone = sum(then.action(item).after for item in comparison.vanished)
    assert sum(comparison.gained(item) for item in range(len(now))) - gone == comparison.tokens
    for item in range(len(now)):
        if item not in comparison.moved:
            place = comparison.place_then(item)
            assert (
                place != ABSENT
                and then.action(place).after == now.action(item).after
                and then.states[place] == now.states[item]
            )
    same = LedgerComparison(now, now)
    assert not same.moved and not same.vanished and same.tokens == 0


@given(ledgers(), st.none() | ledgers(), st.integers(10, 200))
def test_bar_and_rows_keep_to_their_width(
    ledger: LedgerAnswer[None], baseline: LedgerAnswer[None] | None, cells: int
) -> None:
    comparison = LedgerComparison(baseline, ledger) if baseline is not None else None
    drawn, figures = draw_budget(ledger, comparison, cells)
    assert width(drawn) == cells and width(figures) <= cells
    head = draw_header(ledger, comparison, "#", "tail")
    rows = [draw_item(ledger, comparison, item, "#", lambda _: (), 80) for item in range(len(ledger))]
    assert {width(row) for row in rows} <= {width(head) - len("tail")}


def test_over_budget_is_said_with_its_figure() -> None:
    report = TrimReport(True, 900, 700, 500, actions=(TrimAction("a", "shorten", "r", 900, 700),))
    ledger = LedgerAnswer(Settings(), report, None, [State.SHORTENED])
    bar, figures = draw_budget(ledger, None, 70)
    assert "200 over 500" in plain(figures) and plain(bar).count("▚") == 20
    empty = LedgerAnswer(Settings(), TrimReport(False, 0, 0, 0), None, [])
    assert "free 0 of 0" in plain(draw_budget(empty, None, 70)[1])


def test_the_list_may_stand_in_another_order() -> None:
    actions = tuple(TrimAction(name, "keep", "r", 1, 1) for name in "abc")
    report = TrimReport(False, 3, 3, 9, actions=actions)
    ledger = LedgerAnswer(Settings(), report, None, [State.KEPT] * 3, order=(2, 0, 1)).prepared()
    assert [ledger.line_of(ledger.item_at(line)) for line in range(3)] == [0, 1, 2]
    assert ledger.item_at(0) == 2
