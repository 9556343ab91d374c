from hypothesis import given
from hypothesis import strategies as st
from secateur.ledger import WRAPPER
from secateur.model import Entry, Ledger, Reason, State
from secateur_tui.state.answer import ABSENT, AnswerComparison, ShownAnswer
from support.ledgers import answer_of


@st.composite
def answers(draw: st.DrawFn) -> ShownAnswer[None]:
    entries = []
    for name in draw(st.lists(st.sampled_from(["a", "b", "b[1]", "c", "日本", "[/x]"]), max_size=6, unique=True)):
        state = draw(st.sampled_from(State))
        before = draw(st.integers(0, 10_000_000))
        after = before if state is State.KEPT else draw(st.integers(0, before))
        entries.append(Entry(name, state, Reason.FITS, before, after))
    beside, around = (draw(st.sampled_from([0, 0, 17])) for _ in range(2))
    after = sum(entry.after for entry in entries) + beside
    ledger = Ledger.closed("any", draw(st.integers(0, 20_000_000)), entries, after, around=around)
    return answer_of(ledger)


@given(answers())
def test_every_item_has_a_name_of_its_own_and_the_sums_are_the_ledgers(answer: ShownAnswer[None]) -> None:
    assert len(set(answer.ids)) == len(answer)
    assert all(answer.place_of[answer.ids[item]] == item for item in range(len(answer)))
    assert (answer.before.sum(), answer.after.sum()) == (answer.ledger.before, answer.ledger.after)
    told = [entry for entry in answer.ledger.entries if entry.id != WRAPPER or entry.before or entry.after]
    assert list(answer.entries)[: len(answer)] == told, "only a wrapper of no tokens is no item"


@given(answers(), answers())
def test_a_comparison_accounts_for_every_token(then: ShownAnswer[None], now: ShownAnswer[None]) -> None:
    comparison = AnswerComparison(then, now)
    gone = sum(then.entries[item].after for item in comparison.vanished)
    assert sum(int(gained) for gained in comparison.gained) - gone == now.ledger.after - then.ledger.after
    for item in range(len(now)):
        if item not in comparison.moved:
            place = comparison.item_then[item]
            assert (
                place != ABSENT
                and then.entries[place].after == now.entries[item].after
                and then.entries[place].state == now.entries[item].state
            )
    same = AnswerComparison(now, now)
    assert not same.moved and not same.vanished


def test_the_list_may_stand_in_another_order() -> None:
    answer = answer_of([Entry(name, State.KEPT, Reason.FITS, 1, 1) for name in "abc"], order=(2, 0, 1))
    assert [answer.line_of(answer.item_at(line)) for line in range(3)] == [0, 1, 2]
    assert answer.item_at(0) == 2
