"""Random changes of code, settings and inputs below scenarios, and an oracle of which scenarios they change.

The oracle knows nothing of `secateur_lab.scenarios`: before and after a change it asks `Engine` for the JSON of
searches, runs the command line, `secateur COMMAND ... --format json`, for all else, and compares states and reasons in
the ledgers. A scenario has to fail exactly where they differ, say the same decisions, and blame the setting or the file
that was changed and no other.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from secateur.engine import Engine
from secateur.kinds import registry
from secateur.languages import language_of, traits_of
from secateur.settings import Settings as AllSettings
from secateur.settings import load, lookup, with_profile
from secateur.toml_values import toml_value
from secateur_lab.scenarios.check import CheckVerdict, Result, check_one
from secateur_lab.scenarios.running import session
from secateur_lab.scenarios.saving import save_scenario
from support.cli import secateur

FOLDER = "scenarios"

BEST = 20
"""Dropped candidates that the JSON of a search lists, and a scenario of one records."""

NEAR = 0.8
"""Share of changes of code that hit a file of which something leaves."""

Settings = Mapping[str, Any]


def is_code(path: str) -> bool:
    """Whether a grammar reads the file."""
    return traits_of(language_of(path)).grammar is not None


@dataclass(frozen=True)
class Case:
    """An input and settings, saved as a scenario."""

    name: str
    kind: str
    inputs: Mapping[str, Any]
    settings: Settings

    @property
    def file(self) -> str:
        return f"{FOLDER}/{self.name}.scenario.toml"

    def words(self, settings: Settings) -> list[str]:
        """The command line of the same decision."""
        kind = registry.get_kind(self.kind)
        words = [kind.command]
        for one in kind.inputs:
            for value in _listed(self.inputs.get(one.name)):
                words += [value] if one.positional else [f"--{one.name.replace('_', '-')}", value]
        for key, value in settings.items():
            words += ["--profile", value] if key == "profile" else ["--set", f"{key}={toml_value(value)}"]
        return [*words, "--format", "json", "--quiet"]


def _few(told: Mapping[str, Any]) -> str:
    return str(dict(list(told.items())[:3]))


def _listed(value: Any) -> list[str]:
    return [] if value in (None, "", False) else value if isinstance(value, list) else [value]


Decisions = Mapping[str, tuple[str, str]]
"""State and reason by id, in the order of the ledger."""


@dataclass(frozen=True)
class Mutation:
    """One change. `undo` puts everything back."""

    what: str  # "code", "knob", "own knob", "input"
    told: str
    file: str  # that it changed
    key: str  # the setting that it changed; "": none
    settings: Mapping[str, Settings]  # by case whose own settings it changed
    undo: Callable[[], None]
    value: Any = None  # of that setting

    def counts_for(self, case: Case) -> bool:
        """Whether it gives a setting of the case's kind another value: one that is written may be that in force, and a
        profile that a case asks for is stronger than the repository's file."""
        if not self.key.startswith(OF_KIND[case.kind]):
            return False
        profile = with_profile(AllSettings(), str(case.settings.get("profile", "spec")))
        if self.file == "secateur.toml" and lookup(profile, self.key) != lookup(AllSettings(), self.key):
            return False
        return bool(case.settings.get(self.key, lookup(profile, self.key)) != self.value)


@dataclass(frozen=True)
class Finding:
    """One thing that a check said wrongly, or did not say."""

    mutation: str
    case: str
    what: str


