"""Reads the packages that a Python repository provides and requires from `pyproject.toml`, `setup.cfg`, `setup.py` and
`requirements*.txt`. Nothing is executed: only the strings in `setup.py` are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser, Error
from typing import Any

from secateur.languages.packages import NEVER_INSTALLED, Package
from secateur.languages.python import STANDARD
from secateur.languages.python.imports import SOURCE_ROOTS
from secateur.languages.syntax.import_targets import folder_of, folders_above, join_path
from secateur.model import FileFacts

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
            return _read_configuration(text)
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
    groups = [poetry, *(group for group in _read_table(poetry, "group").values() if isinstance(group, dict))]
    for group in groups:
        for key in ("dependencies", "dev-dependencies"):
            names += map(_normalize_name, _read_table(group, key))
    name = project.get("name") or poetry.get("name") or flit.get("module")
    return _normalize_name(name) if isinstance(name, str) else "", names


def _read_configuration(text: str) -> tuple[str, list[str]]:
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except Error as error:
        raise ValueError(str(error)) from error
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        lines += [line for _, value in parser.items("options.extras_require") for line in value.splitlines()]
    return _normalize_name(parser.get("metadata", "name", fallback="")), list(_read_requirements(lines))


def _read_table(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _read_requirements(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str) and (name := _NAME.match(line)):
            yield _normalize_name(name[1])


def _normalize_name(name: str) -> str:
    """Returns the form in which names of distributions are compared."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
