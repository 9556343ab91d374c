"""A repository with credentials in every place, the calls that read it, and the search for what left."""

from __future__ import annotations

import html
import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from secateur.engine import Engine
from secateur.settings import load
from secateur_agents.mcp.server import FACTS
from secateur_lab.replays.recorder import Recorder
from secateur_lab.scenarios.running import session
from support.cli import secateur
from support.planted import PIECE, Kind, Place, pieces, secrets_of
from support.repos import git, write

if TYPE_CHECKING:
    import mcp

sys.path.insert(0, str(Path(__file__).parents[1] / "screens"))

_KEY = 8
"""Bytes of a piece that are compared at once, as one number."""


def left(text: str, secrets: Iterable[str]) -> bool:
    """Whether a piece of a credential is left in a text."""
    return any(piece in text for secret in secrets for piece in pieces(secret))


@dataclass
class Plants:
    """Credentials that were planted, each drawn anew for its place, and where a piece of one was found.

    Letters of both cases count as the same: an index may hold words in small letters.
    """

    seed: int
    planted: set[tuple[str, str]] = field(default_factory=set)  # (kind, place)
    leaks: set[tuple[str, str, str]] = field(default_factory=set)  # (kind, place, channel)
    _pieces: dict[bytes, tuple[str, ...]] = field(default_factory=dict)
    _short: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    _keys: Any = None

    def plant(self, kind: Kind, place: Place) -> str | None:
        """A text with a new credential for a place; None where the kind cannot stand there."""
        credential = kind.make(Random(f"{self.seed} {kind.name} {place.name}"))
        text = place.item(kind, credential)
        if text is None:
            return None
        self.planted.add((kind.name, place.name))
        self._keys = None
        for secret in secrets_of(credential):
            for piece in map(str.encode, map(str.lower, pieces(secret))):
                if len(piece) < PIECE:
                    self._short[piece] = (kind.name, place.name)
                elif self._pieces.setdefault(piece, (kind.name, place.name)) != (kind.name, place.name):
                    self._pieces[piece] = ()  # two hold it, as the head of a web token: it is no secret
        return text

    def look(self, text: str | bytes, channel: str) -> None:
        """Notes what of the planted credentials is in a text, as it is or behind escapes."""
        data = text.encode() if isinstance(text, str) else text
        self._look(data, channel)
        if b"\\" in data:
            self._look(data.replace(b"\\n", b"\n").replace(b'\\"', b'"').replace(b"\\\\", b"\\"), channel)
        if b"&" in data:
            self._look(html.unescape(data.decode(errors="replace")).encode(), channel)

    def look_in(self, folder: Path, channel: str) -> None:
        """Notes what is in the files of a folder, and in their names; a channel for each ending."""
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            self.look(name.as_posix(), f"{channel}: names")
            if path.is_file() and not path.is_symlink():
                copied = any(part.endswith(".inputs") for part in name.parts)
                self.look(
                    path.read_bytes(), f"{channel}: {'inputs of scenarios' if copied else path.suffix or path.name}"
                )

    def _look(self, data: bytes, channel: str) -> None:
        data = data.lower()
        self.leaks |= {(*planted, channel) for short, planted in self._short.items() if short in data}
        if self._keys is None:
            self._keys = np.unique(np.frombuffer(b"".join(piece[:_KEY] for piece in self._pieces), dtype=np.uint64))
        for offset in range(_KEY):
            numbers = np.frombuffer(data[offset : len(data) - (len(data) - offset) % _KEY], dtype=np.uint64)
            places = np.searchsorted(self._keys, numbers)
            same = self._keys[np.minimum(places, len(self._keys) - 1)] == numbers
            for place in np.flatnonzero(same) * _KEY + offset:
                planted = self._pieces.get(data[place : place + PIECE])
                if planted:
                    self.leaks.add((*planted, channel))


STEPS = "\n\n".join(f"def storage_step_{number}(refund):\n    return refund + {number}\n" for number in range(200))
"""Functions of which every commit changes one."""


