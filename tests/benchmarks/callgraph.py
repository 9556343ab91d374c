"""The call graph against what a type checker found: precision and recall of resolved calls, from a SCIP index of the
same files.

    python tests/benchmarks/callgraph.py --repo DIR --scip FILE [--repo DIR --scip FILE ...] [--show N] [--only PREFIX]

Counted are pairs (calling fragment, called fragment), recursion left out. A trusted pair is right if the index names
the same definition at one of its call sites, wrong if the index names something else at all of them, and unseen if it
knows none of them (an untyped receiver). Precision is right / (right + wrong); recall is the share of the index's pairs
that are trusted. A class and its constructor are one target, because indexers differ on which of them a call names. The
second line of a repository is the baseline: "any function of that name". --show prints N pairs of each kind of
disagreement, --only counts callers in paths that begin so.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scip_index import ScipIndex, documents
from secateur.index.graph.resolve.calls import CallResolver
from secateur.index.graph.resolve.edges import TRUSTED, How
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.index.graph.resolve.symbols import DEFINITIONS, Symbols
from secateur.languages.syntax.fragments import decode, parse_file, split_lines
from secateur.model import FileFacts, FragmentKind
from secateur.sources.open import open_source

Pair = tuple[int, int]
Site = tuple[int, int, str]
"""File, line, name as written."""


@dataclass
class Truth:
    """What is known of call sites from elsewhere."""

    targets: dict[Site, frozenset[int]] = field(
        default_factory=dict
    )  # fragments; none if the site calls something else
    dispatched: dict[Site, frozenset[int]] = field(
        default_factory=dict
    )  # what may run instead, below a declared method


@dataclass
class Score:
    """Pairs by verdict."""

    right: set[Pair] = field(default_factory=set)
    wrong: set[Pair] = field(default_factory=set)
    unseen: set[Pair] = field(default_factory=set)
    missed: set[Pair] = field(default_factory=set)

    def line(self, name: str) -> str:
        """A row of the table."""
        judged, true = len(self.right) + len(self.wrong), len(self.right) + len(self.missed)
        precision = f"{len(self.right) / judged:.3f}" if judged else "-"
        recall = f"{len(self.right) / true:.3f}" if true else "-"
        return (
            f"{name:<28} {precision:>9} {recall:>7} {len(self.right):>7} {len(self.wrong):>7} {len(self.unseen):>7}"
            f" {len(self.missed):>7}"
        )


def main() -> int:
    """Score each repository against its index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, action="append", required=True, help="folder of sources; repeatable")
    parser.add_argument(
        "--scip", type=Path, action="append", required=True, help="index of that folder; repeatable, in the same order"
    )
    parser.add_argument("--show", type=int, default=0, help="disagreements of each kind to print")
    parser.add_argument("--only", default="", help="only callers in paths that begin so")
    options = parser.parse_args()
    if len(options.repo) != len(options.scip):
        parser.error("each --repo needs its --scip")
    print(f"{'':<28} precision  recall   right   wrong  unseen  missed")
    for repo, index in zip(options.repo, options.scip, strict=True):
        compare(repo, index, options.show, options.only)
    return 0


def compare(repo: Path, index: Path, show: int, only: str) -> None:
    """Print the rows of one repository."""
    source = open_source(repo)
    texts = {path: data for path, data in source.read([entry.path for entry in source.entries()]) if data is not None}
    files = [(path, parse_file(path, data)) for path, data in texts.items()]
    lines = {path: split_lines(decode(data)[0]) for path, data in texts.items()}
    symbols = symbols_of(files)
    truth, stale = from_scip(ScipIndex(documents(index.read_bytes())), files, lines, symbols)
    covered = {number for number, _, _ in truth.targets if files[number][0].startswith(only)}
    score, rules, statuses = resolved(files, symbols, truth, covered)
    sites = sum(statuses.values())
    print(score.line(repo.name))
    print(by_name(files, symbols, truth, covered).line("  any of that name"))
    print(
        "  sites "
        + ", ".join(f"{status} {count / sites:.2f}" for status, count in sorted(statuses.items()))
        + (f"; {stale} stale files" if stale else "")
    )
    for how in How:
        right, wrong, unseen = (rules[how, verdict] for verdict in ("right", "wrong", "unseen"))
        if right or wrong or unseen:
            print(
                f"    {how.label:<24} {right / max(right + wrong, 1):>9.3f} {'':>7} {right:>7} {wrong:>7} {unseen:>7}"
            )
    for verdict in ("wrong", "missed", "unseen"):
        for source_, target in sample(getattr(score, verdict), show):
            print(f"  {verdict}: {place(symbols, source_)} -> {place(symbols, target)}")


def from_scip(
    index: ScipIndex, files: list[tuple[str, FileFacts]], lines: dict[str, list[str]], symbols: Symbols
) -> tuple[Truth, int]:
    """What the index says of call sites, and how many of its files are not the ones at hand."""
    truth, stale = Truth(), 0
    numbers = {path: number for number, (path, _) in enumerate(files)}
    for path in index.documents:
        if path not in numbers:
            continue
        if not index.agrees(path, lines[path]):
            stale += 1
            continue
        number = numbers[path]
        for (line, name), meaning in index.references(path, lines[path]).items():
            targets, below = (
                frozenset(
                    gid
                    for where, row in places
                    if where in numbers and (gid := defined(symbols, numbers[where], row)) >= 0
                )
                for places in (meaning.places, meaning.below)
            )
            if meaning.variable:
                targets = frozenset(gid for gid in targets if symbols.fragments[gid].name == name)
            if targets or not meaning.variable:
                truth.targets[number, line, name], truth.dispatched[number, line, name] = targets, below
    return truth, stale


