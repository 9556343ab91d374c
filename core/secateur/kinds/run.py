"""The one way to use any kind of context from Python.

    outcome = prune("envelope", path="envelope.json", model="gpt-4o")
    outcome.ledger.entries          # each input once: state, reason, tokens before and after
    print(format_outcome(outcome, "json"))  # what `secateur envelope --format json` prints

The functions and classes that the specs name are thin adapters beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from weakref import finalize

from secateur.errors import UsageError
from secateur.kinds import registry
from secateur.kinds.base import Environment, Kind, Outcome
from secateur.llm.interface import LanguageModel
from secateur.redaction import not_scanned
from secateur.settings import Settings


def prune(
    kind: str,
    settings: Settings | None = None,
    *,
    llm: LanguageModel | None = None,
    environment: Environment | None = None,
    **inputs: Any,
) -> Outcome[Any]:
    """Reads inputs and decides what of them goes out.

    Args:
        kind: name of a kind of context; `secateur.kinds.registry.kinds()` holds them all.
        settings: budgets, weights and strategies; by default the defaults, whatever configuration files say.
        llm: a language model to be asked where the kind has questions; None: none is.
        environment: what reading may use of the outside world.
        inputs: by name of the kind's `Input`s; those not given have their defaults.

    Raises:
        UsageError: there is no such kind or input; an input that is required is not given.
        SecateurError: as `Kind.read` and `Kind.decide`.
    """
    chosen, settings, environment = registry.kind(kind), settings or Settings(), environment or Environment()
    given = _checked(chosen, inputs)
    material = chosen.read(given, settings, environment.redacting(settings))
    try:
        outcome = chosen.answer(material, given, settings, llm, environment.progress)
    except BaseException:
        chosen.release(material)
        raise
    outcome = replace(outcome, of_settings=not_scanned(settings))
    finalize(outcome, chosen.release, material)  # its texts may still be read while somebody holds it
    return outcome


def format_outcome(outcome: Outcome[Any], form: str = "text", *, verbose: bool = False) -> str:
    """The outcome as its command prints it.

    Raises:
        UsageError: the kind has no such format.
    """
    return registry.kind(outcome.kind).render(outcome, form, verbose=verbose)


def _checked(kind: Kind[Any, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    known = {one.name: one for one in kind.inputs}
    for name in given:
        if name not in known:
            raise UsageError(f"{kind.name} has no input {name}", hint=f"inputs: {', '.join(known)}")
    missing = [one.name for one in kind.inputs if one.required and one.name not in given]
    if missing:
        raise UsageError(f"{kind.name} needs {' and '.join(missing)}", hint="give it by name")
    return kind.blank() | dict(given)