@dataclass(frozen=True)
class Planted:
    """A repository with credentials, the folder that calls write into, and what is typed."""

    root: Path
    out: Path
    typed: Sequence[tuple[Place, str]]


def repository(folder: Path, kinds: Sequence[Kind], places: Sequence[Place], plants: Plants) -> Planted:
    """A repository that holds each kind in each place that can hold it."""
    root = folder / "shop"
    out = root / "out"  # a scenario is saved inside the repository that it uses
    out.mkdir(parents=True)
    items = {place.name: [(k, i) for k in kinds if (i := plants.plant(k, place)) is not None] for place in places}
    texts = {name: [item for _, item in pair] for name, pair in items.items()}
    by_git: dict[str, list[str]] = {}
    for place in places:
        by_git.setdefault(place.git, []).extend(texts[place.name])
    before = {".gitignore": "out/\n", "src/steps.py": STEPS}
    after: dict[str, str] = {}
    for place in places:
        if place.path.startswith("in/"):
            write(folder, {place.path: place.whole(texts[place.name])})
        elif place.path:
            (after if place.git == "changed" else before)[place.path] = place.whole(texts[place.name])
    before |= {
        f"src/{name}": f"def storage_named_{n}():\n    return {n}\n" for n, name in enumerate(by_git.get("file", ()))
    }
    before |= {
        f"src/{name}/a.py": f"def storage_in_{n}():\n    return {n}\n"
        for n, name in enumerate(by_git.get("folder", ()))
    }
    keys = [(k, item) for place in places if place.git == "key" for k, item in items[place.name]]
    before |= {f"keys/{kind.name}.txt": item for kind, item in keys}
    after |= {f"keys/{kind.name}.txt": _middle_changed(item) for kind, item in keys}
    write(root, before)
    git(root, "init", "-q", "-b", "main", "--template=")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    bodies = by_git.get("body", ())
    subjects = by_git.get("subject", ())
    for number in range(max(len(bodies), len(subjects))):
        steps = root / "src/steps.py"
        steps.write_text(steps.read_text().replace(f"refund + {number}\n", f"refund - {number}\n"))
        said = [list(texts)[number] for texts in (subjects, bodies) if number < len(texts)]
        git(root, "commit", "-q", "-a", "-m", "\n\n".join(said), time=1_750_000_000 + number)
    for place in (place for place in places if place.git == "deleted"):
        (root / place.path).unlink()
    write(root, after)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Storage of refunds changes", time=1_750_100_000)
    for made in ("branch", "tag"):
        for name in by_git.get(made, ()):
            git(root, made, name)
    return Planted(root, out, [(place, item) for place in places if place.words for item in texts[place.name]])


