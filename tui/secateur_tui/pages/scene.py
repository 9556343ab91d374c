"""Everything that the pages of a bench are drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from secateur.example_queries import ExampleQuery
from secateur.sources.git_log import HistoryCommit
from secateur.what_if.trials import Trials

from secateur_tui.actions import Keymap
from secateur_tui.jobs import Jobs
from secateur_tui.state.answer import ShownAnswer
from secateur_tui.state.bench_state import BenchState
from secateur_tui.state.proving import ProvenCurve, ProvenHint
from secateur_tui.widgets.listing import Crossing

REST, PROOFS = "rest", "proofs"  # the timer before proofs are worked out, and the group of their job


@dataclass
class Scene:
    """The state of a bench, what is under way, and what was worked out beside the answer. Parts of the screen write
    what they find out into it; whoever draws only reads."""

    state: BenchState[Any]
    jobs: Jobs
    keys: Keymap
    proven_of: ShownAnswer[Any] | None = None  # the answer that the following is proven of
    hints: Sequence[ProvenHint] = ()  # what would change the decision on the item at the cursor
    chosen_hint: int = 0  # the one that a key applies
    nothing: str = ""  # why nothing would, where that is known
    trials: Trials | None = None  # what these were proven with
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of each number that changes nothing
    not_known: str = ""  # the limit within which not every range is known, in words; "" for none
    curve: ProvenCurve | None = None  # what goes out against the budget
    crossings: Sequence[Crossing] = ()  # what crosses the cut of the present answer one step up, and one down
    typing: bool = False  # whether the keys go to a field
    examples: Sequence[ExampleQuery] = ()  # questions that the repository suggests
    query_lines: Mapping[str, Sequence[int]] | None = None  # per word of the query the lines of the item that hold it
    commits: Sequence[HistoryCommit] = ()  # the last that changed the file of the item
    screen: int = 0  # columns of the screen
    exact: bool = False  # whether figures are shown with all their decimals

    @property
    def proven(self) -> bool:
        """Tells whether the proofs are of the present answer, under the present settings."""
        answer = self.state.answer
        return answer is not None and answer is self.proven_of and answer.settings is self.state.settings

    @property
    def proving(self) -> bool:
        """Tells whether further proofs may come."""
        return self.jobs.waits(REST) or self.jobs.runs(PROOFS)

    @property
    def ranges_pending(self) -> str:
        """The reason why some ranges are missing; "" if all are there or none will come."""
        if self.proving:
            return "re-running …"
        known = not self.not_known or not self.proven
        return "" if known else f"not known: the search ended after {self.not_known}"
