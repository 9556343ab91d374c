"""A step of the build: puts data into the wheel that other packages carry.

`wordllama` is needed for two of its files; installed, it brings seventy megabytes of packages along that nothing here
imports. So it is a requirement of the build alone: the wheel holds its vectors, the vocabulary of its tokenizer and its
licence (MIT), in `secateur/_data/vectors`. The published table of tokens takes longer to unpack than a search takes to
select; in `secateur/_data/ranks` it lies as `secateur.tokens.ranks` looks it up.

An editable installation finds both in `vectors/` and `ranks/` at the top of the checkout. A checkout without one reads
the packages, which the developers' group installs.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARRIER = "wordllama"
VECTORS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
LICENCE = "LICENSE"
DIGESTS = {
    VECTORS: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}
"""SHA-256 of what the answers of this version rest on."""

IN_WHEEL = "secateur/_data"


class CarriedData(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files to the wheel."""

    _folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before a wheel is built; `version` is "standard" or "editable".

        Raises:
            RuntimeError: the carrier is missing, or has other files than those that were measured.
        """
        if version == "editable":
            carried_to(Path(self.root), Path(self.root))
            return
        self._folder = Path(tempfile.mkdtemp())
        for path in carried_to(self._folder, Path(self.root)):
            build_data["force_include"][str(path)] = f"{IN_WHEEL}/{path.relative_to(self._folder).as_posix()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """After it."""
        if self._folder is not None:
            shutil.rmtree(self._folder)


def carried_to(folder: Path, root: Path) -> list[Path]:
    """Writes the files below a folder, and returns their paths; `root` is the checkout. Raises RuntimeError like the
    hook."""
    written = {f"vectors/{name}": data for name, data in _vectors().items()}
    written |= {f"ranks/{name}": data for name, data in _ranks(root).items()}
    for name, data in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return [folder / name for name in written]


def _vectors() -> dict[str, bytes]:
    try:
        files = distribution(CARRIER).files or []
    except PackageNotFoundError:
        raise RuntimeError(
            f"{CARRIER}, which carries the word vectors, is not installed: build with isolation, or install it first"
        ) from None
    found = {name: next(Path(file.locate()) for file in files if file.as_posix().endswith(name)) for name in DIGESTS}
    for name, path in found.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != DIGESTS[name]:
            raise RuntimeError(f"{CARRIER} has another {name} than the one whose answers were measured")
    return {
        VECTORS: found[VECTORS].read_bytes(),
        TOKENIZER: _vocabulary(found[TOKENIZER].read_bytes()),
        LICENCE: next(Path(file.locate()) for file in files if file.name == LICENCE).read_bytes(),
    }


def _ranks(root: Path) -> dict[str, bytes]:
    """The table of the tokens that are counted by default, made by the product itself, which is not installed yet."""
    sys.path.insert(0, str(root / "core"))
    try:
        from secateur.errors import TokenizerError
        from secateur.tokens.ranks import O200K, data_folder, pack, read_ranks

        try:
            return {O200K.table: pack(list(read_ranks(O200K, data_folder())))}
        except TokenizerError as error:
            raise RuntimeError(error.message) from error
    finally:
        sys.path.remove(str(root / "core"))


def _vocabulary(tokenizer: bytes) -> bytes:
    """A tokenizer's file with what is read of it, a third: pieces and their numbers."""
    vocabulary = json.loads(tokenizer)["model"]["vocab"]
    return json.dumps({"model": {"vocab": vocabulary}}, ensure_ascii=False, separators=(",", ":")).encode()