def _middle_changed(key: str) -> str:
    """A key of which one line in its middle is another."""
    lines = key.split("\n")
    lines[len(lines) // 2] = "changed"
    return "\n".join(lines)


INPUTS = {
    ".log": (
        "log IN",
        "log IN --query storage --explain --report OUT/N.html",
        "log IN --format plain",
        "log IN --format json --save OUT/N.scenario.toml",
        "log IN --max-tokens 400 --report OUT/N.svg",
    ),
    ".jsonl": (
        "conversation IN",
        "conversation IN --safe-zone 2000 --strategy summarize --format json --out OUT/N.a",
        "conversation IN --safe-zone 2000 --strategy truncate --out OUT/N.b --report OUT/N.json",
        "conversation IN --safe-zone 2000 --strategy hybrid --explain --out OUT/N.c",
        "conversation IN --safe-zone 3000 --strategy staged --report OUT/N.md --out OUT/N.d",
        "conversation IN --safe-zone 2000 --format json --verbose --save OUT/N.scenario.toml",
        "files ROOT/src --conversation IN",
    ),
    ".json": (
        "envelope IN --model gpt-4o --context-budget 500000",
        "envelope IN --model gpt-4o --context-budget 500000 --format text --explain",
        "envelope IN --model gpt-4o --context-budget 40000 --report OUT/N.html --save OUT/N.scenario.toml",
    ),
    ".md": (
        "chunk ROOT --base HEAD~1 --skill IN --format markdown",
        "chunk ROOT --base HEAD~1 --rules IN --format json",
    ),
    ".txt": ("chunk ROOT --base HEAD~1 --linter IN --format markdown",),
}
"""By the ending of an input the calls that read it: `IN` is the file, `N` its name."""

CALLS = """\
index ROOT
index ROOT --format json
status ROOT
status ROOT --examples
status ROOT --examples --format json
search storage ROOT --budget 60000
search storage ROOT --explain --budget 60000 --top-k 50
search storage ROOT --budget 200000 --top-k 50 --format json --dropped all --explain
search storage ROOT --budget 200000 --top-k 50 --format markdown
search storage ROOT --budget 9000 --format xml
search 'password token' ROOT --profile recommended --budget 200000 --format markdown --save OUT/a.scenario.toml
search 'refund storage' ROOT --budget 20000 --report OUT/a.html --report OUT/a.md --report OUT/a.json --report OUT/a.svg
search storage ROOT --only src/** --format json
search storage ROOT
search storage ROOT --rev HEAD~1
inspect ROOT --query storage --plain
inspect ROOT --plain
inspect ROOT --query storage --format json
files ROOT --query storage --max-tokens 400000
files ROOT --strategy delete --max-tokens 400000 --format markdown
files ROOT --query storage --max-tokens 20000 --strategy extract --format markdown --report OUT/b.html
files ROOT --query storage --max-tokens 20000 --format json --explain --save OUT/b.scenario.toml
files ROOT --max-tokens 20000 --strategy delete --format json --report OUT/b.svg --report OUT/b.md
chunk ROOT --base HEAD~1 --format markdown
chunk ROOT --base HEAD~1 --out OUT/chunks
chunk ROOT --base HEAD~1 --format json --explain
chunk ROOT --base HEAD~1 --signatures --report OUT/c.html
chunk ROOT --base HEAD~1 --context 0 --format markdown
chunk ROOT --base HEAD~1 --context 6 --format text
chunk ROOT --base HEAD~1 --max-tokens 3000 --format markdown --save OUT/c.scenario.toml --report OUT/c.svg
config ROOT
config ROOT --format json
mine ROOT --out OUT/cases
mine ROOT --out OUT/cases-2 --format json
evaluate OUT/cases --part all --budget 4000
evaluate OUT/cases --part all --budget 4000 --format json
prefer list ROOT
check OUT
check OUT --format json
check OUT --format markdown
check OUT/cases
search storage ROOT/missing
search storage ROOT --pin src/missing
log ROOT/missing.log
replay OUT/missing.replay.jsonl
""".splitlines()
"""The calls that read the repository."""


def run_calls(made: Planted, plants: Plants, calls: Iterable[str] = CALLS, inputs: Iterable[str] = ()) -> int:
    """Runs calls and looks at their streams; returns how many ran."""
    ran = 0
    places = {"ROOT": made.root, "OUT": made.out, "IN": made.root.parent / "in"}
    lines = [
        call.replace("IN", f"IN/{Path(name).name}").replace("OUT/N", f"OUT/{Path(name).stem}-{number}")
        for name in inputs
        for number, call in enumerate(INPUTS[Path(name).suffix])
    ]
    lines += calls  # the last of them check the scenarios that were saved
    for line in lines:
        parts = [word.partition("/") for word in shlex.split(line)]
        words = [str(places[name] / rest) if name in places else name + slash + rest for name, slash, rest in parts]
        _look_at_call(words, _channel(words), plants)
        ran += 1
    return ran


def run_typed(made: Planted, plants: Plants) -> int:
    """Runs a call for each credential that is typed."""
    for number, (place, item) in enumerate(made.typed):
        saved = {"SAVED": f"{made.out}/typed-{number}.scenario.toml", "REPORT": f"{made.out}/typed-{number}.html"}
        words = [saved.get(word, word.replace("ROOT", str(made.root))).replace("{}", item) for word in place.words]
        _look_at_call(words, _channel(words[:1]), plants)
    return len(made.typed)


def _look_at_call(words: Sequence[str], channel: str, plants: Plants) -> None:
    ran = secateur(*words)
    plants.look(ran.out, f"stdout of {channel}")
    plants.look(ran.err, f"stderr of {channel}")


def _channel(words: Sequence[str]) -> str:
    """A call without its paths: the command, its format, and how it explains."""
    form = words[words.index("--format") + 1] if "--format" in words else "text"
    extra = [word for word in ("--explain", "--examples", "--plain") if word in words]
    return " ".join([words[0], form, *extra])


async def ask_server(client: mcp.Client, made: Planted, plants: Plants) -> int:
    """Calls every tool of a server, follows the pages, and looks at the answers."""
    folder = made.root.parent
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "storage", "budget": 20000}),
        ("search", {"query": "password of the storage", "profile": "recommended", "budget": 20000}),
        ("expand", {"symbol": "storage_step_0"}),
        ("expand", {"symbol": "connect_storage_0", "steps": 2}),
        ("prune", {"files": ["src"], "request": "storage", "kind": "files", "budget": 20000}),
        ("review", {"base": "HEAD~1"}),
        ("review", {"base": "missing"}),
    ]
    for path in sorted((folder / "in").glob("*")):
        if path.suffix == ".jsonl":
            calls.append(("prune", {"messages": [json.loads(line) for line in path.read_text().splitlines()]}))
        calls.append(("prune", {"text": path.read_text(), "budget": 20000}))
    for place, item in made.typed:
        if place.words[0] == "search" and "{}" in place.words[1]:
            calls.append(("search", {"query": item, "budget": 500}))
        if place.words[0] == "files":
            calls.append(("prune", {"files": [item]}))
            calls.append(("expand", {"symbol": item}))
    for tool, arguments in calls:
        cursor: dict[str, Any] = {}
        for _ in range(20):
            answer = await client.call_tool(tool, arguments | cursor)
            plants.look(answer.model_dump_json(), f"mcp {tool}")
            content = (answer.meta or {}).get(FACTS, {})
            if answer.is_error or not content.get("next"):
                break
            cursor = {"cursor": content["next"]}
    return len(calls)


