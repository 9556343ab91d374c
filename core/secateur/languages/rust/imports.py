"""Resolves Rust paths to modules and crates."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from secateur.languages.syntax.import_targets import (
    Files,
    Finder,
    Module,
    folder_of,
    folders_above,
    join_path,
    use_dots,
)

_SOURCES = re.compile(r"/?\b(?:src|tests|examples|benches)/")


class RustFinder(Finder):
    """Finds modules of crates. A crate root is a folder with `lib.rs` or `main.rs`; the crate is named after the folder
    above `src`."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._family = family
        paths = {path: file for file, path in enumerate(files.paths) if files.family[file] == family}
        self._roots = {folder_of(path) for path in paths if posixpath.basename(path) in ("lib.rs", "main.rs")}
        self._crates: dict[str, str] = {}
        for root in sorted(self._roots):
            folder = folder_of(root) if posixpath.basename(root) == "src" else root
            self._crates.setdefault(posixpath.basename(folder).replace("-", "_"), root)
        self._at: dict[str, Module] = {}
        for path, file in paths.items():
            module, module_path = files.modules[file], _find_module_path(path)
            if posixpath.basename(path) != "main.rs" or module_path not in self._at:
                self._at[module_path] = module
                module.directory = module_path
        self._add_longer_names(files)
        self._add_names_in_tests(files)

    def _defines(self, root: str, wanted: str) -> bool:
        """Tells whether the crate at `root` exists and defines a name, unless it is ""."""
        module = self._at.get(root)
        return module is not None and (
            not wanted or wanted in module.names or wanted in module.exports or join_path(root, wanted) in self._at
        )

    def _add_longer_names(self, files: Files) -> None:
        """Adds crates whose name ends with that of their folder (`grep_regex` in `crates/regex`), if an import uses a
        name that the crate defines."""
        for _, head, wanted in self._list_unknown_imports(files):
            _, _, last = head.partition("_")
            while last and head not in self._crates:
                if (root := self._crates.get(last)) is not None and self._defines(root, wanted):
                    self._crates[head] = root
                _, _, last = last.partition("_")

    def _add_names_in_tests(self, files: Files) -> None:
        """Adds the name by which tests, examples and benchmarks beside `src` import their crate, if the crate defines
        all names they import."""
        defines_all: dict[tuple[str, str], bool] = {}
        for file, head, wanted in self._list_unknown_imports(files):
            if not wanted:
                continue
            for folder in folders_above(folder_of(self._paths[file])):
                if (root := join_path(folder, "src")) in self._roots and posixpath.basename(folder) != "src":
                    defines_all[head, root] = defines_all.get((head, root), True) and self._defines(root, wanted)
                    break
        for (head, root), is_complete in defines_all.items():
            if is_complete:
                self._crates.setdefault(head, root)

    def _list_unknown_imports(self, files: Files) -> Iterator[tuple[int, str, str]]:
        for file, facts in enumerate(files.facts):
            for statement in facts.imports if files.family[file] == self._family else ():
                head, _, rest = use_dots(statement.module).partition(".")
                wanted = rest.partition(".")[0] or statement.symbol
                known = head in self._crates or head in ("crate", "self", "super", "std", "core", "alloc")
                if not known and wanted != "*":
                    yield file, head, wanted

    def find_module(self, file: int, name: str, level: int) -> Module | None:  # noqa: ARG002 - `super` is in the name
        head, _, rest = use_dots(name).partition(".")
        path = self._paths[file]
        here = _find_module_path(path)
        root = next((above for above in folders_above(folder_of(path)) if above in self._roots), folder_of(path))
        if head == "crate":
            start = root
        elif head == "self":
            start = here
        elif head == "super":
            start = folder_of(here)
            while rest == "super" or rest.startswith("super."):
                start, rest = folder_of(start), rest[6:]
        else:
            inner = [join_path(holder, head) for holder in (here, root) if join_path(holder, head) in self._at]
            if not inner and head not in self._crates:
                return None
            start = inner[0] if inner else self._crates[head]
        return self._at.get(join_path(start, rest.replace(".", "/")))

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(join_path(module.directory, name))


def _find_module_path(path: str) -> str:
    """Returns the path of the module in a file: its folder for `lib.rs`, `main.rs` and `mod.rs`."""
    is_root = posixpath.basename(path) in ("lib.rs", "main.rs", "mod.rs")
    return folder_of(path) if is_root else path.removesuffix(".rs")


def crate_of(path: str) -> str:
    """Returns the folder of the crate that contains a file."""
    match = _SOURCES.search(path)
    return path[: match.start()] if match else path.rpartition("/")[0]
