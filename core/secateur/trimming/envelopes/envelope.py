"""`trim_context_with_budget`: a prompt envelope under a token budget (spec context-budget, frozen contract).

An envelope is seven sections of JSON values. `target_snapshot` comes back equal, always; only `dependency_digest` and extension fields get
smaller, in fixed stages, each of which stops as soon as the whole fits:

1. summarize: lists of the digest keep their first items; objects behind them become references, all else becomes one line;
2. truncate: long texts that are no name, path, summary or digest keep their beginning;
3. drop: of objects, then of the digest's fields and the extension fields, at last of the digest, only `path + summary + hash` is left;
   of a text its length and digest.

Within a stage what saves most goes first. The budget holds for the envelope's JSON text on one line. Pure: no clock, no file, the input is
never changed. Linear: every text is counted a fixed number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from secateur.errors import BudgetExceeded
from secateur.model import Notice, TrimAction, TrimReport
from secateur.settings import ContextBudget, Settings
from secateur.tokens import Counter, get_counter
from secateur.trimming.envelopes.degrading import Path, reference, section_of, shortened_tail, text_of, truncated
from secateur.trimming.envelopes.sections import DIGEST, SECTIONS, TARGET, copied, sections
from secateur.trimming.envelopes.windows import Budget, budget_of

NAMING = ("path", "summary", "hash", "id", "name", "title")
"""Fields that say what something is: never truncated, because what is left of an object would not be found again."""

AROUND = "envelope"
"""Section of the ledger's last entry: names, punctuation and untouched fields around the sections that were trimmed."""


@dataclass(frozen=True, slots=True)
class TrimmedEnvelope:
    """An envelope that fits its budget, and the ledger.

    `report.actions` accounts for the whole envelope: what was trimmed, sections that were kept, and one entry around them; characters and
    tokens of all entries sum to those of the envelope's JSON text before and after.
    """

    envelope: dict[str, Any]
    report: TrimReport
    notices: tuple[Notice, ...] = ()
    original: Mapping[str, Any] = field(default_factory=dict)
    places: tuple[tuple[Path, int | None], ...] = ()  # per action of the report but the last: where it stands; a position: from there to the list's end

    def texts(self, number: int) -> tuple[str, str]:
        """The JSON text of what action `number` of the report is about, before and after; what lies around the sections has none."""
        if number >= len(self.places):
            return "", ""
        before, after = (_text_at(value, *self.places[number]) for value in (self.original, self.envelope))
        return before, after

    def to_dict(self) -> dict[str, Any]:
        """Exactly the frozen output shape; its actions are the sections that were trimmed."""
        actions = [
            {"section": action.section, "action": action.action, "beforeChars": action.before_chars, "afterChars": action.after_chars}
            for action in self.report.actions
            if action.action != "keep"
        ]
        return {"trimmedEnvelope": self.envelope, "trimReport": self.report.to_dict() | {"actions": actions}}


def trim_context_with_budget(
    *,
    envelope: Mapping[str, Any],
    model: str,
    context_token_budget: int,
    reserve_for_response: int,
) -> dict[str, Any]:
    """The frozen contract, with default settings: `{"trimmedEnvelope", "trimReport"}`.

    Args:
        context_token_budget: tokens the envelope's JSON text may hold; 0 or None: 70 % of the model's window.
        reserve_for_response: tokens kept free for the answer, reported; 0 or None: what is left of the window, at most 30 %.

    Raises:
        PromptComposeError: `AI_PROMPT_COMPOSE_ERROR`: sections missing or unknown, a value that is no JSON, a budget that is none.
        BudgetExceeded: `AI_CONTEXT_BUDGET_EXCEEDED`: what may not be trimmed does not fit.
    """
    return trim_envelope(envelope, model, context_token_budget, reserve_for_response).to_dict()


def trim_envelope(
    envelope: Mapping[str, Any],
    model: str,
    context_token_budget: int | None = None,
    reserve_for_response: int | None = None,
    settings: Settings | None = None,
) -> TrimmedEnvelope:
    """The same with settings (`[context_budget]`, `tokens.counter`), the full ledger and what the user should know.

    Raises:
        PromptComposeError, BudgetExceeded: as `trim_context_with_budget`.
        TokenizerError: the counter's data cannot be read.
    """
    settings = settings or Settings()
    rules = settings.context_budget
    counter = get_counter(settings.tokens.counter)
    original = sections(envelope)
    budget = budget_of(model, context_token_budget, reserve_for_response, rules, counter.name)
    return fit(original, budget, rules, counter)


def fit(original: dict[str, Any], budget: Budget, rules: ContextBudget, counter: Counter) -> TrimmedEnvelope:
    """The same for an envelope as `sections` gives it, a budget that is known and a counter that is there.

    Raises:
        BudgetExceeded: as `trim_context_with_budget`.
    """
    before = after = counter.count(text_of(original))
    trimmed, acted = original, _Acted()
    if before > budget.context:
        trimmed = copied(original)
        after = _shrink(original, trimmed, before, budget.context, rules, counter, acted)
    actions, places = _ledger(original, trimmed, acted, before, after, counter)
    report = TrimReport(bool(acted), before, after, budget.context, budget.reserve, actions)
    return TrimmedEnvelope(trimmed, report, budget.notices, original, places)


