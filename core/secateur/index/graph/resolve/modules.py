"""Where an import leads: from a module's name, as each language family writes it, to a file, package or directory of
the repository.

No build file is read: import roots are inferred from the tree itself. A finder answers with a `Module`, or None where
the name is not of this repository. Each is built in time linear in the number of paths and answers from dictionaries.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from secateur.index.graph.resolve.packages import Packages
from secateur.index.graph.resolve.symbols import Module, Symbols, dotted
from secateur.index.graph.resolve.words import GO_STANDARD, PYTHON_STANDARD

SOURCE_ROOTS = ("src", "lib", "python", "source")
"""Folders that hold import roots by convention; they win where several would do."""

JS_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".d.ts")
JS_EMITTED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""Suffixes a TypeScript import writes for the file that will be emitted, and the source it means."""


class Finder(Protocol):
    """Finds modules for files of one language family."""

    def module(self, number: int, name: str, level: int) -> Module | None:
        """The module that `name`, written in file `number` behind `level` dots, means."""

    def submodule(self, module: Module, name: str) -> Module | None:
        """The module `name` inside `module`."""


def _directory(path: str) -> str:
    return path.rpartition("/")[0]


def _above(directory: str) -> list[str]:
    """The directory and all that hold it, innermost first; "" is the repository."""
    out = [directory]
    while directory:
        directory = _directory(directory)
        out.append(directory)
    return out


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part)


class PythonFinder:
    """Modules are files, packages are directories with or without `__init__.py`; roots are directories that are not
    packages themselves."""

    def __init__(self, symbols: Symbols) -> None:
        self._paths = symbols.paths
        self._at: dict[str, Module] = {}  # "a/b" -> module or package
        packages: set[str] = set()
        directories: dict[str, None] = {}
        for number, path in enumerate(symbols.paths):
            if symbols.family[number] != "python":
                continue
            stem, module = path.rpartition(".")[0], symbols.modules[number]
            directories.update(dict.fromkeys(_above(_directory(path))))
            if posixpath.basename(stem) == "__init__":
                stem = _directory(stem)
                packages.add(stem)
                module.directory = stem
                self._at[stem] = module
            elif path.endswith(".py"):
                self._at[stem] = module
            else:
                self._at.setdefault(stem, module)
        for directory in directories:
            if directory and directory not in self._at:
                self._at[directory] = Module(directory, directory=directory)
        self._by_name: dict[str, list[tuple[str, Module]]] = {}  # "a.b" -> [(root, module)]
        for place, module in self._at.items():
            for root in _above(_directory(place)):
                if root not in packages:
                    self._by_name.setdefault(place[len(root) :].lstrip("/").replace("/", "."), []).append(
                        (root, module)
                    )
        self._memo: dict[tuple[str, str], Module | None] = {}

    def module(self, number: int, name: str, level: int) -> Module | None:
        here = _directory(self._paths[number])
        if level:
            above = _above(here)
            if level > len(above):
                return None
            return self._at.get(_join(above[level - 1], name.replace(".", "/")))
        key = (here, name)
        if key not in self._memo:
            self._memo[key] = self._absolute(here, name)
        return self._memo[key]

    def _absolute(self, here: str, name: str) -> Module | None:
        found = self._by_name.get(name)
        if not found:
            return None
        roots = dict(reversed(found))
        for root in _above(here):
            if root in roots:
                return roots[root]
        if name.partition(".")[0] in PYTHON_STANDARD:
            return None
        conventional = [module for root, module in found if posixpath.basename(root) in SOURCE_ROOTS]
        return conventional[0] if conventional else found[0][1] if len(found) == 1 else None

    def submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(_join(module.directory, name))


