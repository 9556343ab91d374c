"""Decides a scenario: its input under its settings, and the decisions to record.

Of the user's files only the cache is used: no configuration, no preferences, no language model. So a scenario decides
the same on every machine. Settings come from these layers, later ones winning: the defaults, the repository's own file,
the scenario's profile, the scenario's settings.
"""

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import secateur
from msgspec import structs

from secateur_lab.scenarios.location import check_inputs
from secateur_lab.scenarios.malformed import SETTINGS_LAYER, ScenarioError
from secateur_lab.scenarios.scenario import DIGITS, Recorded, RecordedItem, Scenario
from secateur_lab.scenarios.toml_writing import flat

# Best dropped entries that are recorded for a search. A search ranks a pool (`Kind.finds`); other kinds list their
# whole input.
BEST_DROPPED = 20

# Most recorded entries. If there are more entries, only kept ones and the first dropped ones are recorded.
MOST_ITEMS = 2_000

MOST_READ = 8  # Inputs that are kept during a session. Enough, because scenarios run grouped by input.
DIGEST_DIGITS = 8

MOST_ASKING = 100  # the most relevant candidates of a search whose files may be tests that ask its question
TEST_ASKS = "test_asks"  # code of the notice about a test that asks the question
_NOWHERE = str(Path(__file__) / "nowhere")  # a folder that cannot be there: below a file

# Prefixes of keys that a scenario may not set. Server keys would let a scenario's author send texts anywhere.
_USER_KEYS = (
    *("llm.", "ui.", "index.trust_git_dir", "index.workers", "redaction.", "graph_rag.cache_"),
    *("embedding.base_url", "embedding.server_model", "embedding.api_key_env"),
)


@dataclass(frozen=True)
class Listed:
    """One entry as a scenario sees it."""

    number: int  # in the ledger
    id: str  # unique
    entry: secateur.Entry
    rank: int  # from 1

    @property
    def score(self) -> float | None:
        return round(sum(self.entry.terms.values()), DIGITS) if self.entry.terms else None


