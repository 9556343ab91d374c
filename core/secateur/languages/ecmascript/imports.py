"""Resolves imports of JavaScript and TypeScript, by the aliases and packages of the repository's manifests:
`package.json`, `tsconfig.json`, `jsconfig.json`.

`read_manifest` reads how import names are resolved inside a repository. A manifest has no code, so these rules become
annotations of its first fragment: `#entry ./hooks` is the file of a package's `hooks`, `#path @/*` the path for names
that match the pattern, `#base` the folder in which names are looked up, `#extends` another configuration.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

from secateur.languages.packages import Package, is_never_installed
from secateur.languages.syntax.import_targets import Files, Finder, Module, folder_of, folders_above, join_path
from secateur.model import Annotation, FileFacts

# Suffixes of the compiled files that TypeScript imports contain, and suffixes of their sources.
_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro", ".d.ts")
_EMITTED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}


class ScriptFinder(Finder):
    """Finds modules by relative paths, `index` files and manifests, or else by `@/` and `~/`, paths from the root, and
    packages by folder name."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._at: dict[str, Module] = {}
        self._entries: dict[str, list[str]] = {}  # folder name -> folders that have an index file or a src/index file
        self._packages = Packages(files)
        for file, path in enumerate(files.paths):
            if files.family[file] != family:
                continue
            self._at[path] = files.modules[file]
            folder, _, base = path.rpartition("/")
            if base.startswith("index."):
                owner = folder_of(folder) if posixpath.basename(folder) == "src" else folder
                known = self._entries.setdefault(posixpath.basename(owner), [])
                if owner not in known:
                    known.append(owner)
        self._find = cache(self._find_from)

    def find_module(self, file: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - dots are in the name
        return self._find(folder_of(self._paths[file]), name)

    def _find_from(self, here: str, name: str) -> Module | None:
        if name.startswith("."):
            path = posixpath.normpath(join_path(here, name))
            if path.startswith(".."):
                return None
            return self._find_file("" if path == "." else path)
        if module := self._find_first(self._packages.list_paths(here, name)):
            return module
        if name.startswith(("@/", "~/", "#/", "$lib/")):
            rest = name.partition("/")[2]
            roots = ("src", "", "app", "src/lib")
            candidates = [join_path(above, root, rest) for above in folders_above(here) for root in roots]
        elif "/" in name and not name.startswith(("/", "@")):
            candidates = [join_path(above, name) for above in folders_above(here)]
        else:
            candidates = []
        if module := self._find_first(candidates):
            return module
        if not name.startswith("@") or name.startswith("@/"):
            return None
        package, _, inside = name.partition("/")[2].partition("/")
        folders = self._entries.get(package, ())
        return (
            self._find_first(join_path(folders[0], root, inside) for root in ("", "src")) if len(folders) == 1 else None
        )

    def _find_first(self, paths: Iterable[str]) -> Module | None:
        return next(filter(None, map(self._find_file, paths)), None)

    def _find_file(self, path: str) -> Module | None:
        if path in self._at:
            return self._at[path]
        stem, dot, suffix = path.rpartition(".")
        spellings = [stem + source for source in _EMITTED.get(dot + suffix, ())]
        spellings += [path + suffix for suffix in _SUFFIXES if path]
        spellings += [join_path(path, "index" + suffix) for suffix in _SUFFIXES]
        return next((self._at[spelling] for spelling in spellings if spelling in self._at), None)

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:  # noqa: ARG002
        return self._find_first(self._packages.list_paths_inside(folder, inside))


_PARENTS = 6  # most configurations that are followed along `extends`
_SOURCES = ("src", "lib", "")  # folders of a package that are searched if its entry is a compiled file


@dataclass(slots=True)
class _Config:
    base: str | None = None
    paths: list[tuple[str, str]] = field(default_factory=list)  # pattern, path
    parents: list[str] = field(default_factory=list)


class Packages:
    """The manifests of a repository."""

    def __init__(self, files: Files) -> None:
        self._entries: dict[str, list[tuple[str, str]]] = {}  # folder of a package -> name inside it, path
        self._folders: dict[str, dict[str, None]] = {}  # name of a package -> folders
        self._configs: dict[str, _Config] = {}  # by path
        for path, facts in zip(files.paths, files.facts, strict=True):
            if facts.language != MANIFEST or not (facts.package or facts.annotations):
                continue
            folder, _, base = path.rpartition("/")
            if base == "package.json":
                self._folders.setdefault(facts.package, {})[folder] = None
                self._entries[folder] = [(rule.name.removeprefix(ENTRY), rule.type) for rule in facts.annotations]
                continue
            config = self._configs[path] = _Config()
            config.base = next((_resolve(folder, rule.type) for rule in facts.annotations if rule.name == BASE), None)
            start = folder if config.base is None else config.base
            for rule in facts.annotations:
                if rule.name.startswith(PATH):
                    config.paths.append((rule.name.removeprefix(PATH), _resolve(start, rule.type)))
                elif rule.name == EXTENDS and rule.type.startswith("."):
                    config.parents.append(_resolve(folder, rule.type))

    def list_paths(self, here: str, name: str) -> Iterator[str]:
        """Yields the paths that `name` may mean in the folder `here`, likeliest first: files with or without suffix,
        or folders."""
        if not self._configs and not self._entries:
            return
        if (config := self._find_config(here)) is not None:
            for pattern, path in config.paths:
                if (rest := _match_star(pattern, name)) is not None:
                    yield posixpath.normpath(path.replace("*", rest, 1))
            if config.base is not None:
                yield posixpath.normpath(f"{config.base}/{name}".lstrip("/"))
        if name.startswith("#"):
            for owner in [outer for outer in folders_above(here) if outer in self._entries][:1]:
                yield from self._list_entry_paths(owner, name)
            return
        parts = name.split("/")
        folders = self._folders.get("/".join(parts[: 2 if name.startswith("@") else 1]), {})
        outer = [folder for folder in folders_above(here) if folder in folders]
        for folder in outer or (folders if len(folders) == 1 else ()):
            yield from self.list_paths_inside(folder, "/".join(parts[2 if name.startswith("@") else 1 :]))

    def list_paths_inside(self, folder: str, inside: str) -> Iterator[str]:
        """Yields the paths of a name inside the package in `folder`; "" for the package itself."""
        yield from self._list_entry_paths(folder, f"./{inside}" if inside else ".")
        for source in _SOURCES:
            yield _resolve(folder, posixpath.join(source, inside))
        yield _resolve(folder, posixpath.join(inside, "src"))

    def _list_entry_paths(self, folder: str, asked: str) -> Iterator[str]:
        for pattern, path in self._entries.get(folder, ()):
            if (rest := _match_star(pattern, asked)) is not None:
                target = _resolve(folder, path.replace("*", rest, 1))
                yield target.removesuffix(".d.ts")  # the source is better than its declaration file
                yield target

    def _find_config(self, here: str) -> _Config | None:
        for above in folders_above(here):
            for name in ("tsconfig.json", "jsconfig.json"):
                path = f"{above}/{name}".lstrip("/")
                if path in self._configs:
                    whole, pending, seen = _Config(), [path], 0
                    while pending and seen < _PARENTS:
                        seen += 1
                        path = pending.pop(0)
                        config = self._configs.get(path) or self._configs.get(f"{path}.json")
                        if config is not None:
                            whole.base = config.base if whole.base is None else whole.base
                            whole.paths = whole.paths or config.paths
                            pending += config.parents
                    return whole
        return None


def _resolve(folder: str, written: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, written))
    return "" if path == "." else path