class ScriptFinder:
    """JavaScript and TypeScript: relative paths, `index` files, what manifests say, else `@/` and `~/`, paths from the
    root, packages by folder name."""

    def __init__(self, symbols: Symbols) -> None:
        self._paths = symbols.paths
        self._at: dict[str, Module] = {}
        self._entry: dict[str, list[str]] = {}  # folder name -> folders that have an index file or a src/index file
        self._packages = Packages(symbols)
        for number, path in enumerate(symbols.paths):
            if symbols.family[number] != "js":
                continue
            self._at[path] = symbols.modules[number]
            folder, _, base = path.rpartition("/")
            if base.startswith("index."):
                owner = _directory(folder) if posixpath.basename(folder) == "src" else folder
                known = self._entry.setdefault(posixpath.basename(owner), [])
                if owner not in known:
                    known.append(owner)
        self._memo: dict[tuple[str, str], Module | None] = {}

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - relative names carry their own dots
        key = (_directory(self._paths[number]), name)
        if key not in self._memo:
            self._memo[key] = self._find(*key)
        return self._memo[key]

    def _find(self, here: str, name: str) -> Module | None:
        if name.startswith("."):
            place = posixpath.normpath(_join(here, name))
            return None if place.startswith("..") else self._file("" if place == "." else place)
        for place in self._packages.places(here, name):
            if found := self._file(place):
                return found
        if name.startswith(("@/", "~/", "#/", "$lib/")):
            rest = name.partition("/")[2]
            candidates = [_join(above, root, rest) for above in _above(here) for root in ("src", "", "app", "src/lib")]
        elif "/" in name and not name.startswith(("/", "@")):
            candidates = [_join(above, name) for above in _above(here)]
        else:
            candidates = []
        for place in candidates:
            if found := self._file(place):
                return found
        package, _, inside = (
            name.removeprefix("@").partition("/") if not name.startswith("@") else name.partition("/")[2].partition("/")
        )
        folders = self._entry.get(package, ()) if name.startswith("@") and not name.startswith("@/") else ()
        if len(folders) == 1:
            return self._file(_join(folders[0], inside)) or self._file(_join(folders[0], "src", inside))
        return None

    def _file(self, place: str) -> Module | None:
        if place in self._at:
            return self._at[place]
        stem, dot, suffix = place.rpartition(".")
        for source in JS_EMITTED.get(dot + suffix, ()):
            if stem + source in self._at:
                return self._at[stem + source]
        for suffix in JS_SUFFIXES:
            if place and place + suffix in self._at:
                return self._at[place + suffix]
        for suffix in JS_SUFFIXES:
            index = _join(place, "index" + suffix)
            if index in self._at:
                return self._at[index]
        return None

    def submodule(self, module: Module, name: str) -> Module | None:  # noqa: ARG002
        return None


class GoFinder:
    """Packages are directories; the module path of `go.mod` is inferred from the imports that end in directories of the
    repository."""

    def __init__(self, symbols: Symbols) -> None:
        self._by_directory: dict[str, Module] = {}
        for (family, key), package in symbols.packages.items():
            directory, _, declared = key.rpartition(":")
            # the package proper, not the external test package that shares its directory
            if family == "go" and (directory not in self._by_directory or not declared.endswith("_test")):
                self._by_directory[directory] = package
        suffixes: dict[str, list[str]] = {}
        for directory in self._by_directory:
            parts = directory.split("/")
            for start in range(len(parts)):
                suffixes.setdefault("/".join(parts[start:]), []).append(directory)
        self._suffixes = suffixes
        names = {
            statement.module
            for number, facts in enumerate(symbols.facts)
            if symbols.family[number] == "go"
            for statement in facts.imports
        }
        votes: Counter[tuple[str, str]] = Counter()
        for name in sorted(names):
            parts = name.split("/")
            if parts[0] in GO_STANDARD:
                continue
            for start in range(1, len(parts)):
                for directory in suffixes.get("/".join(parts[start:]), ()):
                    votes[
                        "/".join(parts[:start]), directory[: len(directory) - len("/".join(parts[start:]))].rstrip("/")
                    ] += 1
        # most imports explained; then the prefix nearest to the root of the repository
        self._roots = sorted(votes, key=lambda vote: (-votes[vote], len(vote[1]), vote))
        self._votes = votes
        self._memo: dict[str, Module | None] = {}

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - Go has no relative imports
        if name not in self._memo:
            self._memo[name] = self._find(name)
        return self._memo[name]

    def _find(self, name: str) -> Module | None:
        parts = name.split("/")
        if parts[0] in GO_STANDARD:
            return None
        best = self._votes[self._roots[0]] if self._roots else 0
        for prefix, root in self._roots:
            if name == prefix:
                return self._by_directory.get(root)
            if name.startswith(prefix + "/"):
                inside = name[len(prefix) + 1 :]
                # a prefix few imports share is a module of its own only if more than a common last name ("errors")
                # agrees
                if (self._votes[prefix, root] * 4 >= best or "/" in inside) and (
                    found := self._by_directory.get(_join(root, inside))
                ):
                    return found
        return None

    def submodule(self, module: Module, name: str) -> Module | None:  # noqa: ARG002
        return None