@dataclass(frozen=True, eq=False)
class Decided:
    """The decisions of one run: kind, outcome, and the entries to list."""

    kind: secateur.Kind[Any, Any]
    outcome: secateur.Outcome[Any]
    ledger: secateur.Ledger
    listed: tuple[Listed, ...]
    origins: Mapping[str, str] = field(default_factory=dict)  # origin of the settings that are not the defaults

    @cached_property
    def by_id(self) -> Mapping[str, Listed]:
        return {listed.id: listed for listed in self.listed}

    def item(self, listed: Listed) -> RecordedItem:
        """Converts an entry to its recorded form."""
        entry = listed.entry
        return RecordedItem(
            id=listed.id,
            state=entry.state.label,  # type: ignore[arg-type]
            reason=entry.reason.label,
            tokens=(entry.before, entry.after),
            score=listed.score,
            rank=listed.rank if entry.terms else None,
            terms={name: round(value, DIGITS) for name, value in entry.terms.items()},
            text=self.digest(listed),
        )

    def digest(self, listed: Listed) -> str:
        """Returns the digest of an entry's input text."""
        before = self.kind.texts(self.outcome, listed.number)[0]
        return sha256(before.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS] if before else ""

    @cached_property
    def knobs(self) -> dict[str, Any]:
        """The values of the kind's knobs, and of the other settings that affect its decisions and are not the
        defaults."""
        values: dict[str, Any] = {knob.key: knob.value(self.outcome.settings) for knob in self.kind.knobs}
        known = secateur.installed_keys()
        for key in deciding_keys(self.kind):
            value = secateur.lookup(self.outcome.settings, key)
            if value != known[key].default:
                values.setdefault(key, value)
        if self.outcome.settings.profile != secateur.Settings().profile:
            values["profile"] = self.outcome.settings.profile
        rounded = {key: round(value, DIGITS + 3) for key, value in values.items() if isinstance(value, float)}
        # as they are read back from a scenario: a list, not a tuple
        lists = {key: list(value) for key, value in values.items() if isinstance(value, tuple)}
        return {key: msgspec.to_builtins(value) for key, value in (values | rounded | lists).items()}

    @property
    def left_out(self) -> tuple[str, ...]:
        """The notice about tests that ask the same question; empty if none does."""
        return tuple(notice.message for notice in self.outcome.notices if notice.code == TEST_ASKS)

    @property
    def budget(self) -> int:
        """The budget in force, which may depend on other settings."""
        return self.kind.budget_in_force(self.outcome.settings, self.outcome)

    def recorded(self, only: Collection[str] | None = None) -> Recorded:
        """Returns the part of the decisions that is recorded, or the items with some ids."""
        items = [item for item in self.listed if only is None or item.id in only]
        best = self.kind.finds or only is not None or len(items) > MOST_ITEMS
        if len(items) > MOST_ITEMS:
            dropped = [item for item in items if item.entry.state is secateur.State.DROPPED][:BEST_DROPPED]
            items = [item for item in items if item.entry.state is not secateur.State.DROPPED] + dropped
        if self.kind.finds:  # this order does not depend on scores, so the file's diff is short
            items.sort(key=lambda item: natural_key(item.id))
        return Recorded(
            budget=self.budget,
            after=self.ledger.after,
            listed="best" if best else "all",
            knobs=self.knobs,
            items=[self.item(item) for item in items],
        )


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Returns a sort key that compares numbers as numbers."""
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
    """Holds what several scenarios share: open indexes and inputs that were read. It is closed when all are decided."""

    environ: Mapping[str, str]
    progress: secateur.Progress = secateur.unreported
    _shared: dict[Path, dict[Hashable, Any]] = field(default_factory=dict)
    _read: dict[Hashable, Any] = field(default_factory=dict)

    def environment(self, root: Path) -> secateur.Environment:
        """Returns the environment of scenarios below a root, with nothing of the user but the cache."""
        return secateur.Environment(
            regular=True,
            ahead=True,  # an input that was read serves scenarios with any settings
            folder=root,
            environ={**self.environ, "SECATEUR_CONFIG_DIR": _NOWHERE},
            progress=self.progress,
            shared=self._shared.setdefault(root, {}),
        )

    def decide(self, scenario: Scenario, root: Path, ids: Collection[str] = ()) -> Decided:
        """Decides a scenario.

        Args:
            ids: entries that are looked up, however low they rank.

        Raises:
            SecateurError: the kind is unknown, an input is wrong or cannot be read, a setting is wrong.
        """
        kind, inputs = check_scenario_inputs(scenario, root)
        loaded = self.loaded(kind, inputs, scenario.settings, root)
        return replace(decided_of(kind, self.outcome(kind, inputs, loaded, root), ids), origins=loaded.origins)

    def loaded(
        self, kind: secateur.Kind[Any, Any], inputs: Mapping[str, Any], settings: Mapping[str, Any], root: Path
    ) -> secateur.Loaded:
        """Returns the settings in force with `settings` (nested tables) as the scenario's layer. Raises SecateurError:
        a setting is wrong, or so is the input that locates a repository's own settings."""
        check_hermetic(settings)
        loaded = kind.load(inputs, _settings_loader(settings), self.environment(root))
        llm = structs.replace(loaded.settings.llm, enabled=False)
        redaction = structs.replace(loaded.settings.redaction, scanner="rules")  # other machines may have no scanner
        return structs.replace(loaded, settings=structs.replace(loaded.settings, llm=llm, redaction=redaction))

    def outcome(
        self, kind: secateur.Kind[Any, Any], inputs: Mapping[str, Any], loaded: secateur.Loaded, root: Path
    ) -> secateur.Outcome[Any]:
        """Decides inputs under settings. Raises SecateurError: like `Kind.read` and `Kind.decide`."""
        material = self.material(kind, inputs, loaded, root)
        return kind.fit(secateur.answer_of(kind, material, inputs, loaded.settings, progress=self.progress))

    def material(
        self, kind: secateur.Kind[Any, Any], inputs: Mapping[str, Any], loaded: secateur.Loaded, root: Path
    ) -> Any:
        """Reads inputs, or returns what was read before. Raises like `Kind.read`."""
        key = (kind.name, root, kind.reading_of(inputs, loaded.settings))
        if key not in self._read:
            self._release_oldest(keep=MOST_READ - 1)
            environment = structs.replace(self.environment(root), notices=loaded.notices)
            self._read[key] = kind.read(inputs, loaded.settings, environment.redacting(loaded.settings))
        return self._read[key]

    def forget(self) -> None:
        """Releases what was read. It is read again when needed."""
        self._release_oldest(0)
        for shared in self._shared.values():
            for opened in shared.values():
                opened.close()
            shared.clear()

    def _release_oldest(self, keep: int) -> None:
        while len(self._read) > keep:
            secateur.Kind.release(self._read.pop(next(iter(self._read))))

    def close(self) -> None:
        """Closes everything that was opened."""
        self.forget()
        self._shared.clear()


def session(environ: Mapping[str, str], progress: secateur.Progress = secateur.unreported) -> closing[Session]:
    """Opens a session that is closed at the end."""
    return closing(Session(environ, progress))


def decided_of(kind: secateur.Kind[Any, Any], outcome: secateur.Outcome[Any], ids: Collection[str] = ()) -> Decided:
    """Converts an outcome for scenarios. A test that asks the question of a search is left out of the answer."""
    outcome = _leave_out_tests_that_ask(kind, outcome)
    ledger = outcome.ledger
    numbers = ledger.listed(BEST_DROPPED, ids)
    listed = (Listed(number, ledger.ids[number], ledger.entries[number], ledger.rank[number]) for number in numbers)
    return Decided(kind, outcome, ledger, tuple(listed))


