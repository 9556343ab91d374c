"""Deciding a scenario: its input under its settings, and what of that is recorded.

Nothing of the user counts but the cache: no configuration, no preferences, no language model. So a scenario decides
the same on every machine. The settings are, later ones winning: the defaults, what the repository's own file says, the
scenario's profile, the scenario's settings.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from secateur.errors import UsageError, shown
from secateur.kinds import registry
from secateur.kinds.base import Environment, Kind, Outcome
from secateur.ledger import WRAPPER, Entry, Ledger, Reason, State
from secateur.progress import Progress, unreported
from secateur.scenarios.location import check_inputs
from secateur.scenarios.malformed import SETTINGS_LAYER, ScenarioError
from secateur.scenarios.scenario import DIGITS, Recorded, RecordedItem, Scenario
from secateur.scenarios.toml_writing import flat
from secateur.settings import Committed, Loaded, Redacting, Settings, installed_keys, load, lookup
from secateur.settings.layers import Layer
from secateur.system.files import NOWHERE

BEST_DROPPED = 20
"""Entries that are dropped which a kind that finds its entries has recorded: the best."""

MOST_ITEMS = 2_000
"""Entries that are recorded; of more only what leaves, and the first that are dropped."""

MOST_READ = 8
"""Inputs that are kept while a session lasts: scenarios of one input stand beside each other."""

DIGEST_DIGITS = 8

_OF_THE_USER = (
    "llm.",
    "ui.",
    "index.trust_git_dir",
    "index.workers",
    "redaction.",
    "graph_rag.cache_",
    "embedding.base_url",
    "embedding.server_model",
    "embedding.api_key_env",
)
"""Keys (prefixes) that no scenario sets: by those of a server whoever wrote one could have texts sent anywhere."""


@dataclass(frozen=True)
class Listed:
    """One entry as a scenario sees it."""

    number: int  # in the ledger
    id: str  # unique
    entry: Entry

    @property
    def score(self) -> float | None:
        return round(sum(self.entry.terms.values()), DIGITS) if self.entry.terms else None


@dataclass(frozen=True, eq=False)
class Decided:
    """A scenario that was decided."""

    kind: Kind[Any, Any]
    outcome: Outcome[Any]
    ledger: Ledger  # which may have one entry for many that are not listed
    listed: tuple[Listed, ...]
    origins: Mapping[str, str] = field(default_factory=dict)  # where settings come from that are not the defaults

    @cached_property
    def by_id(self) -> Mapping[str, Listed]:
        return {one.id: one for one in self.listed}

    def item(self, one: Listed) -> RecordedItem:
        """An entry as it is recorded."""
        entry = one.entry
        return RecordedItem(
            id=one.id,
            state=entry.state.label,  # type: ignore[arg-type]
            reason=entry.reason.label,
            tokens=(entry.before, entry.after),
            score=one.score,
            rank=one.number + 1 if entry.terms else None,
            terms={name: round(value, DIGITS) for name, value in entry.terms.items()},
            text=self.digest(one),
        )

    def digest(self, one: Listed) -> str:
        """Digest of what came in."""
        before = self.kind.texts(self.outcome, one.number)[0]
        return sha256(before.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS] if before else ""

    @cached_property
    def knobs(self) -> dict[str, Any]:
        """Knobs of the kind with their values in force, and what else its decisions depend on and is no default."""
        values = {knob.key: knob.value(self.outcome.settings) for knob in self.kind.knobs}
        known = installed_keys()
        for key in deciding_keys(self.kind):
            value = lookup(self.outcome.settings, key)
            if value != known[key].default:
                values.setdefault(key, value)
        if self.outcome.settings.profile != Settings().profile:
            values["profile"] = self.outcome.settings.profile
        return {key: _as_recorded(value) for key, value in values.items()}

    @property
    def budget(self) -> int:
        """The budget in force, which may follow from other settings."""
        return self.kind.budget_in_force(self.outcome.settings, self.outcome)

    def recorded(self) -> Recorded:
        """The part of the decisions that is written down."""
        items = list(self.listed)
        best = self.kind.finds_entries or len(items) > MOST_ITEMS
        if len(items) > MOST_ITEMS:
            dropped = [one for one in items if one.entry.state is State.DROPPED][:BEST_DROPPED]
            items = [one for one in items if one.entry.state is not State.DROPPED] + dropped
        if self.kind.finds_entries:  # an order that a score does not change: a diff of the file is short
            items.sort(key=lambda one: natural(one.id))
        return Recorded(
            budget=self.budget,
            after=self.ledger.after,
            listed="best" if best else "all",
            knobs=self.knobs,
            items=[self.item(one) for one in items],
        )


def _as_recorded(value: Any) -> Any:
    return round(value, DIGITS + 3) if isinstance(value, float) else msgspec.to_builtins(value)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key to sort by in which numbers count as numbers."""
    out, digits, other = [], "", ""
    for sign in text + "\0":
        if sign.isascii() and sign.isdigit():
            if other:
                out.append((1, 0, other))
                other = ""
            digits += sign
        else:
            if digits:
                out.append((0, int(digits[:18]), digits))
                digits = ""
            other += sign
    return (*out, (1, 0, other))


