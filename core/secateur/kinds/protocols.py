"""The abilities that only some kinds of context have. A kind has one by having its methods; nothing is registered. The
functions of `run` ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from secateur.kinds.environment import Environment, Inputs
from secateur.kinds.outcomes import Delivery, Outcome
from secateur.kinds.steering import FilePlace, Steer
from secateur.render.page import Page, Section
from secateur.settings import Loaded, Settings

if TYPE_CHECKING:  # what most commands never use is imported where it is
    from secateur.render.walk_shapes import Walk
    from secateur.what_if.trials import Trials


@runtime_checkable
class Finds(Protocol):
    """Its entries are found by a search, and not what was given: there are more of them than anybody looks at."""

    def walked(self, outcome: Outcome[Any], page: Page) -> tuple[Walk | None, Sequence[Section]]:
        """The calls around what goes out, and the sections that a report shows below its list."""


@runtime_checkable
class Locates(Protocol):
    """Its entries stand in other places than `Kind.describe` says, or in several files."""

    def location(
        self, outcome: Outcome[Any], number: int, inputs: Inputs, environment: Environment
    ) -> FilePlace | None:
        """The file and line where an entry stands; None for none."""


@runtime_checkable
class Steers(Protocol):
    """Its user may overrule the decision on an entry, by settings."""

    def hold(self, outcome: Outcome[Any], number: int, settings: Settings) -> Settings | str:
        """The settings with what this entry holds kept whatever happens, or no longer; or why that cannot be."""

    def steer(self, outcome: Outcome[Any], number: int, settings: Settings, how: Steer) -> Settings | str:
        """The settings under which an entry is pinned, excluded or boosted, or no longer; or why that cannot be."""

    def overruled(self, outcome: Outcome[Any], number: int, settings: Settings) -> Steer | None:
        """The way in which the settings overrule the decision on an entry; None: they do not. Cheap."""


@runtime_checkable
class Proves(Protocol):
    """Its decisions are tried in another way than those of any kind, to prove what would change them."""

    def trials(self, material: Any, inputs: Inputs, settings: Settings, outcome: Outcome[Any]) -> Trials:
        """Deciding again what was decided, to prove what would change it. No model is asked."""


@runtime_checkable
class Delivers(Protocol):
    """Its command writes files, or says more than the text."""

    def deliver(self, delivery: Delivery, outcome: Outcome[Any], inputs: Inputs) -> Delivery:
        """The output of the command, from that of any kind."""


@runtime_checkable
class KeepsAnswers(Protocol):
    """It keeps finished answers, and looks for one before it reads."""

    def carry_out(
        self,
        inputs: Inputs,
        loaded: Loaded,
        environment: Environment,
        *,
        verbose: bool = False,
        also: Callable[[Outcome[Any]], None] | None = None,
    ) -> Delivery:
        """See `run.carry_out`."""


@runtime_checkable
class SpellsCommand(Protocol):
    """Its command line is not just its inputs and flags."""

    def command_line(
        self, inputs: Inputs, settings: Settings, opened: Settings, outcome: Outcome[Any] | None = None
    ) -> str:
        """See `run.command_line_of`."""
