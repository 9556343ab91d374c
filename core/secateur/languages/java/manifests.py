"""Reads the packages that a Java repository provides and requires: distributions and requirements from `pom.xml` and
`build.gradle`, packages from the declarations in the files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from secateur.languages.packages import Package, is_never_installed
from secateur.languages.syntax.import_targets import folder_of, folders_above
from secateur.model import FileFacts

_ARTIFACT = re.compile(r"<artifactId>\s*([\w.${}-]{1,200})\s*</artifactId>")
_NESTED = re.compile(r"<(parent|dependencies|dependencyManagement|build|profiles|reporting)>|</(\w+)>")
_GRADLE = re.compile(r"[\"']([\w.-]{1,200}):([\w.-]{1,200})(?::[^\"'\n]{0,200})?[\"']")


class JavaManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"pom\.xml|build\.gradle(?:\.kts)?")
    separator = "."

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:
        """Returns the artifact and its requirements. Never raises."""
        if not path.endswith("pom.xml"):
            return folder_of(path).rpartition("/")[2], [artifact for _, artifact in _GRADLE.findall(text)]
        lines, section, start = [], "", 0
        for tag in _NESTED.finditer(text):
            if not section and tag[1]:
                lines.append(text[start : tag.start()])
                section = tag[1]
            elif section and tag[2] == section:
                section, start = "", tag.end()
        own = _ARTIFACT.search("".join([*lines, text[start:] if not section else ""]))
        return own[1] if own else "", _ARTIFACT.findall(text)

    def list_packages(
        self, files: Sequence[tuple[str, FileFacts]], distributions: Mapping[str, str]
    ) -> Iterator[Package]:
        """Yields the packages that files below a manifest declare, without tests."""
        folders = {folder_of(path): name for path, name in distributions.items()}
        for path, facts in files:
            if facts.language != "java" or not facts.package or is_never_installed(folder_of(path)):
                continue
            owner = next((above for above in folders_above(folder_of(path)) if above in folders), None)
            if owner is not None:
                yield Package("java", facts.package, "", folders[owner], is_plain=True)

    def list_imports(self, facts: FileFacts) -> Iterator[str]:
        """Yields packages with the imported class; the module of a static import ends with a class."""
        for statement in facts.imports:
            yield f"{statement.module}.{statement.symbol}" if statement.symbol not in ("", "*") else statement.module
