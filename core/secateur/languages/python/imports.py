"""Resolves imports of Python, and reads the packages that a repository provides and requires from `pyproject.toml`,
`setup.cfg`, `setup.py` and `requirements*.txt`. Nothing is executed: only the strings in `setup.py` are read."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser, Error
from functools import cache
from typing import Any

from secateur.languages.packages import NEVER_INSTALLED, Package
from secateur.languages.python import STANDARD
from secateur.languages.syntax.import_targets import Files, Finder, Module, folder_of, folders_above, join_path
from secateur.model import FileFacts

SOURCE_ROOTS = ("src", "lib", "python", "source")  # folders that are import roots by convention; they are preferred


class PythonFinder(Finder):
    """Finds modules, which are files, and packages, which are directories with or without `__init__.py`. Directories
    that are not packages are import roots."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._at: dict[str, Module] = {}  # "a/b" -> module or package
        packages: set[str] = set()
        directories: dict[str, None] = {}
        for file, path in enumerate(files.paths):
            if files.family[file] != family:
                continue
            stem, module = path.rpartition(".")[0], files.modules[file]
            directories.update(dict.fromkeys(folders_above(folder_of(path))))
            if posixpath.basename(stem) == "__init__":
                stem = folder_of(stem)
                packages.add(stem)
                module.directory = stem
                self._at[stem] = module
            elif path.endswith(".py"):
                self._at[stem] = module
            else:
                self._at.setdefault(stem, module)
        for directory in directories:
            if directory and directory not in self._at:
                self._at[directory] = Module(directory, directory=directory, language="python", family=family)
        self._packages = packages
        self._by_end: dict[str, list[str]] = {}  # last name, and last two names, of a module -> paths
        for stem in self._at:
            names = stem.replace("/", ".").rsplit(".", 2)
            for end in {names[-1], ".".join(names[-2:])}:
                self._by_end.setdefault(end, []).append(stem)
        self._by_roots, self._absolute = cache(self._find_by_roots), cache(self._find_absolute)

    def find_module(self, file: int, name: str, level: int) -> Module | None:
        here = folder_of(self._paths[file])
        if level:
            above = folders_above(here)
            if level > len(above):
                return None
            return self._at.get(join_path(above[level - 1], name.replace(".", "/")))
        return self._absolute(here, name)

    def _find_absolute(self, here: str, name: str) -> Module | None:
        by_root, elsewhere = self._by_roots(name)
        for root in folders_above(here) if by_root else ():
            if root in by_root:
                return by_root[root]
        return None if name.partition(".")[0] in STANDARD else elsewhere

    def _find_by_roots(self, name: str) -> tuple[dict[str, Module], Module | None]:
        """Returns the modules with a name by import root, and the module for files outside these roots."""
        candidates: list[tuple[str, Module]] = []
        for stem in self._by_end.get(".".join(name.rsplit(".", 2)[-2:]), ()):
            start = len(stem) - len(name)
            if stem.replace("/", ".").endswith(name) and (start == 0 or stem[start - 1 : start] == "/"):
                root = stem[: max(0, start - 1)]
                if root not in self._packages:
                    candidates.append((root, self._at[stem]))
        conventional = [module for root, module in candidates if posixpath.basename(root) in SOURCE_ROOTS]
        alone = [module for _, module in candidates] if len(candidates) == 1 else []
        return dict(reversed(candidates)), next(iter(conventional + alone), None)

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(join_path(module.directory, name))

    def find_in_package(self, folder: str, name: str, inside: str) -> Module | None:
        return self._at.get(join_path(folder, name.replace(".", "/"), inside))


_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]{0,100})")
_SETUP_NAME = re.compile(r"\bname\s{0,9}=\s{0,9}[\"']([\w.-]{1,100})[\"']")
_SETUP_STRING = re.compile(r"[\"']([A-Za-z0-9][\w.-]{0,100})\s{0,9}(?:[\[<>=!~;][^\"'\n]{0,200})?[\"']")
_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_TOOLS = frozenset(["setup", "conftest", "noxfile", "tasks", "fabfile", "manage", "docs", "test", "tests"])


class PythonManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"pyproject\.toml|setup\.cfg|setup\.py|requirements[\w.-]*\.txt")
    separator = "."

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:
        """Returns the distribution and its requirements. Raises ValueError for an unreadable manifest."""
        base = path.rpartition("/")[2]
        if base == "pyproject.toml":
            import tomllib

            return _read_project(tomllib.loads(text))
        if base == "setup.cfg":
            parser = ConfigParser(interpolation=None, strict=False)
            try:
                parser.read_string(text)
            except Error as error:
                raise ValueError(str(error)) from error
            lines = parser.get("options", "install_requires", fallback="").splitlines()
            if parser.has_section("options.extras_require"):
                lines += [line for _, value in parser.items("options.extras_require") for line in value.splitlines()]
            return _normalize_name(parser.get("metadata", "name", fallback="")), list(_read_requirements(lines))
        if base == "setup.py":
            name = _SETUP_NAME.search(text)
            return _normalize_name(name[1]) if name else "", map(_normalize_name, _SETUP_STRING.findall(text))
        return "", _read_requirements(text.splitlines())

    def list_packages(
        self, files: Sequence[tuple[str, FileFacts]], distributions: Mapping[str, str]
    ) -> Iterator[Package]:
        """Yields the packages and modules below a folder with a manifest, or below a source folder there."""
        owners = {folder_of(path): "" for path in distributions if path.rpartition("/")[2] in _FILES}
        for base in reversed(_FILES):
            for folder in owners:
                owners[folder] = distributions.get(join_path(folder, base), "") or owners[folder]
        paths = [path for path, facts in files if facts.language == "python"]
        packages = {folder_of(path) for path in paths if path.rpartition("/")[2] in ("__init__.py", "__init__.pyi")}
        outer = sorted(folder for folder in packages if folder and folder_of(folder) not in packages)
        candidates = [(folder, True) for folder in outer]
        candidates += [(path.rpartition(".")[0], False) for path in paths if folder_of(path) not in packages]
        for stem, is_package in candidates:
            owner = next((above for above in folders_above(folder_of(stem)) if above in owners), None)
            if owner is None:
                continue
            roots = [join_path(owner, root) for root in SOURCE_ROOTS]
            root = next((root for root in roots if stem.startswith(f"{root}/")), owner)
            parts = stem[len(root) :].strip("/").split("/")
            alone = len(parts) == 1 and (root != owner or _normalize_name(parts[0]) == owners[owner])
            if (
                not (is_package or alone)
                or not NEVER_INSTALLED.isdisjoint(parts[:-1])
                or parts[0] in NEVER_INSTALLED | STANDARD | _TOOLS
            ):
                continue
            if all(part.isidentifier() for part in parts):
                name, distribution = ".".join(parts), owners[owner]
                plain = distribution in (
                    _normalize_name(name),
                    _normalize_name(parts[0]),
                    f"python-{_normalize_name(name)}",
                )
                yield Package("python", name, root, distribution, plain)

    def list_imports(self, facts: FileFacts) -> Iterator[str]:
        """Yields imported modules, and symbols that may be submodules."""
        for statement in facts.imports:
            if not statement.level and statement.module:
                yield statement.module
                if statement.symbol not in ("", "*"):
                    yield f"{statement.module}.{statement.symbol}"


def _read_project(table: dict[str, Any]) -> tuple[str, list[str]]:
    project, tools = _read_table(table, "project"), _read_table(table, "tool")
    poetry = _read_table(tools, "poetry")
    flit = _read_table(_read_table(tools, "flit"), "metadata")
    lists = [project.get("dependencies"), flit.get("requires")]
    lists += [
        *_read_table(project, "optional-dependencies").values(),
        *_read_table(table, "dependency-groups").values(),
    ]
    names = [name for lines in lists if isinstance(lines, list) for name in _read_requirements(lines)]
    for group in [poetry, *(group for group in _read_table(poetry, "group").values() if isinstance(group, dict))]:
        for key in ("dependencies", "dev-dependencies"):
            names += map(_normalize_name, _read_table(group, key))
    name = project.get("name") or poetry.get("name") or flit.get("module")
    return _normalize_name(name) if isinstance(name, str) else "", names


def _read_table(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _read_requirements(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str) and (name := _NAME.match(line)):
            yield _normalize_name(name[1])


def _normalize_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
