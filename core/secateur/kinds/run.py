"""Uses any kind of context, written once over `Kind`: `prune` from Python, `carry_out` from a command.

    outcome = prune("envelope", path="envelope.json", model="gpt-4o")
    outcome.ledger.entries          # each input once: state, reason, tokens before and after
    print(format_outcome(outcome, "json"))  # what `secateur envelope --format json` prints

The functions and classes of the specs are thin adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import finalize

from msgspec import UNSET, UnsetType, structs

from secateur import kinds, what_if
from secateur import render as rendering
from secateur.errors import UsageError
from secateur.kinds import registry
from secateur.kinds.base import PIN, Delivery, Kind
from secateur.kinds.environment import Deciding, Environment, Inputs
from secateur.kinds.knobs import FilePlace, location_in
from secateur.kinds.protocols import Delivers, ExplainsMissing, Locates, Outcome, Proves, SpellsCommand
from secateur.ledger import Ledger, Notice, State
from secateur.llm import open_model
from secateur.progress import Progress, unreported
from secateur.redaction import Redactor, not_scanned
from secateur.render.page import Page, Section, add_pins, add_redactions, count_noun
from secateur.settings import Loaded, Settings, with_values
from secateur.shape import dumps, dumps_report
from secateur.suggestions import near_ids
from secateur.terminal import clip, visible

if TYPE_CHECKING:  # what most commands never use is imported where it is
    import secateur.kinds.command_line
    import secateur.kinds.kind_trials
    import secateur.render.proofs
    import secateur.what_if.explanation
    import secateur.what_if.trials  # noqa: F401 - the type checker needs to see these
    from secateur.llm.interface import LanguageModel, Reply
    from secateur.what_if.trials import Trials


def report_page(kind: Kind[Any, Any], outcome: Outcome[Any], *, verbose: bool = False) -> Page:
    """Makes the report for people; its head ends with the pins and the removed credentials."""
    ledger, pins = outcome.ledger, outcome.settings.pins if PIN in kind.flags else ()
    numbers = [ledger.number_of[name] for name in pins if name in ledger.number_of]
    pinned = [(ledger.ids[at], ledger.entries[at].state, kind.describe(outcome, at).because) for at in numbers]
    taken = [
        (
            ledger.entries[at].state is not State.DROPPED,
            f"{removed.rule} in {kind.place_name(outcome, at, removed.line)}",
        )
        for at, removed in ledger.redactions
    ]
    return add_redactions(add_pins(kind.page(outcome, verbose=verbose), pinned), taken)


_BEGINNING = 60  # most cells for how an entry begins, beside its reason
MOST_ROUNDS = 4  # most rounds of questions of a kind; each round knows the earlier replies
EXPLAIN = "explain"  # the input that asks for proofs of what would change a decision
DROPPED = "dropped"  # the input that says about how many entries that do not go out whole they are
WHY = "why"  # the input that asks for the proofs of one entry
NOT_PROVEN = Notice("not_proven", "A model was asked, so no lever is proven for this decision.")


def prune(
    kind: str,
    settings: Settings | Mapping[str, Any] | None = None,
    *,
    llm: LanguageModel | None = None,
    environment: Environment | None = None,
    **inputs: Any,
) -> Outcome[Any]:
    """Reads inputs and decides which parts go out.

    Args:
        kind: name of a kind of context; `secateur.kind_names()` lists them.
        settings: `Settings` or values by key, `{"budget": 1500}`; by default the defaults, without configuration files.
            Among such values `budget` stands for the budget of the kind, whatever its key.
        llm: the language model to ask if the kind has questions; None: no model is asked.
        environment: the outside world that reading may use.
        inputs: values by name of the kind's `Input`s; others have their defaults.

    Raises:
        UsageError: there is no such kind or input; a required input is missing; `settings` has the wrong type.
        ConfigError: a key of `settings` is unknown, or its value out of range.
        SecateurError: as `Kind.read` and `Kind.decide`.
    """
    chosen, environment = registry.get_kind(kind), environment or Environment()
    if isinstance(settings, Mapping) or settings is None:
        values = dict(settings or {})
        if "budget" in values:
            values = {chosen.budget.key: values.pop("budget")} | values
        settings = with_values(Settings(), values)
    elif not isinstance(settings, Settings):
        raise UsageError(
            f"settings has the wrong type: {type(settings).__name__}", hint='pass Settings(...), or {"budget": 1500}'
        )
    known = {declared.name: declared for declared in chosen.inputs}
    for name in inputs:
        if name not in known:
            raise UsageError(f"{chosen.name} has no input {name}", hint=f"inputs: {', '.join(known)}")
    missing = [declared.name for declared in chosen.inputs if declared.required and declared.name not in inputs]
    if missing:
        raise UsageError(f"{chosen.name} needs {' and '.join(missing)}", hint="give it by name")
    given = chosen.blank_inputs() | dict(inputs)
    material = chosen.read(given, settings, environment.redacting(settings))
    try:
        outcome = _decide(chosen, material, given, settings, (), llm, environment.progress)
    except BaseException:
        chosen.release(material)
        raise
    finalize(outcome, chosen.release, material)  # its texts may be read as long as it exists
    return outcome


def format_outcome(outcome: Outcome[Any], form: str = "text", *, verbose: bool = False) -> str:
    """Formats the outcome as its command prints it. Raises UsageError: the kind has no such format."""
    return render(registry.get_kind(outcome.kind), outcome, form, verbose=verbose)


def with_model(settings: Settings, *, asked: bool) -> Settings:
    """Sets `llm.enabled`, by which a kind decides whether to have questions for a model."""
    if settings.llm.enabled == asked:
        return settings
    return structs.replace(settings, llm=structs.replace(settings.llm, enabled=asked))


def answer_of(
    kind: Kind[Any, Any],
    material: Any,
    inputs: Inputs,
    settings: Settings,
    model: LanguageModel | None = None,
    progress: Progress = unreported,
) -> Outcome[Any]:
    """Decides; as long as there are questions, asks the model and decides again. Without a model nothing is asked. The
    ledger of the outcome has the credentials that were removed from the entries."""
    settings = with_model(settings, asked=model is not None)
    outcome = kind.decide(material, inputs, settings, Deciding(progress))
    replies: list[Reply] = []
    for _ in range(MOST_ROUNDS):
        if model is None or not outcome.questions:
            break
        from secateur.llm.interface import replies_of

        replies += replies_of(model, outcome.questions, progress)
        outcome = kind.decide(material, inputs, settings, Deciding(progress, replies))
    redactor: Redactor | None = getattr(material, "redactor", None)
    if redactor is None or not (redactor.found_any or redactor.notices):
        return outcome

    def make_ledger() -> Ledger:
        return outcome.ledger.redacted(
            redactor.within(kind.texts(outcome, index)[0], kind.describe(outcome, index).line)
            for index, _ in enumerate(outcome.ledger.entries)
        )

    return structs.replace(outcome, make_ledger=make_ledger, notices=(*outcome.notices, *redactor.notices))


def carry_out(
    kind: Kind[Any, Any],
    inputs: Inputs,
    loaded: Loaded,
    environment: Environment,
    *,
    verbose: bool = False,
    also: Callable[[Outcome[Any]], None] | None = None,
) -> Delivery:
    """Reads, decides and delivers: the work of a command. `also`: called with the outcome while its texts can be read;
    then no kept answer is used."""
    settings, name = loaded.settings, inputs.get(WHY)
    ahead = environment.ahead or bool(inputs.get(EXPLAIN)) or name is not None  # proofs need other settings too
    environment = structs.replace(environment.redacting(settings), ahead=ahead)
    kept = kind.kept_answers(inputs, loaded, environment) if name is None else None
    material = None
    try:
        if kept is not None and also is None and (found := kept.find(verbose=verbose)) is not None:
            return found
        material = kind.read(inputs, settings, environment)
        asks = any(knob.value(settings) in knob.asking for knob in kind.knobs)
        model = open_model(settings.llm, environment.environ) if asks else None
        outcome = _decide(kind, material, inputs, settings, loaded.notices, model, environment.progress)
        if name is not None:
            return Delivery(
                _explain_entry(kind, outcome, trials_of(kind, material, inputs, settings, outcome), name, environment)
            )
        if also is not None:
            also(outcome)
        text = render(kind, outcome, environment.form, verbose=verbose)
        if kept is not None:
            return kept.deliver(text, outcome, verbose=verbose)
        notices = () if environment.form in ("text", "json") else outcome.notices  # those have a place for them
        delivery = Delivery(text, said=tuple(f"warning: {notice.message}" for notice in notices))
        return kind.deliver(delivery, outcome, inputs) if isinstance(kind, Delivers) else delivery
    finally:
        kind.release(material)
        if kept is not None:
            kept.close()


def _decide(
    kind: Kind[Any, Any],
    material: Any,
    inputs: Inputs,
    settings: Settings,
    notices: tuple[Notice, ...],
    model: LanguageModel | None,
    progress: Progress,
) -> Outcome[Any]:
    outcome = kind.fit(answer_of(kind, material, inputs, settings, model, progress))
    of_settings = () if kind.finds else (*notices, *not_scanned(settings))  # those of a search are in its pool
    outcome = structs.replace(outcome, of_settings=of_settings)
    if not inputs.get(EXPLAIN) or inputs.get(WHY) is not None:
        return outcome
    if outcome.calls:
        return structs.replace(outcome, notices=(*outcome.notices, NOT_PROVEN))
    trials, limit = trials_of(kind, material, inputs, settings, outcome), parse_dropped_limit(inputs.get(DROPPED))
    proven = what_if.explanation.explain(trials, kind.examined(outcome, limit), progress=progress, dropped=limit)
    return structs.replace(outcome, explanation=proven)


def _explain_entry(
    kind: Kind[Any, Any], outcome: Outcome[Any], trials: Trials, name: str, environment: Environment
) -> str:
    """Reports what happened to one entry, and what is proven to change that, as text or JSON. Its name may be the end
    of its id. Of what a search might have found it reports why it is not an entry. Raises UsageError: nothing has this
    name."""
    ids = [*trials.ids]
    ends = [id_ for id_ in ids if id_.endswith(name)]
    # not within a word: "total" is no end of "Order.subtotal"
    whole = [id_ for id_ in ends if not f"{id_.removesuffix(name)[-1:] or ' '}{name[:1]}".isalnum()]
    if not whole and isinstance(kind, ExplainsMissing):
        missing = kind.missing(outcome, name).shape
        if environment.form == "json":
            return dumps(missing)
        found: list[Sequence[str] | str] = [f"  × {visible(missing.id)}: {visible(missing.because)}"]
        found += [(visible(lever.typed), visible(lever.words)) for lever in missing.levers]
        section = Section(found, columns=rendering.proofs.LEVERS)
        return structs.replace(report_page(kind, outcome), sections=[section]).text()
    if not ids:
        raise UsageError("there is no item to explain", hint="the same without --why says why")
    named = [id_ for id_ in whole if id_ == name] or whole or ends
    if len(named) != 1:
        near = " or ".join(near_ids(name, ids)) or "what --explain and the ledger of --format json list"
        raise UsageError(f"nothing here is called {name}", hint=f"try {near}")
    index = outcome.ledger.number_of[named[0]]
    entry, because = outcome.ledger.entries[index], describe_reason(kind, outcome, index)
    section, shape = rendering.proofs.explain_entry(trials, entry, because, environment.progress)
    if environment.form == "json":
        return dumps(shape)
    page, tokens = report_page(kind, outcome), f"{entry.before:,} -> {count_noun(entry.after, 'token')}"
    head = (*page.head, ("entry", f"{entry.state.label}, {tokens}"))
    return structs.replace(page, head=head, sections=[section]).text()


def trials_of(kind: Kind[Any, Any], material: Any, inputs: Inputs, settings: Settings, outcome: Outcome[Any]) -> Trials:
    """Makes the trials of a decision, to prove what would change it. No model is asked."""
    settings = with_model(settings, asked=False)
    if isinstance(kind, Proves):
        return kind.trials(material, inputs, settings, outcome)
    return kinds.kind_trials.KindTrials(kind, material, inputs, settings, outcome)


def check_format(kind: Kind[Any, Any], form: str) -> None:
    """Raises UsageError: the kind has no such format."""
    if form not in kind.formats:
        known = " or ".join(sorted(kind.formats, key=lambda name: name != "text"))
        raise UsageError(f"{kind.command} is printed as {known}, not as {form}", hint="choose another --format")


def render(kind: Kind[Any, Any], outcome: Outcome[Any], form: str, *, verbose: bool = False) -> str:
    """Renders the outcome in one of the kind's formats. Raises UsageError: the kind has no such format."""
    check_format(kind, form)
    proven = outcome.explanation
    if form == "json":
        output = kind.output(outcome) if proven is None else kind.add_proofs(kind.output(outcome), outcome)
        return dumps_report(output) if kind.finds else dumps(output, kind.one_line)
    if form == "text":
        page = report_page(kind, outcome, verbose=verbose)
        if proven is not None and (proven.trials.ids or not kind.finds):
            more = rendering.proofs.sections_of(proven, partial(describe_reason, kind, outcome), pins=PIN in kind.flags)
            page = structs.replace(page, sections=(*page.sections, *more))
        return page.text()
    return kind.leaving(outcome, form)


