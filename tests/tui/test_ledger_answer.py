from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from secateur.ledger import WRAPPER
from secateur.model import Entry, Ledger, Reason, State
from secateur.settings import Settings
from secateur_tui.state.ledger_answer import ABSENT, LedgerAnswer, LedgerComparison


@st.composite
def answers(draw: st.DrawFn) -> LedgerAnswer[None]:
    entries = []
    for name in draw(st.lists(st.sampled_from(["a", "b", "b[1]", "c", "日本", "[/x]"]), max_size=6, unique=True)):
        state = draw(st.sampled_from(State))
        before = draw(st.integers(0, 10_000_000))
        after = before if state is State.KEPT else draw(st.integers(0, before))
        entries.append(Entry(name, state, Reason.FITS, before, after))
    beside, around = (draw(st.sampled_from([0, 0, 17])) for _ in range(2))
    after = sum(entry.after for entry in entries) + beside
    ledger = Ledger.closed("any", draw(st.integers(0, 20_000_000)), entries, after, around=around)
    return LedgerAnswer(Settings(), ledger, None)


def answer_of(budget: int, *entries: Entry) -> LedgerAnswer[None]:
    ledger = Ledger.closed("any", budget, entries, sum(entry.after for entry in entries))
    return LedgerAnswer(Settings(), ledger, None)


@given(answers())
def test_every_item_has_a_name_of_its_own_and_the_sums_are_the_ledgers(answer: LedgerAnswer[None]) -> None:
    assert len(set(answer.ids)) == len(answer)
    assert all(answer.place_of[answer.ids[item]] == item for item in range(len(answer)))
    assert sum(total.items for total in answer.sums.values()) == len(answer)
    assert sum(total.before for total in answer.sums.values()) == answer.ledger.before
    assert sum(total.after for total in answer.sums.values()) == answer.ledger.after
    told = [entry for entry in answer.ledger.entries if entry.id != WRAPPER or entry.before or entry.after]
    assert list(answer.entries) == told, "an item is an entry, and only a wrapper of no tokens is no item"


@given(answers(), answers())
def test_a_comparison_accounts_for_every_token(then: LedgerAnswer[None], now: LedgerAnswer[None]) -> None:
    comparison = LedgerComparison(then, now)
    gone = sum(then.entries[item].after for item in comparison.vanished)
    assert sum(comparison.count_gained(item) for item in range(len(now))) - gone == now.ledger.after - then.ledger.after
    for item in range(len(now)):
        if item not in comparison.moved:
            place = comparison.place_then(item)
            assert (
                place != ABSENT
                and then.entries[place].after == now.entries[item].after
                and then.entries[place].state == now.entries[item].state
            )
    same = LedgerComparison(now, now)
    assert not same.moved and not same.vanished


def test_the_list_may_stand_in_another_order() -> None:
    answer = answer_of(9, *(Entry(name, State.KEPT, Reason.FITS, 1, 1) for name in "abc"))
    answer = replace(answer, order=(2, 0, 1)).work_out()
    assert [answer.line_of(answer.item_at(line)) for line in range(3)] == [0, 1, 2]
    assert answer.item_at(0) == 2
