"""Reads which packages a repository of JavaScript or TypeScript provides and requires: its `package.json` files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from secateur.languages.packages import Package, is_aside
from secateur.languages.syntax.import_targets import folder_of
from secateur.model import FileFacts

_NEEDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


class ScriptManifests:
    """See `languages.packages.Manifests`."""

    names = re.compile(r"package\.json")
    separator = "/"

    def read(self, path: str, text: str) -> tuple[str, Iterable[str]]:  # noqa: ARG002 - all are read alike
        """Raises ValueError for one that cannot be read."""
        said = json.loads(text)
        listed = (said.get(key) for key in _NEEDS)
        needs = [name for some in listed if isinstance(some, dict) for name in some]
        name = said.get("name")
        return name if isinstance(name, str) else "", needs

    def provided(
        self,
        files: Sequence[tuple[str, FileFacts]],  # noqa: ARG002 - manifests say it all
        said: Mapping[str, str],
    ) -> Iterator[Package]:
        """The package of each manifest, of two of one name the one nearer to the root; only who requires it means it by
        its name."""
        known: set[str] = set()
        for path, name in said.items():
            if name and name not in known and not is_aside(folder_of(path)):
                known.add(name)
                yield Package("js", name, folder_of(path), name, is_plain=False)

    def imports(self, facts: FileFacts) -> Iterator[str]:
        """Names that are no paths."""
        return (one.module for one in facts.imports if one.module and not one.module.startswith((".", "/", "#")))
