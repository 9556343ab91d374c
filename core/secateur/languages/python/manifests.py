"""Reads which packages a Python repository provides and requires: `pyproject.toml`, `setup.cfg`, `setup.py`,
`requirements*.txt`. No code of theirs is run: of `setup.py` the strings are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser, Error
from typing import Any

from secateur.languages.packages import ASIDE, Package
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
        """Raises ValueError for one that cannot be read."""
        base = path.rpartition("/")[2]
        if base == "pyproject.toml":
            import tomllib

            return _project(tomllib.loads(text))
        if base == "setup.cfg":
            return _configuration(text)
        if base == "setup.py":
            name = _SETUP_NAME.search(text)
            return _same(name[1]) if name else "", map(_same, _SETUP_STRING.findall(text))
        return "", _required(text.splitlines())

    def provided(self, files: Sequence[tuple[str, FileFacts]], said: Mapping[str, str]) -> Iterator[Package]:
        """The packages and modules below the folders that hold a manifest, or below a folder of sources there."""
        owners = {folder_of(path): "" for path in said if path.rpartition("/")[2] in _FILES}
        for base in reversed(_FILES):
            for folder in owners:
                owners[folder] = said.get(join_path(folder, base), "") or owners[folder]
        paths = [path for path, facts in files if facts.language == "python"]
        packages = {folder_of(path) for path in paths if path.rpartition("/")[2] in ("__init__.py", "__init__.pyi")}
        outer = sorted(folder for folder in packages if folder and folder_of(folder) not in packages)
        found = [(folder, True) for folder in outer]
        found += [(path.rpartition(".")[0], False) for path in paths if folder_of(path) not in packages]
        for place, is_package in found:
            owner = next((above for above in folders_above(folder_of(place)) if above in owners), None)
            if owner is None:
                continue
            roots = [join_path(owner, root) for root in SOURCE_ROOTS]
            root = next((one for one in roots if place.startswith(f"{one}/")), owner)
            parts = place[len(root) :].strip("/").split("/")
            alone = len(parts) == 1 and (root != owner or _same(parts[0]) == owners[owner])
            if not (is_package or alone) or not ASIDE.isdisjoint(parts[:-1]) or parts[0] in ASIDE | STANDARD | _TOOLS:
                continue
            if all(part.isidentifier() for part in parts):
                name, distribution = ".".join(parts), owners[owner]
                plain = distribution in (_same(name), _same(parts[0]), f"python-{_same(name)}")
                yield Package("python", name, root, distribution, plain)

    def imports(self, facts: FileFacts) -> Iterator[str]:
        """Modules, and what may be a module of them."""
        for statement in facts.imports:
            if not statement.level and statement.module:
                yield statement.module
                if statement.symbol not in ("", "*"):
                    yield f"{statement.module}.{statement.symbol}"


def _project(read: dict[str, Any]) -> tuple[str, list[str]]:
    project, tools = _table(read, "project"), _table(read, "tool")
    poetry = _table(tools, "poetry")
    flit = _table(_table(tools, "flit"), "metadata")
    lists = [project.get("dependencies"), flit.get("requires")]
    lists += [*_table(project, "optional-dependencies").values(), *_table(read, "dependency-groups").values()]
    names = [name for some in lists if isinstance(some, list) for name in _required(some)]
    groups = [poetry, *(group for group in _table(poetry, "group").values() if isinstance(group, dict))]
    for group in groups:
        for key in ("dependencies", "dev-dependencies"):
            names += map(_same, _table(group, key))
    name = project.get("name") or poetry.get("name") or flit.get("module")
    return _same(name) if isinstance(name, str) else "", names


def _configuration(text: str) -> tuple[str, list[str]]:
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except Error as error:
        raise ValueError(str(error)) from error
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        lines += [line for _, value in parser.items("options.extras_require") for line in value.splitlines()]
    return _same(parser.get("metadata", "name", fallback="")), list(_required(lines))


def _table(read: dict[str, Any], key: str) -> dict[str, Any]:
    found = read.get(key)
    return found if isinstance(found, dict) else {}


def _required(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str) and (name := _NAME.match(line)):
            yield _same(name[1])


def _same(name: str) -> str:
    """The name by which distributions are compared."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