# --- the stages --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A value and where it stands."""

    holder: Any  # a dict or a list
    key: Any  # of the holder
    path: Path

    @property
    def value(self) -> Any:
        return self.holder[self.key]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A value, or the end of a list, that can become smaller."""

    holder: Any
    key: Any  # a slice for the end of a list
    path: Path
    new: Any
    gain: int  # tokens


class _Acted:
    """What was cut: values, and ends of lists, each with the number of the last stage that touched it."""

    def __init__(self) -> None:
        self._values: dict[Path, int] = {}
        self._ends: dict[Path, tuple[int, int]] = {}  # list -> first position of its end, stage

    def __bool__(self) -> bool:
        return bool(self._values or self._ends)

    def add(self, cut: _Cut, stage: int) -> None:
        """Note a cut."""
        if isinstance(cut.key, slice):
            self._ends[cut.path] = (cut.key.start, stage)
        else:
            self._values[cut.path] = stage

    def sections(self) -> list[tuple[Path, int | None, int]]:
        """Path, first position if it is the end of a list, stage: what is not inside another, by stage and path.

        The end of a list stands for the list as long as nothing else in it was touched.
        """
        values = [(path, stage) for path, stage in self._values.items() if not self._covered(path)]
        ends = [(path, start, stage) for path, (start, stage) in self._ends.items() if path not in self._values and not self._covered(path)]
        inner = {path[:length] for path in (*dict(values), *(path for path, _, _ in ends)) for length in range(1, len(path))}
        found: list[tuple[Path, int | None, int]] = [(path, None, stage) for path, stage in values]
        found += [(path, start if path in inner else None, stage) for path, start, stage in ends]
        return sorted(found, key=lambda entry: (entry[2], entry[0]))

    def _covered(self, path: Path) -> bool:
        """Whether it lies inside a value or an end that was cut."""
        for length in range(1, len(path)):
            above, step = path[:length], path[length]
            if above in self._values or (above in self._ends and isinstance(step, int) and step >= self._ends[above][0]):
                return True
        return False


_VERBS = ("summarize", "truncate", "drop")
_REASONS = ("long_list", "long_text", "reference_only")


def _shrink(original: Any, trimmed: Any, tokens: int, budget: int, rules: ContextBudget, counter: Counter, acted: _Acted) -> int:
    """Trim in place, stage by stage, until the text fits; returns its tokens and notes in `acted` which stage touched what.

    Raises:
        BudgetExceeded: all stages together do not suffice.
    """
    digest = _Place(trimmed, DIGEST, (DIGEST,))
    extensions = list(_extensions(trimmed, rules.extensions))

    def reduced(places: Iterable[_Place]) -> Iterator[_Cut]:
        for place in places:
            now, then = place.value, _at(original, place.path)
            if isinstance(now, str):
                yield from _cut(place, place.key, truncated(then, 0), now, counter)
            elif isinstance(now, dict | list):
                short = reference(now, then if isinstance(then, dict | list) else now, place.path, rules.keep_chars)
                yield from _cut(place, place.key, [short] if isinstance(now, list) else short, now, counter)

    stages: tuple[tuple[int, Callable[[], Iterator[_Cut]]], ...] = (
        (0, lambda: _lists(digest, rules, counter)),
        (1, lambda: _texts([digest, *extensions], rules, counter)),
        (2, lambda: reduced(_objects(digest))),
        (2, lambda: reduced([*_fields(digest), *extensions])),
        (2, lambda: reduced([digest])),
    )
    for stage, cuts in stages:
        # An estimate by parts can be a little off. Each time a recount shows that, more is taken before the next one: few recounts, whatever the text.
        estimate, margin = tokens, 0
        for cut in sorted(cuts(), key=lambda cut: (-cut.gain, cut.path)):
            if estimate + margin <= budget:
                estimate = tokens = counter.count(text_of(trimmed))
                if tokens <= budget:
                    return tokens
                margin = 2 * margin + 1
            cut.holder[cut.key] = cut.new
            acted.add(cut, stage)
            estimate -= cut.gain
        tokens = counter.count(text_of(trimmed))
        if tokens <= budget:
            return tokens
    raise _exceeded(trimmed, tokens, budget, counter)


def _lists(root: _Place, rules: ContextBudget, counter: Counter) -> Iterator[_Cut]:
    """Ends of lists, one by one where they are objects; what stands in an end that can go is not looked into."""
    for place in _walk(root, keep=rules.keep_items):
        items = place.value
        if not isinstance(items, list) or len(items) <= rules.keep_items:
            continue
        end = slice(rules.keep_items, None)
        if all(isinstance(item, dict) for item in items[end]):
            for position, item in enumerate(items[end], rules.keep_items):
                path = (*place.path, position)
                yield from _cut(_Place(items, position, path), position, reference(item, item, path, rules.keep_chars), item, counter)
        else:
            tail = shortened_tail(items, rules.keep_items, place.path, rules.keep_chars)
            yield from _cut(_Place(items, end, place.path), end, tail, items[end], counter)


def _texts(roots: Iterable[_Place], rules: ContextBudget, counter: Counter) -> Iterator[_Cut]:
    for root in roots:
        for place in _walk(root):
            if isinstance(place.value, str) and len(place.value) > rules.keep_chars and place.key not in NAMING:
                yield from _cut(place, place.key, truncated(place.value, rules.keep_chars), place.value, counter)


def _objects(root: _Place) -> Iterator[_Place]:
    """The outermost objects that stand in a list or say what file they are of."""

    def entry(place: _Place) -> bool:
        return len(place.path) > 1 and isinstance(place.value, dict) and (isinstance(place.key, int) or "path" in place.value)

    return filter(entry, _walk(root, into=lambda place: not entry(place)))


def _fields(root: _Place) -> Iterator[_Place]:
    """The fields of the digest, but those that name it."""
    if isinstance(root.value, dict):
        yield from (_Place(root.value, name, (*root.path, name)) for name in root.value if name not in NAMING)


def _extensions(envelope: dict[str, Any], names: Iterable[str]) -> Iterator[_Place]:
    """The outermost extension fields outside the target and the digest."""
    known = {name.casefold() for name in names}

    def extension(place: _Place) -> bool:
        name = place.key.casefold() if isinstance(place.key, str) else ""
        return len(place.path) > 1 and (name in known or name.startswith(("x_", "x-")))

    for section in SECTIONS:
        if section not in (TARGET, DIGEST):
            yield from filter(extension, _walk(_Place(envelope, section, (section,)), into=lambda place: not extension(place)))


def _walk(root: _Place, keep: int | None = None, into: Callable[[_Place], bool] = lambda _: True) -> Iterator[_Place]:
    """The values below `root` and itself, in document order; of lists the first `keep` items, and only what stands in values that `into` allows."""
    pending = [root]
    while pending:
        place = pending.pop()
        yield place
        value = place.value
        if isinstance(value, dict | list) and into(place):
            keys = value if isinstance(value, dict) else range(len(value[:keep]))
            pending += reversed([_Place(value, key, (*place.path, key)) for key in keys])


def _cut(place: _Place, key: Any, new: Any, old: Any, counter: Counter) -> Iterator[_Cut]:
    """The cut, if it makes the text shorter in characters and in tokens."""
    now, then = text_of(new), text_of(old)
    if len(now) < len(then):
        gain = counter.count(then) - counter.count(now)
        if gain > 0:
            yield _Cut(place.holder, key, place.path, new, gain)


def _exceeded(envelope: dict[str, Any], tokens: int, budget: int, counter: Counter) -> BudgetExceeded:
    target = counter.count(text_of(envelope[TARGET]))
    if target > budget:
        message = f"{TARGET} alone takes {target:,} tokens, the context budget is {budget:,}"
    else:
        message = f"{tokens:,} tokens are left where the context budget is {budget:,}: {TARGET} takes {target:,}, what may be trimmed is trimmed"
    return BudgetExceeded(message, hint=f"a context budget of {tokens:,} is enough, or make what may not be trimmed smaller")


# --- the ledger --------------------------------------------------------------------------------------------------------


def _ledger(
    original: Any, trimmed: Any, acted: _Acted, before: int, after: int, counter: Counter
) -> tuple[tuple[TrimAction, ...], tuple[tuple[Path, int | None], ...]]:
    """One entry per trimmed section, by stage and path, none inside another; then the untouched sections; then what is around. And where they stand."""
    entries = acted.sections()
    touched = {path[0] for path, _, _ in entries}
    rows = [(path, start, _VERBS[stage], _REASONS[stage]) for path, start, stage in entries]
    rows += [((section,), None, "keep", "target" if section == TARGET else "fits") for section in original if section not in touched]
    actions = []
    for path, start, verb, reason in rows:
        then, now = (_text_at(value, path, start) for value in (original, trimmed))
        name = section_of(path) + ("" if start is None else f"[{start}:]")
        tokens = counter.count(then)
        actions.append(TrimAction(name, verb, reason, tokens, tokens if now == then else counter.count(now), len(then), len(now)))
    around = (
        before - sum(action.before for action in actions),
        after - sum(action.after for action in actions),
        len(text_of(original)) - sum(action.before_chars or 0 for action in actions),
        len(text_of(trimmed)) - sum(action.after_chars or 0 for action in actions),
    )
    return (*actions, TrimAction(AROUND, "keep", "around", *around)), tuple((path, start) for path, start, _, _ in rows)


def _text_at(value: Any, path: Path, start: int | None) -> str:
    return text_of(_at(value, path) if start is None else _at(value, path)[start:])


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
