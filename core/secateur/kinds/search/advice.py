"""Advice below the first answer about a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secateur.directories import config_dir
from secateur.errors import SecateurError
from secateur.kinds.environment import Environment, Inputs
from secateur.settings.layers import Loaded

if TYPE_CHECKING:
    from secateur.engine import Engine

FIRST_ANSWER = "first answer"
"""The name under which is remembered that the comparison with the recommended profile was said."""


def advice(query: str, engine: Engine, inputs: Inputs, loaded: Loaded, environment: Environment) -> tuple[str, ...]:
    """Lines about what the recommended profile keeps, said once for a repository, where nobody chose a profile."""
    ui = loaded.settings.ui
    if not environment.advises or not ui.compare_first or "profile" in loaded.origins:
        return ()
    from secateur.kinds.search.first_answer import RECOMMENDED, first_answer
    from secateur.remembered.inspector_session import SessionStore

    sessions = SessionStore(config_dir(environment.environ), environment.folder_of(inputs["path"]), on=ui.remember)
    if not sessions.first_time(FIRST_ANSWER):
        return ()
    try:
        said = (answer := first_answer(engine, query, loaded.settings, environment.form)) and answer.sentence()
    except SecateurError:  # the answer itself is there
        return ()
    how = f"--profile {RECOMMENDED} asks so; secateur config --adopt {RECOMMENDED} makes it your default"
    return (f"note: {said}", f"      {how} (said once)") if said else ()