class Oracle:
    """Decides as the command line does. Its indexes stay open, and are brought up to date each time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._engines: dict[str, Engine] = {}

    def decisions(self, told: Sequence[tuple[Case, Settings]]) -> dict[str, Decisions]:
        """What is decided of cases under settings, by name."""
        out: dict[str, Decisions] = {}
        fresh: set[str] = set()
        for case, own in told:
            if case.kind != "search":
                out[case.name] = _decisions(secateur(*case.words(own)).json)
                continue
            rev = case.inputs.get("rev", "")
            sets = [f"{key}={toml_value(value)}" for key, value in own.items() if key != "profile"]
            settings = load(self._root, profile=own.get("profile"), sets=sets).settings
            if rev not in self._engines:
                self._engines[rev] = Engine.open(self._root, settings, rev=rev or None)
            engine = self._engines[rev]
            query = case.inputs["query"]
            pool = engine.retrieve(query, settings, use_cache=False, refresh=not rev and rev not in fresh)
            fresh.add(rev)
            out[case.name] = _decisions(engine.report(engine.select(pool, settings), dropped=None).to_dict())
        return out

    def close(self) -> None:
        """Closes the indexes."""
        for engine in self._engines.values():
            engine.close()


def _decisions(answer: Any) -> Decisions:
    if "error" in answer:
        return {"error": (answer["error"]["code"], "")}
    entries = [one for one in answer["ledger"]["entries"] if one["id"] not in ("wrapper", "not-listed")]
    seen: dict[str, int] = {}
    out = {}
    for one in entries:
        times = seen[one["id"]] = seen.get(one["id"], 0) + 1
        out[one["id"] if times == 1 else f"{one['id']}#{times}"] = (one["state"], one["reason"])
    return out


def differing(before: Decisions, now: Decisions, *, found: bool) -> dict[str, tuple[Any, Any]]:
    """Ids with what was decided and what is now, where that is another; None: not there.

    Args:
        found: the entries are found by a search: only what leaves is news, and of the rest the best are compared.
    """
    if not found:
        return {id_: (before.get(id_), now.get(id_)) for id_ in {**before, **now} if before.get(id_) != now.get(id_)}
    dropped = [id_ for id_, (state, _) in before.items() if state == "dropped"][:BEST]
    known = {id_ for id_, (state, _) in before.items() if state != "dropped"} | set(dropped)
    out: dict[str, tuple[Any, Any]] = {}
    for id_ in known:
        was, is_now = before[id_], now.get(id_)
        if was != is_now and not (is_now is None and was[0] == "dropped"):
            out[id_] = (was, is_now)
    for id_, decision in now.items():
        if id_ not in known and decision[0] != "dropped":
            out[id_] = (None, decision)
    return out


class Laboratory:
    """A repository with saved scenarios, to which one mutation at a time is applied."""

    def __init__(self, root: Path, cases: Sequence[Case], seed: int) -> None:
        self.root = root
        self.cases = cases
        self.random = random.Random(f"{seed} {root.name}")
        self.mutated = 0
        self.changed = 0  # scenarios that a mutation changed
        self.unchanged = 0  # those that it did not
        self.kinds: dict[str, int] = {}
        self._code = [
            path.relative_to(root).as_posix()
            for path in sorted(root.rglob("*"))
            if is_code(path.name) and path.is_file() and ".git" not in path.parts
        ]
        (root / FOLDER).mkdir(exist_ok=True)
        with in_folder(root), session(os.environ) as opened:
            for case in cases:
                kind = registry.get_kind(case.kind)
                settings = load(root, sets=[f"{key}={toml_value(value)}" for key, value in case.settings.items()])
                inputs, path = kind.blank_inputs() | case.inputs, Path(case.file)
                save_scenario(kind, inputs, settings.settings, path, opened, exact=True)
            self.oracle = Oracle(root)
            self.before = self.oracle.decisions([(case, case.settings) for case in cases])
        leaving = {id_.partition("::")[0] for told in self.before.values() for id_ in told}
        self._near = [path for path in self._code if path in leaving] or self._code

    def run(self, count: int) -> Iterator[Finding]:
        """Applies mutations, one after the other, and yields all that was said wrongly."""
        makers = (self._code_change, self._code_change, self._repository_knob, self._own_knob, self._input_change)
        with in_folder(self.root):
            while self.mutated < count:
                mutation = self.random.choice(makers)()
                if mutation is None:
                    continue
                self.mutated += 1
                self.kinds[mutation.what] = self.kinds.get(mutation.what, 0) + 1
                try:
                    yield from self._judged(mutation)
                finally:
                    mutation.undo()

    def _judged(self, mutation: Mutation) -> Iterator[Finding]:
        with session(os.environ) as opened:
            results = {case.name: check_one(Path(case.file), opened) for case in self.cases}
        touched = [case for case in self.cases if not mutation.settings or case.name in mutation.settings]
        after = self.oracle.decisions([(case, mutation.settings.get(case.name, case.settings)) for case in touched])
        for case in self.cases:
            now = after.get(case.name, self.before[case.name])
            wanted = differing(self.before[case.name], now, found=registry.get_kind(case.kind).finds)
            self.changed += bool(wanted)
            self.unchanged += not wanted
            for what in self._faults(results[case.name], wanted, now, mutation, case):
                yield Finding(mutation.told, case.name, what)

    def _told_wrongly(
        self, result: Result, wanted: Mapping[str, Any], before: Decisions, now: Decisions
    ) -> Iterator[str]:
        """Both sides of each change, which are those of the command line; and every id that it decides otherwise.

        Where lines moved, an entry is told beside the one that held its text: then ids do not say which are missing.
        """
        ids: set[str] = set()
        moved = False
        for change in result.compared.differences:
            sides = ((change.was, before), (change.now, now))
            for item, decided in sides:
                if item is not None and decided.get(item.id) != (item.state, item.reason):
                    yield f"{item.id} is told as {item.state} ({item.reason}), it is {decided.get(item.id)}"
            ids |= {item.id for item, _ in sides if item is not None}
            moved = moved or (change.was is not None and change.now is not None and change.was.id != change.now.id)
        missing = {} if moved else {id_: two for id_, two in wanted.items() if id_ not in ids}
        if missing:
            yield f"not told: {_few(missing)}"
        if not moved and ids - set(wanted):
            yield f"told, and as they were: {sorted(ids - set(wanted))[:3]}"

    def _faults(
        self, result: Result, wanted: Mapping[str, Any], now: Decisions, mutation: Mutation, case: Case
    ) -> Iterator[str]:
        if "error" in wanted:
            if result.verdict is not CheckVerdict.CANNOT_RUN:
                yield f"the command fails with {wanted['error'][1]}, the check says {result.verdict}"
            return
        verdict = CheckVerdict.CHANGED if wanted else CheckVerdict.PASSED
        if result.verdict is not verdict:
            error = f" ({result.error.message})" if result.error else ""
            yield f"{'missed' if wanted else 'false alarm'}: {result.verdict}{error} {_few(wanted)}"
            return
        yield from self._told_wrongly(result, wanted, self.before[case.name], now)
        if not wanted:
            return
        counts = mutation.counts_for(case)
        knobs = set(result.compared.knobs) - ({"budget"} if mutation.key in BUDGETS else set())
        if counts and mutation.key not in knobs | {"profile"} and mutation.key not in BUDGETS:
            yield f"{mutation.key} was changed, and {sorted(knobs)} are blamed"
        if not counts and knobs:
            yield f"no setting was changed, and {sorted(knobs)} are blamed"
        files = {mutation.file, *(str(one) for one in _listed(case.inputs.get("path")))}
        wrong = [path for path in result.compared.files if path not in files and case.kind == "search"]
        if wrong:
            yield f"{mutation.file} was changed, and {wrong} are blamed"

    # --- mutations ----------------------------------------------------------------------------------------------------

    def _written(self, file: str, text: str, what: str, told: str, key: str = "", **settings: Settings) -> Mutation:
        path = self.root / file
        old = path.read_bytes() if path.exists() else None
        path.write_bytes(text.encode("utf-8", "surrogateescape"))

        def undo() -> None:
            path.unlink() if old is None else path.write_bytes(old)

        return Mutation(what, told, file, key, settings, undo)

    def _code_change(self) -> Mutation | None:
        file = self.random.choice(self._near if self.random.random() < NEAR else self._code)
        text = (self.root / file).read_text("utf-8", "surrogateescape")
        lines = text.splitlines(keepends=True)
        if not lines:
            return None
        at = self.random.randrange(len(lines))
        names = re.findall(r"(?:def|class|func|function|fn|interface|module) (\w{4,})", text)
        match self.random.choice(("delete lines", "insert lines", "rename", "delete file", "word")):
            case "delete lines":
                size = self.random.randint(1, 12)
                return self._written(
                    file, "".join(lines[:at] + lines[at + size :]), "code", f"{file}: {size} lines go at {at + 1}"
                )
            case "insert lines":
                copied = lines[at : at + self.random.randint(1, 30)] * self.random.randint(1, 4)
                text = "".join(lines[: at + 1] + copied + lines[at + 1 :])
                return self._written(file, text, "code", f"{file}: {len(copied)} lines come in at {at + 2}")
            case "rename" if names:
                name = self.random.choice(names)
                text = re.sub(rf"\b{name}\b", f"{name}_other", text)
                return self._written(file, text, "code", f"{file}: {name} is renamed")
            case "word":
                word = self.random.choice(re.findall(r"\w{5,}", text) or ["nothing"])
                lines.insert(at, f"# {word} {word} {word}\n")
                return self._written(file, "".join(lines), "code", f"{file}: {word} is said at {at + 1}")
            case "delete file":
                mutation = self._written(file, "", "code", f"{file} goes")
                (self.root / file).unlink()
                return mutation
        return None

    def _repository_knob(self) -> Mutation:
        key, value = self._value([name for name in KNOBS if name not in OWN_ONLY])
        path = self.root / "secateur.toml"
        old = path.read_text() if path.exists() else ""
        others = "".join(line for line in old.splitlines(keepends=True) if not line.startswith(f"{key} "))
        text, told = f"{others}{key} = {toml_value(value)}\n", f"secateur.toml: {key} = {value}"
        return replace(self._written("secateur.toml", text, "knob", told, key), value=value)

    def _own_knob(self) -> Mutation | None:
        case = self.random.choice(self.cases)
        key, value = self._value([name for name in KNOBS if name.startswith(OF_KIND[case.kind])])
        text = (self.root / case.file).read_text()
        settings = {**case.settings, key: value}
        written = "[settings]\n" + "".join(f"{name} = {toml_value(one)}\n" for name, one in settings.items()) + "\n"
        text = re.sub(r"\[settings\]\n(?:[^\[\n].*\n)*\n?", "", text).replace("[expect]\n", written + "[expect]\n", 1)
        mutation = self._written(case.file, text, "own knob", f"{case.name}: {key} = {value}", key)
        return replace(mutation, settings={case.name: settings}, value=value)

    def _value(self, names: Sequence[str]) -> tuple[str, Any]:
        key = self.random.choice(names)
        return key, self.random.choice(KNOBS[key])

    def _input_change(self) -> Mutation | None:
        """A message, a line of a log, a field of an envelope, a file that is pruned: others in its place."""
        file = self.random.choice(
            [case for case in self.cases if case.kind in ("conversation", "log", "envelope", "files")]
        )
        name = self.random.choice(_listed(file.inputs["path"]))
        text = (self.root / name).read_text("utf-8", "surrogateescape")
        if name.endswith(".json"):
            return self._written(name, _other_field(text, self.random), "input", f"{name}: another field")
        lines = text.splitlines(keepends=True) or ["\n"]
        at = self.random.randrange(len(lines))
        if name.endswith(".jsonl"):
            lines[at] = _other_message(lines[at], self.random)
        else:
            lines[at] = self.random.choice(
                ("nothing to see\n", "ERROR: it broke again\n", lines[at].rstrip("\n") * 20 + "\n", "x = 1\n")
            )
        return self._written(name, "".join(lines), "input", f"{name}: another line {at + 1}")


def _other_message(line: str, dice: random.Random) -> str:
    """A message with another text: longer, shorter, or with other words."""
    message = json.loads(line)

    def other(text: str) -> str:
        return dice.choice((text * 30, text[: len(text) // 10], f"{text} And something else.", text[::-1]))

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: other(inside) if name in ("text", "content") and isinstance(inside, str) else walk(inside)
                for name, inside in value.items()
            }
        return [walk(one) for one in value] if isinstance(value, list) else value

    return json.dumps(walk(message)) + "\n"


def _other_field(text: str, dice: random.Random) -> str:
    envelope = json.loads(text)
    texts = re.findall(r'"([^"]{12,})"', json.dumps(envelope))
    one = dice.choice(texts)
    written = json.dumps(envelope, indent=1)
    return written.replace(one, dice.choice((one * 40, one[: len(one) // 2], one + " and more")), 1)


KNOBS: Mapping[str, Sequence[Any]] = {
    "graph_rag.token_budget": (4000, 4100, 6000, 9000, 16000),
    "graph_rag.top_k": (5, 6, 9, 15, 30, 50),
    "graph_rag.max_depth": (1, 2, 3, 4),
    "smart_pruning.strategy": ("relevance", "density", "priority"),
    "smart_pruning.signature_share": (0.05, 0.2, 0.5),
    "smart_pruning.priority_weights.relevance": (0.1, 0.39, 0.41, 0.8, 2.0),
    "smart_pruning.priority_weights.hotspot": (0.0, 0.29, 0.31, 0.6, 2.0),
    "smart_pruning.priority_weights.distance": (0.0, 0.25, 0.31, 0.7),
    "relevance.lexical": (0.0, 0.4, 0.51, 1.5),
    "relevance.semantic": (0.0, 0.2, 1.0),
    "relevance.penalty.test": (0.1, 0.9),
    "conversation_prune.safe_zone_tokens": (500, 2000, 6000, 8000, 40000),
    "conversation_prune.strategy": ("truncate", "summarize", "hybrid", "tool-results"),
    "conversation_prune.keep_last": (1, 4, 8),
    "context_prune.max_tokens": (300, 1000, 2500, 20000),
    "context_prune.strategy": ("extract", "delete", "score"),
    "context_prune.full_file_share": (0.2, 0.5, 1.0),
    "context_budget.tokens": (900, 2000, 3500, 30000),
    "context_budget.reserve": (100, 1000),
    "chunking.max_chunk_tokens": (400, 2000, 90000),
    "chunking.ignore": (["*.py"], ["docs/**"]),
    "log.max_tokens": (100, 400, 900, 9000),
}

OWN_ONLY = ("conversation_prune.keep_last",)
"""Keys that a repository's own file may not set."""

BUDGETS = (
    "graph_rag.token_budget",
    "conversation_prune.safe_zone_tokens",
    "context_prune.max_tokens",
    "context_budget.tokens",
    "context_budget.reserve",
    "chunking.max_chunk_tokens",
    "log.max_tokens",
)
"""Keys of budgets, or on which one depends: the report says `budget`."""

OF_KIND: Mapping[str, tuple[str, ...]] = {
    "search": ("graph_rag.", "smart_pruning.", "relevance."),
    "conversation": ("conversation_prune.",),
    "files": ("context_prune.", "relevance."),
    "envelope": ("context_budget.",),
    "diff": ("chunking.",),
    "log": ("log.",),
}


@contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """The working folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
