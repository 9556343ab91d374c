"""The ways to use any kind of context, written once over `Kind`: from Python by `prune`, by a command with `carry_out`.

    outcome = prune("envelope", path="envelope.json", model="gpt-4o")
    outcome.ledger.entries          # each input once: state, reason, tokens before and after
    print(format_outcome(outcome, "json"))  # what `secateur envelope --format json` prints

The functions and classes that the specs name are thin adapters beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import finalize

from secateur import kinds, what_if
from secateur import render as rendering
from secateur.errors import UsageError
from secateur.kinds import registry
from secateur.kinds.base import Delivery, Kind, Outcome
from secateur.kinds.entry_redactions import redacted_page, with_redactions
from secateur.kinds.environment import Deciding, Environment, Inputs
from secateur.kinds.protocols import Delivers, Finds, KeepsAnswers, Locates, Proves, SpellsCommand, Steers
from secateur.kinds.steering import FilePlace, Steer, location_in
from secateur.llm import open_model
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.redaction import not_scanned
from secateur.settings import Loaded, Settings

if TYPE_CHECKING:  # what most commands never use is imported where it is
    import secateur.kinds.command_line
    import secateur.kinds.kind_trials
    import secateur.render.proofs
    import secateur.what_if.explanation  # noqa: F401 - the type checker needs to see it
    from secateur.llm.interface import LanguageModel, Reply
    from secateur.what_if.trials import Trials

MOST_ROUNDS = 4
"""The most rounds of questions that a kind may ask, each in the light of the replies."""

EXPLAIN = "explain"
"""The input that asks for proofs of what would change a decision."""

NOT_PROVEN = Notice("not_proven", "A model was asked, so nothing is proven of what would change this decision.")


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
    chosen, settings, environment = registry.get_kind(kind), settings or Settings(), environment or Environment()
    given = _checked(chosen, inputs)
    material = chosen.read(given, settings, environment.redacting(settings))
    try:
        outcome = answer_of(chosen, material, given, settings, llm, environment.progress)
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
    return render(registry.get_kind(outcome.kind), outcome, form, verbose=verbose)


def _checked(kind: Kind[Any, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    known = {one.name: one for one in kind.inputs}
    for name in given:
        if name not in known:
            raise UsageError(f"{kind.name} has no input {name}", hint=f"inputs: {', '.join(known)}")
    missing = [one.name for one in kind.inputs if one.required and one.name not in given]
    if missing:
        raise UsageError(f"{kind.name} needs {' and '.join(missing)}", hint="give it by name")
    return kind.blank_inputs() | dict(given)


def with_model(settings: Settings, *, asked: bool) -> Settings:
    """The settings as a kind decides by them: `llm.enabled` says whether a model is asked."""
    if settings.llm.enabled == asked:
        return settings
    return replace(settings, llm=replace(settings.llm, enabled=asked))


def answer_of(
    kind: Kind[Any, Any],
    material: Any,
    inputs: Inputs,
    settings: Settings,
    model: LanguageModel | None = None,
    progress: Progress = unreported,
) -> Outcome[Any]:
    """Decides; while that has questions, asks the model and decides again. Without a model nothing is asked."""
    settings = with_model(settings, asked=model is not None)
    outcome = kind.decide(material, inputs, settings, Deciding(progress))
    replies: list[Reply] = []
    for _ in range(MOST_ROUNDS):
        if model is None or not outcome.questions:
            break
        from secateur.llm.interface import replies_of

        replies += replies_of(model, outcome.questions, progress)
        outcome = kind.decide(material, inputs, settings, Deciding(progress, replies))
    return with_redactions(kind, material, outcome)


def carry_out(
    kind: Kind[Any, Any],
    inputs: Inputs,
    loaded: Loaded,
    environment: Environment,
    *,
    verbose: bool = False,
    also: Callable[[Outcome[Any]], None] | None = None,
) -> Delivery:
    """Reads, answers and delivers: what the command does.

    Args:
        also: takes the outcome while its texts can be read; then no finished answer will do.
    """
    if isinstance(kind, KeepsAnswers):
        return kind.carry_out(inputs, loaded, environment, verbose=verbose, also=also)
    settings = loaded.settings
    ahead = environment.ahead or bool(inputs.get(EXPLAIN))  # proofs decide under other settings too
    material = kind.read(inputs, settings, replace(environment.redacting(settings), ahead=ahead))
    try:
        asks = any(knob.value(settings) in knob.asking for knob in kind.knobs)
        model = open_model(settings.llm, environment.environ) if asks else None
        outcome = answer_of(kind, material, inputs, settings, model, environment.progress)
        outcome = replace(outcome, of_settings=(*loaded.notices, *not_scanned(settings)))
        if inputs.get(EXPLAIN) and outcome.calls:
            outcome = replace(outcome, notices=(*outcome.notices, NOT_PROVEN))
        elif inputs.get(EXPLAIN):
            tried = trials_of(kind, material, inputs, settings, outcome)
            outcome = replace(outcome, explanation=what_if.explanation.explain(tried, progress=environment.progress))
        if also is not None:
            also(outcome)
        told = () if environment.form in ("text", "json") else outcome.notices  # those have a place for them
        said = tuple(f"warning: {notice.message}" for notice in told)
        delivery = Delivery(render(kind, outcome, environment.form, verbose=verbose), said=said)
        return kind.deliver(delivery, outcome, inputs) if isinstance(kind, Delivers) else delivery
    finally:
        kind.release(material)


def trials_of(kind: Kind[Any, Any], material: Any, inputs: Inputs, settings: Settings, outcome: Outcome[Any]) -> Trials:
    """Deciding again what was decided, to prove what would change it. No model is asked."""
    settings = with_model(settings, asked=False)
    if isinstance(kind, Proves):
        return kind.trials(material, inputs, settings, outcome)
    return kinds.kind_trials.KindTrials(kind, material, inputs, settings, outcome)


def check_format(kind: Kind[Any, Any], form: str) -> None:
    """Raises UsageError: the kind has no such format."""
    if form not in kind.formats:
        known = " or ".join(sorted(kind.formats, key=lambda one: one != "text"))
        said = f"{kind.command} is printed as {known}, not as {form}"
        raise UsageError(said, hint="choose another --format")


def render(kind: Kind[Any, Any], outcome: Outcome[Any], form: str, *, verbose: bool = False) -> str:
    """The outcome in one of the kind's formats.

    Raises:
        UsageError: the kind has no such format.
    """
    check_format(kind, form)
    proven = outcome.explanation
    if form == "json":
        output = kind.output(outcome)
        if proven is not None:
            output = rendering.proofs.add_explanation(output, outcome.ledger.shape(), proven)
        return rendering.dumps_report(output) if isinstance(kind, Finds) else rendering.dumps(output, kind.one_line)
    if form == "text":
        page = redacted_page(kind, outcome, kind.page(outcome, verbose=verbose))
        return (page if proven is None else rendering.proofs.add_explanation_sections(page, proven)).text()
    return kind.leaving(outcome, form)


def location_of(
    kind: Kind[Any, Any], outcome: Outcome[Any], number: int, inputs: Inputs, environment: Environment
) -> FilePlace | None:
    """The file and line where an entry stands: by default in the file that is read."""
    if isinstance(kind, Locates):
        return kind.location(outcome, number, inputs, environment)
    line = kind.describe(outcome, number).line
    return location_in(environment.base, inputs[kind.inputs[0].name], line if isinstance(line, int) else 1)


def steer_entry(
    kind: Kind[Any, Any], outcome: Outcome[Any], number: int, settings: Settings, how: Steer
) -> Settings | str:
    """The settings with an entry overruled in a way, or no longer; or why that cannot be."""
    if isinstance(kind, Steers):
        return kind.steer(outcome, number, settings, how)
    return kind.hold(outcome, number, settings) if how is Steer.PIN else f"nothing in this list is {how.value}"


def command_line_of(
    kind: Kind[Any, Any], inputs: Inputs, settings: Settings, opened: Settings, outcome: Outcome[Any] | None = None
) -> str:
    """The command line of a decision, every flag spelled out, so that no configuration file can change it.

    Args:
        opened: the settings as they were loaded, which a file may hold.
        outcome: the decision: revisions are named as the commits that were read, texts in place of `-`.
    """
    if isinstance(kind, SpellsCommand):
        return kind.command_line(inputs, settings, opened, outcome)
    return kinds.command_line.command_line(kind, inputs, settings, opened)