@dataclass
class Session:
    """The things that several scenarios share: open indexes and inputs that were read. Closed when all are decided."""

    environ: Mapping[str, str]
    progress: Progress = unreported
    _shared: dict[Path, dict[Hashable, Any]] = field(default_factory=dict)
    _read: dict[Hashable, tuple[Kind[Any, Any], Any]] = field(default_factory=dict)

    def environment(self, root: Path) -> Environment:
        """The outside world of scenarios below a root: nothing of the user but the cache."""
        without_user = {**self.environ, "SECATEUR_CONFIG_DIR": str(NOWHERE)}
        return Environment(
            regular=True,
            ahead=True,  # what was read of an input serves scenarios under any settings
            folder=root,
            environ=without_user,
            progress=self.progress,
            shared=self._shared.setdefault(root, {}),
        )

    def decide(self, scenario: Scenario, root: Path, ids: Collection[str] = ()) -> Decided:
        """The decisions of a scenario.

        Args:
            ids: entries that are looked up, however far behind they are.

        Raises:
            SecateurError: the kind is unknown, an input is wrong or cannot be read, a setting is wrong.
        """
        kind, inputs = given(scenario, root)
        loaded = self.loaded(kind, inputs, scenario.settings, root)
        return replace(decided_of(kind, self.outcome(kind, inputs, loaded, root), ids), origins=loaded.origins)

    def loaded(
        self, kind: Kind[Any, Any], inputs: Mapping[str, Any], settings: Mapping[str, Any], root: Path
    ) -> Loaded:
        """The settings in force where a file says these, as nested tables.

        Raises:
            SecateurError: a setting is wrong, or the input that says where a repository's own settings are is.
        """
        check_hermetic(settings)
        loaded = kind.load(inputs, partial(_load, settings=settings), self.environment(root))
        own = loaded.settings
        hermetic = replace(own, llm=replace(own.llm, enabled=False), redaction=Redacting(scanner="rules"))
        return replace(loaded, settings=hermetic)  # another machine may have another scanner, or none

    def outcome(self, kind: Kind[Any, Any], inputs: Mapping[str, Any], loaded: Loaded, root: Path) -> Outcome[Any]:
        """Decides inputs under settings.

        Raises:
            SecateurError: as `Kind.read` and `Kind.decide`.
        """
        material = self.material(kind, inputs, loaded, root)
        return kind.answer(material, inputs, loaded.settings, progress=self.progress)

    def material(self, kind: Kind[Any, Any], inputs: Mapping[str, Any], loaded: Loaded, root: Path) -> Any:
        """Reads inputs, or takes what was read of them before. Raises as `Kind.read`."""
        key = (kind.name, root, kind.reading_of(inputs, loaded.settings))
        if key not in self._read:
            self._forget(keep=MOST_READ - 1)
            environment = replace(self.environment(root), notices=loaded.notices)
            self._read[key] = kind, kind.read(inputs, loaded.settings, environment.redacting(loaded.settings))
        return self._read[key][1]

    def forget(self) -> None:
        """Lets go of what was read: it is read again when it is needed."""
        self._forget(0)
        for shared in self._shared.values():
            for opened in shared.values():
                opened.close()
            shared.clear()

    def _forget(self, keep: int) -> None:
        while len(self._read) > keep:
            kind, material = self._read.pop(next(iter(self._read)))
            kind.release(material)

    def close(self) -> None:
        """Close what was opened."""
        self.forget()
        self._shared.clear()


@contextmanager
def session(environ: Mapping[str, str], progress: Progress = unreported) -> Iterator[Session]:
    """A session that is closed at the end."""
    opened = Session(environ, progress)
    try:
        yield opened
    finally:
        opened.close()