def _match_star(pattern: str, name: str) -> str | None:
    """Returns the text that matches the `*` of a pattern, "" without a `*`; None if the name does not match."""
    head, star, tail = pattern.partition("*")
    if not star:
        return "" if name == pattern else None
    if len(name) < len(head) + len(tail) or not (name.startswith(head) and name.endswith(tail)):
        return None
    return name[len(head) : len(name) - len(tail)]


MANIFEST = "json"  # The language of manifests. Its other files have sections only.

ENTRY, PATH, BASE, EXTENDS = "#entry ", "#path ", "#base", "#extends"

_PACKAGE = "package.json"
_CONFIG = re.compile(r"(?:ts|js)config(?:\.[\w.-]+)?\.json")
_MAIN = ("source", "module", "main", "types", "typings", "browser")
_LARGEST = 256 * 1024
_MOST_RULES = 1000
_LONGEST_NAME = 1000
_SURROGATES = re.compile("[\ud800-\udfff]")
_DEEPEST = 8
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
# Both patterns let an unclosed quote or comment end with the text: otherwise each one would be searched to the end
# again, which takes quadratic time.
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*+"?)|,(?=\s*+[}\]])', re.DOTALL)

_REQUIREMENTS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def read_manifest(path: str, text: str) -> tuple[str, tuple[Annotation, ...]]:
    """Returns the name of the package and the rules for import names; ("", ()) for an unreadable or any other file."""
    base = path.rpartition("/")[2]
    if len(text) > _LARGEST or not (base == _PACKAGE or _CONFIG.fullmatch(base)):
        return "", ()
    try:
        manifest = json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text)))
    except (ValueError, RecursionError):
        return "", ()
    if not isinstance(manifest, dict):
        return "", ()
    rules = _read_package(manifest) if base == _PACKAGE else _read_config(manifest)
    name = manifest.get("name") if base == _PACKAGE else ""
    annotations = (Annotation(0, key, value) for key, value in rules if _is_name(key + value))
    package = name if isinstance(name, str) and _is_name(name) else ""
    return package, tuple(dict.fromkeys(islice(annotations, _MOST_RULES)))


