"""The parts of the screen: each a module with a class, listed in `PARTS`, for something that can be done there. A part
knows the screen; the screen knows no part."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from secateur_tui.part import ScreenPart
from secateur_tui.parts.asking import Asking
from secateur_tui.parts.comparing import Comparing
from secateur_tui.parts.counting import Counting
from secateur_tui.parts.exporting import Exporting
from secateur_tui.parts.finding import ItemFinding
from secateur_tui.parts.first_answers import FirstAnswers
from secateur_tui.parts.keeping import Keeping
from secateur_tui.parts.looking import Looking
from secateur_tui.parts.observing import Observing
from secateur_tui.parts.packing import ShowingPack
from secateur_tui.parts.program import Program
from secateur_tui.parts.proofs import Proofs
from secateur_tui.parts.remembering import Remembering
from secateur_tui.parts.replays import Replays
from secateur_tui.parts.scenarios import Scenarios
from secateur_tui.parts.staleness import Staleness
from secateur_tui.parts.steering import Steering
from secateur_tui.parts.tuning import Tuning
from secateur_tui.parts.walking import Walking
from secateur_tui.parts.window import FilledWindow
from secateur_tui.screen import Bench

PARTS: Sequence[Callable[[Bench], ScreenPart]] = (
    Scenarios,
    Asking,
    Tuning,
    Steering,
    Keeping,
    Remembering,
    FirstAnswers,
    Looking,
    Exporting,
    ShowingPack,
    Comparing,
    Walking,
    FilledWindow,
    ItemFinding,
    Proofs,
    Counting,
    Staleness,
    Observing,
    Replays,
    Program,
)
"""In the order in which they are asked why an action cannot be done, in which their notices stand, and their pages."""