def defined(symbols: Symbols, number: int, line: int) -> int:
    """The definition whose signature stands on a line; else the class that only declares what stands there; -1 if
    neither is."""
    for gid in range(symbols.offset[number], symbols.offset[number + 1]):
        fragment = symbols.fragments[gid]
        if fragment.line_start <= line <= fragment.line_end and fragment.kind in DEFINITIONS:
            inside = fragment.sig_start <= line <= fragment.sig_end
            return whole(symbols, gid) if inside or fragment.kind is FragmentKind.CLASS else -1
    return -1


def whole(symbols: Symbols, gid: int) -> int:
    """The class for a constructor, the first of several definitions of one name in one file, else the definition
    itself."""
    fragment, number = symbols.fragments[gid], symbols.file_of[gid]
    if (
        fragment.kind is not FragmentKind.CLASS
        and fragment.name in symbols.rules[number].constructors
        and symbols.class_of[gid] >= 0
    ):
        return symbols.class_of[gid]
    return symbols.qualified[number].get(fragment.qualname, gid)


def resolved(
    files: list[tuple[str, FileFacts]], symbols: Symbols, truth: Truth, covered: set[int]
) -> tuple[Score, Counter[tuple[How, str]], Counter[str]]:
    """The resolver's trusted pairs judged, by rule as well, and its call sites by status."""
    resolver = CallResolver(Names(symbols))
    verdicts: dict[Pair, tuple[How, set[str]]] = {}
    statuses: Counter[str] = Counter()
    for site, gid, receiver, name in sites(files, symbols, covered):
        outcome = resolver.resolve(site[0], gid, receiver, name)
        statuses[outcome.status.name.lower()] += 1
        for target, confidence, how in outcome.targets:
            if confidence < TRUSTED or (
                how is How.CONSTRUCTOR and symbols.fragments[target].kind is not FragmentKind.CLASS
            ):
                continue
            pair = gid, whole(symbols, target)
            verdicts.setdefault(pair, (how, set()))[1].add(judged(truth, site, pair[1]))
    score, rules = Score(), Counter[tuple[How, str]]()
    for pair, (how, seen) in verdicts.items():
        if pair[0] != pair[1]:
            verdict = next(kind for kind in ("right", "wrong", "unseen") if kind in seen)
            getattr(score, verdict).add(pair)
            rules[how, verdict] += 1
    score.missed = true_pairs(files, symbols, truth, covered) - score.right
    return score, rules, statuses


def by_name(files: list[tuple[str, FileFacts]], symbols: Symbols, truth: Truth, covered: set[int]) -> Score:
    """The baseline: every definition of the family that has the called name."""
    named: dict[tuple[str, str], set[int]] = {}
    for gid, fragment in enumerate(symbols.fragments):
        if fragment.kind in DEFINITIONS:
            named.setdefault((symbols.family[symbols.file_of[gid]], fragment.name), set()).add(whole(symbols, gid))
    score = Score()
    for site, gid, _, name in sites(files, symbols, covered):
        for target in named.get((symbols.family[site[0]], name), ()):
            if gid != target:
                getattr(score, judged(truth, site, target)).add((gid, target))
    score.wrong -= score.right
    score.unseen -= score.right | score.wrong
    score.missed = true_pairs(files, symbols, truth, covered) - score.right
    return score


def sites(
    files: list[tuple[str, FileFacts]], symbols: Symbols, covered: set[int]
) -> Iterator[tuple[Site, int, str, str]]:
    """(site, calling fragment, receiver, name) of covered files."""
    for number in sorted(covered):
        for call in files[number][1].calls:
            written = "super" if call.receiver == "super" and call.name == "constructor" else call.name
            yield (number, call.line, written), symbols.offset[number] + call.fragment, call.receiver, call.name


def judged(truth: Truth, site: Site, target: int) -> str:
    """Whether a call of `target` at a site is right, wrong, or nobody knows."""
    if site not in truth.targets:
        return "unseen"
    return "right" if target in truth.targets[site] or target in truth.dispatched.get(site, ()) else "wrong"


def true_pairs(files: list[tuple[str, FileFacts]], symbols: Symbols, truth: Truth, covered: set[int]) -> set[Pair]:
    """Pairs that the index knows of."""
    found = (
        (gid, target) for site, gid, _, _ in sites(files, symbols, covered) for target in truth.targets.get(site, ())
    )
    return {pair for pair in found if pair[0] != pair[1]}


def sample(pairs: Iterable[Pair], count: int) -> list[Pair]:
    """At most `count` of them, spread evenly."""
    ordered = sorted(pairs)
    return ordered[:: max(1, len(ordered) // count)][:count] if count else []


def place(symbols: Symbols, gid: int) -> str:
    """Where a fragment stands, for people."""
    fragment = symbols.fragments[gid]
    return f"{symbols.paths[symbols.file_of[gid]]}:{fragment.line_start} {fragment.qualname or '(module)'}"


if __name__ == "__main__":
    sys.exit(main())
