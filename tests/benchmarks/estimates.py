"""How far the estimate of tokens is from o200k, function by function, in each language.

    python tests/benchmarks/estimates.py --mirror DIR [--only owner+name ...] [--functions N]

DIR holds bare repositories `owner+name/repo`. Of each repository and language N functions are drawn, the same every
time. The estimate was fitted on those of `FITTED`; the table is of all others: share of functions within 20 %, mean
error, 5th and 95th percentile, share that is counted under, and the share within 20 % by size (below 30 tokens, below
100, from 100).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from secateur.languages import language_of
from secateur.languages.syntax.fragments import decode, parse_file, split_lines
from secateur.model import FragmentKind
from secateur.tokens import get_counter

LANGUAGES = ("python", "javascript", "typescript", "tsx", "go", "java", "rust", "c", "cpp", "csharp", "ruby", "php")
OTHERS_CODE = (
    "vendor/",
    "third_party",
    "thirdparty",
    "node_modules",
    "/deps/",
    "generated",
    ".min.",
    "corpus",
    "fixtures",
)
FITTED = frozenset(
    [
        "curl+curl",
        "jqlang+jq",
        "libuv+libuv",
        "uncrustify+uncrustify",
        "fmtlib+fmt",
        "AutoMapper+AutoMapper",
        "DapperLib+Dapper",
        "JamesNK+Newtonsoft.Json",
        "golang+tools",
        "prometheus+prometheus",
        "apache+commons-text",
        "google+google-java-format",
        "google+gson",
        "square+retrofit",
        "axios+axios",
        "chartjs+Chart.js",
        "preactjs+preact",
        "prettier+prettier",
        "guzzle+guzzle",
        "symfony+symfony",
        "mwaskom+seaborn",
        "pallets+flask",
        "psf+requests",
        "pytest-dev+pytest",
        "sympy+sympy",
        "tobymao+sqlglot",
        "jekyll+jekyll",
        "rubocop+rubocop",
        "BurntSushi+ripgrep",
        "hyperium+hyper",
        "rust-lang+rustfmt",
        "tokio-rs+tokio",
        "typescript-eslint+typescript-eslint",
        "vuejs+core",
    ]
)
FILES, OF_A_FILE, LARGEST, FEWEST = 250, 30, 300_000, 100
"""Files of a language and functions of a file that are drawn, bytes of the largest file, functions below which a
repository says nothing."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--functions", type=int, default=700)
    options = parser.parse_args()
    exact, estimate = get_counter("o200k_base"), get_counter("estimate")
    rows: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for folder in sorted(options.mirror.iterdir()):
        if (
            folder.name in FITTED
            or (options.only and folder.name not in options.only)
            or not (folder / "repo").is_dir()
        ):
            continue
        for language, texts in functions(folder / "repo", folder.name, options.functions).items():
            if len(texts) >= FEWEST:
                rows[language] += zip(exact.count_many(texts), estimate.count_many(texts), strict=True)
                print(f"{folder.name}: {len(texts)} of {language}", file=sys.stderr)
    print(
        "| language | functions | within 20 % | mean | p5 | p95 | under | < 30 | < 100 | ≥ 100"
        " |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for language in LANGUAGES:
        if rows[language]:
            print(row(language, np.array(rows[language], dtype=float)))
    return 0


def functions(repo: Path, name: str, most: int) -> dict[str, list[str]]:
    """Texts of functions and methods by language."""
    draw = random.Random(name)
    files = defaultdict(list)
    for record in git(repo, "ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]:
        fields, _, raw = record.partition(b"\t")
        mode, kind, oid = fields.decode().split()
        path = raw.decode("utf-8", "replace")
        language = language_of(path, b"")
        if (
            kind == "blob"
            and mode != "120000"
            and language in LANGUAGES
            and not any(part in path.lower() for part in OTHERS_CODE)
        ):
            files[language].append((path, oid))
    found = defaultdict(list)
    for language in sorted(files):
        paths = sorted(files[language])
        draw.shuffle(paths)
        for path, oid in paths[:FILES]:
            data = git(repo, "cat-file", "blob", oid)
            if not data or len(data) > LARGEST:
                continue
            facts, lines = parse_file(path, data), split_lines(decode(data)[0])
            places = [
                fragment
                for fragment in facts.fragments
                if fragment.kind in (FragmentKind.FUNCTION, FragmentKind.METHOD)
            ]
            draw.shuffle(places)
            found[facts.language] += [
                "\n".join(lines[place.line_start - 1 : place.line_end]) + "\n" for place in places[:OF_A_FILE]
            ]
    for texts in found.values():
        draw.shuffle(texts)
    return {language: texts[:most] for language, texts in found.items() if language in LANGUAGES}


def row(language: str, counts: np.ndarray) -> str:
    exact, error = counts[:, 0], counts[:, 1] / counts[:, 0] - 1
    within = np.abs(error) <= 0.2
    sizes = ((0, 30), (30, 100), (100, np.inf))
    by_size = " | ".join(
        f"{within[part].mean():.3f} ({part.sum()})"
        for low, high in sizes
        for part in [(exact >= low) & (exact < high)]
        if part.any()
    )
    low, high = np.quantile(error, (0.05, 0.95))
    return (
        f"| {language} | {len(error)} | {within.mean():.3f} | {error.mean():+.3f} | {low:+.3f} | {high:+.3f} |"
        f" {(error < 0).mean():.2f} | {by_size} |"
    )


def git(repo: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main())