def _is_name(text: str) -> bool:
    """Tells whether a text can be a name. JSON can spell lone surrogates, which no file name or record contains."""
    return len(text) <= _LONGEST_NAME and not _SURROGATES.search(text)


def _read_package(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _MAIN:
        if isinstance(manifest.get(name), str):
            yield f"{ENTRY}.", manifest[name]
    for name in ("exports", "imports"):
        targets = manifest.get(name)
        by_name = isinstance(targets, dict) and all(key.startswith((".", "#")) for key in targets)
        for key, value in targets.items() if isinstance(targets, dict) and by_name else ((".", targets),):
            for target in _list_leaves(value):
                yield ENTRY + key, target


def _list_leaves(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _list_leaves(inner, depth + 1)


def _read_config(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for parent in _list_leaves(manifest.get("extends")):
        yield EXTENDS, parent
    options = manifest.get("compilerOptions")
    if not isinstance(options, dict):
        return
    if isinstance(options.get("baseUrl"), str):
        yield BASE, options["baseUrl"]
    paths = options.get("paths")
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        for target in _list_leaves(targets):
            yield PATH + pattern, target


class ScriptManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"package\.json")
    separator = "/"

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:  # noqa: ARG002 - all are read alike
        """Returns the package and its requirements. Raises ValueError for an unreadable manifest."""
        manifest = json.loads(text)
        tables = (manifest.get(key) for key in _REQUIREMENTS)
        requirements = [name for table in tables if isinstance(table, dict) for name in table]
        name = manifest.get("name")
        return name if isinstance(name, str) else "", requirements

    def list_packages(
        self,
        files: Sequence[tuple[str, FileFacts]],  # noqa: ARG002 - package.json is enough
        distributions: Mapping[str, str],
    ) -> Iterator[Package]:
        """Yields the package of each manifest; of two with one name, the one nearer to the root. Other repositories
        use it only if they require it."""
        known: set[str] = set()
        for path, name in distributions.items():
            if name and name not in known and not is_never_installed(folder_of(path)):
                known.add(name)
                yield Package("js", name, folder_of(path), name, is_plain=False)

    def list_imports(self, facts: FileFacts) -> Iterator[str]:
        """Yields imported names that are not paths."""
        modules = (statement.module for statement in facts.imports)
        return (module for module in modules if module and not module.startswith((".", "/", "#")))
