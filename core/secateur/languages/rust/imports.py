"""Resolves paths of Rust to modules and crates."""

from __future__ import annotations

import posixpath
import re

from secateur.languages.syntax.import_targets import Files, Module, dotted, folder_of, folders_above, join_path

_SOURCES = re.compile(r"/?\b(?:src|tests|examples|benches)/")


class RustFinder:
    """Crate roots are folders with `lib.rs` or `main.rs`; a crate's name is that of the folder above `src`."""

    def __init__(self, files: Files, family: str) -> None:
        self._paths = files.paths
        self._family = family
        paths = {path: number for number, path in enumerate(files.paths) if files.family[number] == family}
        self._roots = {folder_of(path) for path in paths if posixpath.basename(path) in ("lib.rs", "main.rs")}
        self._crates: dict[str, str] = {}
        for root in sorted(self._roots):
            folder = folder_of(root) if posixpath.basename(root) == "src" else root
            self._crates.setdefault(posixpath.basename(folder).replace("-", "_"), root)
        self._at: dict[str, Module] = {}
        for path, number in paths.items():
            base, module = posixpath.basename(path), files.modules[number]
            place = folder_of(path) if base in ("lib.rs", "main.rs", "mod.rs") else path.removesuffix(".rs")
            if base != "main.rs" or place not in self._at:
                self._at[place] = module
                module.directory = place
        self._add_longer_names(files)
        self._add_names_in_tests(files)

    def _has(self, root: str, wanted: str) -> bool:
        """Tells whether the crate at `root` offers a name; "" asks for no more than the crate."""
        module = self._at.get(root)
        return module is not None and (
            not wanted or wanted in module.names or wanted in module.exports or join_path(root, wanted) in self._at
        )

    def _add_longer_names(self, files: Files) -> None:
        """Crates whose name ends in that of their folder (`grep_regex` in `crates/regex`), where an import shows it by
        something the crate has."""
        for _, head, wanted in self._unknown(files):
            _, _, last = head.partition("_")
            while last and head not in self._crates:
                if (root := self._crates.get(last)) is not None and self._has(root, wanted):
                    self._crates[head] = root
                _, _, last = last.partition("_")

    def _add_names_in_tests(self, files: Files) -> None:
        """The name by which tests, examples and benchmarks beside `src` import their crate: the one of which the crate
        has all they import."""
        seen: dict[tuple[str, str], bool] = {}
        for number, head, wanted in self._unknown(files):
            if not wanted:
                continue
            for folder in folders_above(folder_of(self._paths[number])):
                if (root := join_path(folder, "src")) in self._roots and posixpath.basename(folder) != "src":
                    seen[head, root] = seen.get((head, root), True) and self._has(root, wanted)
                    break
        for (head, root), offered in seen.items():
            if offered:
                self._crates.setdefault(head, root)

    def _unknown(self, files: Files) -> list[tuple[int, str, str]]:
        """(file, crate, name it is asked for) of imports from crates no folder is named like."""
        out: list[tuple[int, str, str]] = []
        for number, facts in enumerate(files.facts):
            for statement in facts.imports if files.family[number] == self._family else ():
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
            folder_of(path) if posixpath.basename(path) in ("lib.rs", "main.rs", "mod.rs") else path.removesuffix(".rs")
        )
        root = next((above for above in folders_above(folder_of(path)) if above in self._roots), folder_of(path))
        if head == "crate":
            start = root
        elif head == "self":
            start = place
        elif head == "super":
            start = folder_of(place)
            while rest == "super" or rest.startswith("super."):
                start, rest = folder_of(start), rest[6:]
        elif join_path(place, head) in self._at:
            start = join_path(place, head)
        elif join_path(root, head) in self._at:
            start = join_path(root, head)
        elif head in self._crates:
            start = self._crates[head]
        else:
            return None
        return self._at.get(join_path(start, rest.replace(".", "/")))

    def submodule(self, module: Module, name: str) -> Module | None:
        return None if module.directory is None else self._at.get(join_path(module.directory, name))

    def offered(self, place: str, name: str, inside: str) -> Module | None:  # noqa: ARG002 - no manifest is read
        return None


def crate_of(path: str) -> str:
    """The folder of the crate a file belongs to."""
    match = _SOURCES.search(path)
    return path[: match.start()] if match else path.rpartition("/")[0]
