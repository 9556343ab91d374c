"""The query of a search, and the engine that is opened for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secateur.kinds.environment import Environment, Inputs
from secateur.redaction import not_scanned, redact_typed
from secateur.settings import Settings

if TYPE_CHECKING:
    from secateur.engine import Engine


def query_of(inputs: Inputs, environment: Environment, settings: Settings) -> str:
    """The text of the query, without credentials; that of standard input where it is `-`."""
    query: str = inputs["query"]
    if query != "-":
        return redact_typed(query, settings.redaction)
    return environment.bytes_of(query, "query", instead="write the query instead of -").decode("utf-8", "replace")


def open_engine(inputs: Inputs, settings: Settings, environment: Environment) -> Engine:
    """An engine on what the inputs name."""
    # Imported here: who asks for the help, or for another kind, waits for no index.
    from secateur.engine import Engine

    engine = Engine.open(
        environment.folder_of(inputs["path"]),
        settings,
        rev=inputs["rev"] or None,
        environ=environment.environ,
        notices=(*environment.notices, *(() if environment.shared is not None else not_scanned(settings))),
    )
    engine.warns_of_index = environment.shared is None  # what is shared is the same on every machine
    return engine
