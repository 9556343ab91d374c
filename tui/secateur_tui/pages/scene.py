"""All that the pages of a bench are drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from secateur_tui.actions import Keymap
from secateur_tui.jobs import Jobs
from secateur_tui.messages import HintProven
from secateur_tui.state.bench_state import BenchState
from secateur_tui.widgets.listing import Crossing


@dataclass
class Scene:
    """The state of a bench, what is under way, and what was worked out beside the answer. Parts of the screen write
    what they find out into it; whoever draws only reads."""

    state: BenchState[Any]
    jobs: Jobs
    keys: Keymap
    hints: Sequence[HintProven] = ()  # what would change the decision on the item at the cursor
    proving: bool = False  # whether further hints may come
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of each weight that changes nothing
    crossings: Sequence[Crossing] = ()  # what crosses the cut of the present answer one step up, and one down