class RustFinder:
    """Crate roots are folders with `lib.rs` or `main.rs`; a crate's name is that of the folder above `src`."""

    def __init__(self, symbols: Symbols) -> None:
        self._paths = symbols.paths
        paths = {path: number for number, path in enumerate(symbols.paths) if symbols.family[number] == "rust"}
        self._roots = {_directory(path) for path in paths if posixpath.basename(path) in ("lib.rs", "main.rs")}
        self._crates: dict[str, str] = {}
        for root in sorted(self._roots):
            folder = _directory(root) if posixpath.basename(root) == "src" else root
            self._crates.setdefault(posixpath.basename(folder).replace("-", "_"), root)
        self._at: dict[str, Module] = {}
        for path, number in paths.items():
            base, module = posixpath.basename(path), symbols.modules[number]
            place = _directory(path) if base in ("lib.rs", "main.rs", "mod.rs") else path.removesuffix(".rs")
            if base != "main.rs" or place not in self._at:
                self._at[place] = module
                module.directory = place
        self._add_longer_names(symbols)
        self._add_names_in_tests(symbols)

    def _has(self, root: str, wanted: str) -> bool:
        """Whether the crate at `root` offers a name; "" asks for no more than the crate."""
        module = self._at.get(root)
        return module is not None and (
            not wanted or wanted in module.names or wanted in module.exports or _join(root, wanted) in self._at
        )

    def _add_longer_names(self, symbols: Symbols) -> None:
        """Crates whose name ends in that of their folder (`grep_regex` in `crates/regex`), where an import shows it by
        something the crate has."""
        for _, head, wanted in self._unknown(symbols):
            _, _, last = head.partition("_")
            while last and head not in self._crates:
                if (root := self._crates.get(last)) is not None and self._has(root, wanted):
                    self._crates[head] = root
                _, _, last = last.partition("_")

    def _add_names_in_tests(self, symbols: Symbols) -> None:
        """The name by which tests, examples and benchmarks beside `src` import their crate: the one of which the crate
        has all they import."""
        seen: dict[tuple[str, str], bool] = {}
        for number, head, wanted in self._unknown(symbols):
            if not wanted:
                continue
            for folder in _above(_directory(self._paths[number])):
                if (root := _join(folder, "src")) in self._roots and posixpath.basename(folder) != "src":
                    seen[head, root] = seen.get((head, root), True) and self._has(root, wanted)
                    break
        for (head, root), offered in seen.items():
            if offered:
                self._crates.setdefault(head, root)

    def _unknown(self, symbols: Symbols) -> list[tuple[int, str, str]]:
        """(file, crate, name it is asked for) of imports from crates no folder is named like."""
        out: list[tuple[int, str, str]] = []
        for number, facts in enumerate(symbols.facts):
            for statement in facts.imports if symbols.family[number] == "rust" else ():
                head, _, rest = dotted(statement.module).partition(".")
                wanted = rest.partition(".")[0] or statement.symbol
                if (
                    head not in self._crates
                    and head not in ("crate", "self", "super", "std", "core", "alloc")
                    and wanted != "*"
                ):
                    out.append((number, head, wanted))
        return out

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - `super` stands in the name
        head, _, rest = dotted(name).partition(".")
        path = self._paths[number]
        place = (
            _directory(path)
            if posixpath.basename(path) in ("lib.rs", "main.rs", "mod.rs")
            else path.removesuffix(".rs")
        )
        root = next((above for above in _above(_directory(path)) if above in self._roots), _directory(path))
        if head == "crate":
            start = root
        elif head == "self":
            start = place
        elif head == "super":
            start = _directory(place)
            while rest == "super" or rest.startswith("super."):
                start, rest = _directory(start), rest[6:]
        elif _join(place, head) in self._at:
            start = _join(place, head)
        elif _join(root, head) in self._at:
            start = _join(root, head)
        elif head in self._crates:
            start = self._crates[head]
        else:
            return None
        return self._at.get(_join(start, rest.replace(".", "/")))

    def submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(_join(module.directory, name))


class PackageFinder:
    """Java, C#, PHP: packages and namespaces are declared in the files."""

    def __init__(self, symbols: Symbols, family: str) -> None:
        self._packages = {name: package for (kind, name), package in symbols.packages.items() if kind == family}

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002
        return self._packages.get(dotted(name))

    def submodule(self, module: Module, name: str) -> Module | None:
        return self._packages.get(f"{module.name}.{name}")


class IncludeFinder:
    """C, C++, Ruby and everything else: a path, relative to the file or the end of exactly one path of the
    repository."""

    def __init__(self, symbols: Symbols) -> None:
        self._paths = symbols.paths
        self._at = dict(zip(symbols.paths, symbols.modules, strict=True))
        self._by_name: dict[str, list[str]] = {}
        for path in symbols.paths:
            self._by_name.setdefault(posixpath.basename(path), []).append(path)
        self._tails: dict[str, Module | None] = {}

    def module(self, number: int, name: str, level: int) -> Module | None:  # noqa: ARG002
        path = self._paths[number]
        for spelling in (name, name + posixpath.splitext(path)[1]):
            place = posixpath.normpath(_join(_directory(path), spelling))
            if place in self._at:
                return self._at[place]
            tail = posixpath.normpath(spelling)
            if tail not in self._tails:
                same = [
                    known
                    for known in self._by_name.get(posixpath.basename(tail), ())
                    if known == tail or known.endswith("/" + tail)
                ]
                self._tails[tail] = self._at[same[0]] if len(same) == 1 else None
            if found := self._tails[tail]:
                return found
        return None

    def submodule(self, module: Module, name: str) -> Module | None:  # noqa: ARG002
        return None


def finders(symbols: Symbols) -> dict[str, Finder]:
    """A finder per language family that occurs."""
    build: dict[str, Callable[[Symbols], Finder]] = {
        "python": PythonFinder,
        "js": ScriptFinder,
        "go": GoFinder,
        "rust": RustFinder,
    }
    out: dict[str, Finder] = {}
    by_path = IncludeFinder(symbols)
    for family in dict.fromkeys(symbols.family):
        if family in ("java", "csharp", "php"):
            out[family] = PackageFinder(symbols, family)
        else:
            out[family] = build[family](symbols) if family in build else by_path
    return out