async def inspect(made: Planted, plants: Plants, queries: Sequence[str], environ: Any) -> None:
    """Opens the inspector, first without a query, presses keys, records, and looks at every screen."""
    from inspector_kit import Inspector, Pace, press, settle

    settings = load(made.root).settings
    with Engine.open(made.root, settings) as engine:
        for number, query in enumerate(["", "storage", *queries]):
            app = Inspector(engine, settings, path=str(made.root), query=query, pace=Pace(0.001, 0.001, 0))
            file = made.root / f"seen-{number}.replay.jsonl"
            with session(environ) as opened:
                recorder = app.recorder = Recorder(file, opened, _ticking())
                async with app.run_test(size=(200, 60)):
                    for key in ("", "down", "v", "p") if number < 2 else ("",):
                        await press(app, *key.split())
                        lines = await settle(app)
                        if number < 2:  # who typed a query may see it
                            plants.look("\n".join(lines), "screen")
                recorder.close()
            if file.exists():
                plants.look(file.read_bytes(), "recording")
                file.unlink()
            shutil.rmtree(file.with_suffix("").with_suffix(".replay.inputs"), ignore_errors=True)


def _ticking() -> Callable[[], float]:
    now: Iterator[int] = iter(range(10**6))
    return lambda: next(now) * 1.5


def input_names(places: Iterable[Place]) -> list[str]:
    """The files outside the repository that calls read."""
    return [place.path for place in places if place.path.startswith("in/")]
