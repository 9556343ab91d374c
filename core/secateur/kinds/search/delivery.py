"""The text, the messages and the exit code that the command of a search ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secateur.kinds.environment import Inputs
from secateur.kinds.outcomes import Delivery
from secateur.render.layouts import LAYOUTS
from secateur.render.notices import BESIDE_PACKS
from secateur.retrieval.answers import Answer

if TYPE_CHECKING:
    from secateur.engine import Engine

LOW = 4
"""Exit code of `--fail-on-low`, as of every check that finds what it looks for."""

REST = "note: the same search without --partial reads the rest, once; what was read is kept"


def search_delivery(
    answer: Answer, engine: Engine, inputs: Inputs, form: str, *, verbose: bool, partial: bool = False
) -> Delivery:
    """An answer as it is delivered; of a `partial` one nothing is asked that would wait for the rest."""
    said = []
    if verbose and not partial:
        status = engine.status()
        said.append(
            f"{status.source}: {status.files:,} files, {status.fragments:,} fragments, {status.read:,} read now,"
            f" cached answer: {answer.cached}"
        )
    if not answer.text:  # a pack of which the budget holds not even the reason why it is empty
        said += [f"warning: {warning.message}" for warning in answer.warnings]
    elif form in LAYOUTS:
        said += [f"warning: {warning.message}" for warning in answer.warnings if warning.code in BESIDE_PACKS]
    if partial:
        said.append(REST)
    code = LOW if inputs["fail_on_low"] and answer.low else 0
    return Delivery(answer.text, said=tuple(said), exit_code=code, kept=None if partial else engine.place_of(answer))
