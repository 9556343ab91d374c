"""Protocols for abilities of only some kinds of context. A kind has an ability if it has the methods; nothing is
registered. The functions of `run` check for them.
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
    """Its entries are found by a search instead of given: there are too many to look at all."""

    def walked(self, outcome: Outcome[Any], page: Page) -> tuple[Walk | None, Sequence[Section]]:
        """The calls around the outgoing entries, and the sections of a report below its list."""


@runtime_checkable
class Locates(Protocol):
    """Its entries have other locations than `Kind.describe` says, or lie in several files."""

    def location(self, outcome: Outcome[Any], index: int, inputs: Inputs, environment: Environment) -> FilePlace | None:
        """The file and line of an entry; None if it has none."""


@runtime_checkable
class Steers(Protocol):
    """Its user may overrule the decision on an entry, by settings."""

    def hold(self, outcome: Outcome[Any], index: int, settings: Settings) -> Settings | str:
        """The settings with the contents of this entry always kept, or no longer; or why that is impossible."""

    def steer(self, outcome: Outcome[Any], index: int, settings: Settings, how: Steer) -> Settings | str:
        """The settings with an entry pinned, excluded or boosted, or no longer; or why that is impossible."""

    def overruled(self, outcome: Outcome[Any], index: int, settings: Settings) -> Steer | None:
        """Returns how the settings overrule the decision on an entry; None if they do not. Cheap."""


@runtime_checkable
class Proves(Protocol):
    """It has its own trials, to prove what would change its decisions."""

    def trials(self, material: Any, inputs: Inputs, settings: Settings, outcome: Outcome[Any]) -> Trials:
        """The trials of a decision, to prove what would change it. No model is asked."""


@runtime_checkable
class Delivers(Protocol):
    """Its command writes files or prints further messages."""

    def deliver(self, delivery: Delivery, outcome: Outcome[Any], inputs: Inputs) -> Delivery:
        """Adds to the default output of a command."""


@runtime_checkable
class KeepsAnswers(Protocol):
    """It caches finished answers, and looks for one before it reads."""

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
    """Its command line has more than its inputs and flags."""

    def command_line(
        self, inputs: Inputs, settings: Settings, opened: Settings, outcome: Outcome[Any] | None = None
    ) -> str:
        """See `run.command_line_of`."""
