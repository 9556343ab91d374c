"""A lever: a value, proven by deciding with it, that turns a decision, and what it costs."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from secateur.ledger import State
from secateur.what_if.trials import BUDGET, FAR, HOLD, Differences, TrialRuns, Tried

# The cost of a lever: whether it is far or exceeds the budget, whether it keeps less than all, the items that it drops
# or shortens, and tokens.
Cost = tuple[bool, bool, int, int]


class Lever(Struct, frozen=True):
    """A proven way to turn the decision on an item, and what it costs: what else it changes."""

    name: str  # BUDGET, HOLD, the name of a signal, or the key of a setting
    value: float | str
    typed: str  # as one types it: "--pin modules[7]", "--max-tokens 5990"
    others: Differences
    tokens: int  # tokens that leave with it, less those that leave now
    over: int = 0  # tokens by which what leaves then exceeds the budget
    state: State = State.KEPT  # of the item, with it
    far: bool = False  # whether it is a budget of more than twice the present one
    room: int = 0  # tokens by which it raises the budget
    grows: bool = False  # whether a part of the item goes out now, and with it a larger part
    again: int = 0  # a larger budget at which the item no longer goes out whole; 0: none that was tried
    portion: tuple[int, int] = (0, 0)  # tokens of the item that go out with it, of so many

    @property
    def cost(self) -> Cost:
        """Orders levers, the cheapest first: by the items that it drops or shortens, then by tokens."""
        near_and_whole = self.far or self.over > 0, self.state is not State.KEPT
        return *near_and_whole, self.others.dearer, max(self.tokens, self.room)


def make_lever(runs: TrialRuns, item: int, name: str, value: float | str, again: int = 0) -> Lever:
    """Makes the lever of a value that was tried. `item`: -1 for none."""
    trials, decided = runs.trials, runs.at(name, value)
    assert decided is not None
    held_at = name.removeprefix(f"{HOLD} ")
    budget = int(value) if name == BUDGET else int(held_at) if held_at.isdecimal() else trials.budget
    tokens, present = runs.leaving(name, value), runs.leaving(BUDGET, trials.budget)
    state = State(int(decided.state[item])) if item >= 0 else State.KEPT
    return Lever(
        name,
        value,
        trials.typed(name, value),
        runs.differences(name, value).without(item),
        tokens - present,
        over=0 if "chunks" in decided.figures else max(0, tokens - max(budget, present)),
        state=state,
        far=budget > FAR * trials.budget,
        room=budget - trials.budget,
        grows=state not in (State.KEPT, State.DROPPED) and bool(trials.now.out[item]) and not trials.now.whole[item],
        again=again,
        portion=trials.portion(item, decided) if item >= 0 else (0, 0),
    )


def improving(runs: TrialRuns, item: int, name: str, value: float | str) -> Lever | None:
    """Returns a lever if more of the item goes out with it; of one that goes out whole, less."""
    decided, now = runs.at(name, value), runs.trials.now
    if decided is None or decided.more_than(now)[item] * (-1 if now.whole[item] else 1) <= 0:
        return None
    return make_lever(runs, item, name, value)


def differs(runs: TrialRuns, decided: Tried, item: int) -> bool:
    return bool(decided.whole[item] != runs.trials.now.whole[item])


def nearest_turn(
    runs: TrialRuns,
    name: str,
    value_at: Callable[[int], float],
    still: int,
    numbers: Iterable[int],
    changes: Callable[[Tried], bool],
) -> int | None:
    """Returns the number next to `still` whose value changes the decision: the first of `numbers` that does, or one
    before it, found by halving the distance. None if none does, or if a nearer one could not be tried."""
    for turn in numbers:
        if (decided := runs.at(name, value_at(turn))) is not None and changes(decided):
            break
        still = turn
    else:
        return None
    while abs(turn - still) > 1:
        middle = (turn + still) // 2
        if (decided := runs.at(name, value_at(middle))) is None:
            return turn if runs.knows(name, value_at(middle)) else None
        turn, still = (middle, still) if changes(decided) else (turn, middle)
    return turn


def halve(still: int, turn: int, turns: Callable[[int], bool]) -> int:
    """Returns a number that turns, between one that does not and one that does, found by halving the distance."""
    while abs(turn - still) > 1:
        middle = (turn + still) // 2
        turn, still = (middle, still) if turns(middle) else (turn, middle)
    return turn