def decided_of(kind: Kind[Any, Any], outcome: Outcome[Any], ids: Collection[str] = ()) -> Decided:
    """An outcome as scenarios see it."""
    ledger, numbers = kind.listed(outcome, BEST_DROPPED, ids)
    listed = [
        Listed(number, id_, entry)
        for number, id_, entry in zip(numbers, ledger.ids, ledger.entries, strict=False)
        if entry.id != WRAPPER and entry.reason is not Reason.NOT_LISTED
    ]
    return Decided(kind, outcome, ledger, tuple(listed))


def given(scenario: Scenario, root: Path) -> tuple[Kind[Any, Any], dict[str, Any]]:
    """The kind of a scenario and the inputs it names, checked.

    Raises:
        SecateurError: there is no such kind or input; an input is of the wrong type, missing, or leads out.
    """
    try:
        kind = registry.kind(scenario.kind)
    except UsageError as error:
        raise ScenarioError(error.message, hint=error.hint, where=("kind",)) from error
    known = {one.name: one for one in kind.inputs if one.role != "output"}
    for name, value in scenario.input.items():
        one = known.get(name)
        if one is None:
            hint = f"inputs: {', '.join(known)}"
            raise ScenarioError(f"{kind.name} has no input {shown(name)}", hint=hint, where=("input", name))
        takes = "a list of texts" if one.repeatable else "true or false" if one.switch else "text"
        right = (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
            if one.repeatable
            else isinstance(value, bool if one.switch else str)
        )
        if not right:
            said = f"input.{name} = {shown(repr(value))} is not allowed"
            raise ScenarioError(said, hint=f"it takes {takes}", where=("input", name))
    missing = [one.name for one in known.values() if one.required and not scenario.input.get(one.name)]
    if missing:
        said = f"{kind.name} needs input.{' and input.'.join(missing)}"
        raise ScenarioError(said, hint="write it below [input]", where=("input",))
    inputs = kind.blank() | scenario.input
    check_inputs(kind, inputs, root)
    return kind, inputs


def check_hermetic(settings: Mapping[str, Any]) -> None:
    """Checks that settings of a scenario ask no server, trust no foreign folder of git, and write nothing.

    Raises:
        ScenarioError: one of them counts only where the user says it, or is not the same on every machine.
    """
    for key, value in flat(settings):
        asks = key == "embedding.model" and value in ("openai", "ollama")
        if asks or key.startswith(_OF_THE_USER):
            said = f"{key} = {shown(str(value))}" if asks else key
            raise ScenarioError(
                f"settings.{said} cannot be part of a scenario",
                hint="a scenario decides the same on every machine, asks no server and writes nothing: take it out",
                where=("settings", *key.split(".")),
            )


def _load(root: Path | None, committed: Committed | None = None, *, settings: Mapping[str, Any]) -> Loaded:
    """The settings of a scenario; see the module docstring."""
    return load(root, further=(Layer(SETTINGS_LAYER, settings, "run"),), committed=committed)


def settings_of(
    kind: Kind[Any, Any], inputs: Mapping[str, Any], settings: Settings, environment: Environment
) -> dict[str, Any]:
    """The settings that a scenario has to say: those on which decisions of the kind depend and which are not what the
    defaults and the repository's own file make them, by dotted key.

    Args:
        environment: of `Session.environment`.
    """
    said: dict[str, Any] = {}
    try:
        plain = kind.load(inputs, partial(_load, settings={"profile": settings.profile}), environment).settings
        told = kind.load(inputs, partial(_load, settings={}), environment).settings
        if told.profile != settings.profile:
            said["profile"] = settings.profile
    except UsageError:  # a profile of the user's own: what it sets is spelled out
        plain = kind.load(inputs, partial(_load, settings={}), environment).settings
    for key in deciding_keys(kind):
        value = lookup(settings, key)
        if value != lookup(plain, key):
            said[key] = msgspec.to_builtins(value)
    return said


def deciding_keys(kind: Kind[Any, Any]) -> Sequence[str]:
    """Keys of the settings on which decisions of a kind depend."""
    exact = {knob.key for knob in kind.knobs} | {flag.key for flag in kind.flags}
    never = ("index.workers", "index.trust_git_dir", "graph_rag.cache_", "embedding.base_url", "embedding.api_key_env")
    return [
        key for key in installed_keys() if (key in exact or key.startswith(kind.tables)) and not key.startswith(never)
    ]