def _leave_out_tests_that_ask(kind: Any, outcome: secateur.Outcome[Any]) -> secateur.Outcome[Any]:
    """Excludes the test files that hold the question of a search between quotes, and says so in a notice."""
    if not kind.finds:
        return outcome
    payload, settings = outcome.payload, outcome.settings
    pool, (snapshot, lines_of) = payload.selection.pool, payload.engine.code()
    if len(pool.query.split()) == 1:
        return outcome  # it is a name, which tests write for other reasons
    asking = re.compile(f"""["'`]{re.escape(pool.query)}["'`]""")
    best = (-pool.relevance).argsort(kind="stable")[:MOST_ASKING]
    flags = {pool.path[row]: snapshot.flags[snapshot.file[snapshot.row_of(pool.symbol_id[row])]] for row in best}
    tests = [path for path in sorted(flags) if "test" in flags[path] and asking.search("".join(lines_of(path)))]
    ids = [id_ for path, id_ in zip(pool.path, pool.symbol_id, strict=True) if path in tests]
    ids = [id_ for id_ in ids if id_ not in settings.pins]  # a person asked for these
    if not ids:
        return outcome
    selection = secateur.select(pool, structs.replace(settings, excludes=(*settings.excludes, *ids)))
    left_out = kind.outcome_of(payload.engine, selection, settings, payload.explain, payload.dropped)
    message = f"Tests that ask the same question are left out of the answer: {', '.join(tests)}."
    return structs.replace(
        left_out, notices=(*left_out.notices, secateur.Notice(TEST_ASKS, message)), of_settings=outcome.of_settings
    )


def check_scenario_inputs(scenario: Scenario, root: Path) -> tuple[secateur.Kind[Any, Any], dict[str, Any]]:
    """Returns the kind of a scenario and its checked inputs. Raises SecateurError: unknown kind or input; an input has
    the wrong type, is missing, or leads out."""
    try:
        kind = secateur.get_kind(scenario.kind)
    except secateur.UsageError as error:
        raise ScenarioError(error.message, hint=error.hint, where=("kind",)) from error
    known = {declared.name: declared for declared in kind.inputs if declared.role != "output"}
    for name, value in scenario.input.items():
        if (declared := known.get(name)) is None:
            hint = f"inputs: {', '.join(known)}"
            raise ScenarioError(f"{kind.name} has no input {secateur.shown(name)}", hint=hint, where=("input", name))
        if declared.repeatable:
            takes, right = "a list of texts", isinstance(value, list) and all(isinstance(item, str) for item in value)
        elif declared.switch:
            takes, right = "true or false", isinstance(value, bool)
        else:
            takes, right = "text", isinstance(value, str)
        if not right:
            message = f"input.{name} = {secateur.shown(repr(value))} is not allowed"
            raise ScenarioError(message, hint=f"it takes {takes}", where=("input", name))
    required = [name for name, declared in known.items() if declared.required]
    if missing := [name for name in required if not scenario.input.get(name)]:
        message = f"{kind.name} needs input.{' and input.'.join(missing)}"
        raise ScenarioError(message, hint="write it below [input]", where=("input",))
    inputs = kind.blank_inputs() | scenario.input
    check_inputs(kind, inputs, root)
    return kind, inputs


def check_hermetic(settings: Mapping[str, Any]) -> None:
    """Checks that a scenario's settings use no server, trust no foreign git folder, and write nothing. Raises
    ScenarioError: a setting is reserved for the user, or differs between machines."""
    for key, value in flat(settings):
        asks = key == "embedding.model" and value in ("openai", "ollama")
        if asks or key.startswith(_USER_KEYS):
            setting = f"{key} = {secateur.shown(str(value))}" if asks else key
            raise ScenarioError(
                f"settings.{setting} cannot be part of a scenario",
                hint="a scenario decides the same on every machine, uses no server and writes nothing: remove it",
                where=("settings", *key.split(".")),
            )


def _settings_loader(settings: Mapping[str, Any]) -> Callable[[Path | None, Any], secateur.Loaded]:
    return secateur.SettingsSources().over(SETTINGS_LAYER, settings).load


def settings_to_save(
    kind: secateur.Kind[Any, Any],
    inputs: Mapping[str, Any],
    settings: secateur.Settings,
    environment: secateur.Environment,
) -> dict[str, Any]:
    """Returns the settings that a scenario must contain, by dotted key: those that affect decisions of the kind and
    differ from the defaults and the repository's own file. `environment`: from `Session.environment`."""
    values: dict[str, Any] = {}
    try:
        plain = kind.load(inputs, _settings_loader({"profile": settings.profile}), environment).settings
        if kind.load(inputs, _settings_loader({}), environment).settings.profile != settings.profile:
            values["profile"] = settings.profile
    except secateur.UsageError:  # the user's own profile: its values are written out
        plain = kind.load(inputs, _settings_loader({}), environment).settings
    for key in deciding_keys(kind):
        value = secateur.lookup(settings, key)
        if value != secateur.lookup(plain, key):
            values[key] = msgspec.to_builtins(value)
    return values


def deciding_keys(kind: secateur.Kind[Any, Any]) -> Sequence[str]:
    """Returns the keys of settings that affect decisions of a kind and may stand in a scenario."""
    return [key for key in kind.deciding_keys if not key.startswith(_USER_KEYS)]