def describe_reason(kind: Kind[Any, Any], outcome: Outcome[Any], index: int) -> str:
    """The reason of an entry in words, and how the entry begins, if its id does not tell."""
    description = kind.describe(outcome, index)
    beside = clip(" ".join(description.beside.split()), _BEGINNING)
    return f"{description.because}: “{beside}”" if beside else description.because


def parse_dropped_limit(typed: str | int | None) -> int | UnsetType | None:
    """Parses `--dropped` into a limit; None means all, UNSET the default of what is listed."""
    if typed == "all":
        return None
    return UNSET if typed in (None, "") else int(typed or 0)


def location_of(
    kind: Kind[Any, Any], outcome: Outcome[Any], index: int, inputs: Inputs, environment: Environment
) -> FilePlace | None:
    """The file and line of an entry, by default in the file that is read."""
    if isinstance(kind, Locates):
        return kind.location(outcome, index, inputs, environment)
    line = kind.describe(outcome, index).line
    return location_in(environment.base, inputs[kind.inputs[0].name], line if isinstance(line, int) else 1)


def command_line_of(
    kind: Kind[Any, Any], inputs: Inputs, settings: Settings, opened: Settings, outcome: Outcome[Any] | None = None
) -> str:
    """The command line of a decision: its profile, its budget, and every setting that differs from the profile or from
    what a configuration file says.

    Args:
        opened: the settings as loaded, which may come from a file.
        outcome: the decision; with it revisions become the commits that were read, and `-` becomes the text.
    """
    if isinstance(kind, SpellsCommand):
        return kind.command_line(inputs, settings, opened, outcome)
    return kinds.command_line.command_line(kind, inputs, settings, opened)
