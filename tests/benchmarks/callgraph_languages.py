"""The call graph of languages with compilers at hand: precision and recall of resolved calls against what the compiler
says.

    java truth/CallTruth.java REPOSITORY [SOURCE_FOLDER ...] > calls.jsonl     what javac attributes
    go run truth/calltruth.go REPOSITORY > calls.jsonl                         what go/types finds
    rust-analyzer scip . --output calls.scip

    python tests/benchmarks/callgraph_languages.py --repo DIR --calls FILE [--repo DIR --calls FILE ...] [--show N]
    [--only PREFIX]

A line of `calls.jsonl` is a call site: path, line and name, and the path and line of what is called where that is of
the repository. Sites the compiler could not make out (a library is missing) are absent and judge nothing. A call of a
method that only is declared (an interface's, a trait's) means the fragment that declares it; the one method that
implements it is right where that is right. The table and its columns are those of `callgraph.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from callgraph import Pair, Score, Truth, judged, place, sample
from scip_index import ScipIndex, documents
from secateur.index.graph.resolve.calls import CallResolver
from secateur.index.graph.resolve.edges import TRUSTED, How
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.index.graph.resolve.symbols import DEFINITIONS, Symbols
from secateur.languages.syntax.fragments import decode, parse_file, split_lines
from secateur.model import Call, FileFacts, FragmentKind
from secateur.sources.open import open_source

_PLACES = 2
"""Definitions of one symbol: with more of them an index says nothing (rust-analyzer gives implementations for foreign
types one name)."""


def main() -> int:
    """Score each repository against its calls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, action="append", required=True, help="folder of sources; repeatable")
    parser.add_argument(
        "--calls",
        type=Path,
        action="append",
        required=True,
        help="calls of that folder, .jsonl or .scip; repeatable, in the same order",
    )
    parser.add_argument("--show", type=int, default=0, help="disagreements of each kind to print")
    parser.add_argument("--only", default="", help="only callers in paths that begin so")
    parser.add_argument("--rules", action="store_true", help="print each rule's share")
    options = parser.parse_args()
    if len(options.repo) != len(options.calls):
        parser.error("each --repo needs its --calls")
    print(f"{'':<28} precision  recall   right   wrong  unseen  missed")
    for repo, calls in zip(options.repo, options.calls, strict=True):
        compare(repo, calls, options)
    return 0


def compare(repo: Path, calls: Path, options: argparse.Namespace) -> None:
    """Print the rows of one repository."""
    source = open_source(repo)
    texts = {path: data for path, data in source.read([entry.path for entry in source.entries()]) if data is not None}
    files = [(path, parse_file(path, data)) for path, data in texts.items()]
    symbols = symbols_of(files)
    truth = from_scip(calls, files, texts, symbols) if calls.suffix == ".scip" else from_lines(calls, files, symbols)
    covered = {number for number, _, _ in truth.targets if files[number][0].startswith(options.only)}
    score, rules, statuses = resolved(symbols, truth, covered)
    sites = sum(statuses.values())
    print(score.line(repo.name))
    print(by_name(symbols, truth, covered).line("  any of that name"))
    print(
        "  sites " + ", ".join(f"{status} {count / sites:.2f}" for status, count in sorted(statuses.items())),
        f"; not read: {unread(files, truth)} true sites",
    )
    for how in How if options.rules else ():
        right, wrong, unseen = (rules[how, verdict] for verdict in ("right", "wrong", "unseen"))
        if right or wrong or unseen:
            print(
                f"    {how.label:<24} {right / max(right + wrong, 1):>9.3f} {'':>7} {right:>7} {wrong:>7} {unseen:>7}"
            )
    for verdict in ("wrong", "missed"):
        pairs: set[tuple[int, int]] = getattr(score, verdict)
        for pair in sample(pairs, options.show):
            print(
                f"  {verdict}: {place(symbols, pair[0])} ->"
                f" {place(symbols, pair[1])}{spelled(symbols, truth, score, pair)}"
            )


def from_lines(calls: Path, files: list[tuple[str, FileFacts]], symbols: Symbols) -> Truth:
    """Call sites of a file of JSON lines."""
    numbers = {path: number for number, (path, _) in enumerate(files)}
    found: dict[tuple[int, int, str], set[int]] = {}
    for line in calls.read_text().splitlines():
        call = json.loads(line)
        if call["path"] in numbers:
            targets = found.setdefault((numbers[call["path"]], call["line"], call["name"]), set())
            if call.get("callee_path") in numbers:
                targets.add(declared(symbols, numbers[call["callee_path"]], call["callee_line"]))
    return Truth({site: frozenset(targets - {-1}) for site, targets in found.items()})


def from_scip(calls: Path, files: list[tuple[str, FileFacts]], texts: dict[str, bytes], symbols: Symbols) -> Truth:
    """The same of a SCIP index."""
    index, numbers = ScipIndex(documents(calls.read_bytes())), {path: number for number, (path, _) in enumerate(files)}
    truth = Truth()
    for path in index.documents:
        lines = split_lines(decode(texts[path])[0]) if path in numbers else []
        for (line, name), meaning in (
            index.references(path, lines).items() if lines and index.agrees(path, lines) else ()
        ):
            found = {declared(symbols, numbers[where], row) for where, row in meaning.places if where in numbers}
            if len(found) > _PLACES:
                continue
            truth.targets[numbers[path], line, name] = frozenset(found - {-1})
    return truth


def declared(symbols: Symbols, number: int, line: int) -> int:
    """The definition whose signature stands on a line, or the type that declares something there; the type for its
    constructor; -1 for neither."""
    for gid in range(symbols.offset[number], symbols.offset[number + 1]):
        fragment = symbols.fragments[gid]
        if fragment.kind in DEFINITIONS and fragment.line_start <= line <= fragment.line_end:
            if fragment.kind is FragmentKind.CLASS:
                return symbols.class_of[gid]
            return gid if fragment.sig_start <= line <= fragment.sig_end else -1
    return -1


def sites(symbols: Symbols, covered: set[int]) -> Iterator[tuple[int, int, Call]]:
    """(file, calling fragment, call) of covered files."""
    for number in sorted(covered):
        for call in symbols.facts[number].calls:
            yield number, symbols.offset[number] + call.fragment, call


def resolved(symbols: Symbols, truth: Truth, covered: set[int]) -> tuple[Score, Counter[tuple[How, str]], Counter[str]]:
    """The resolver's trusted pairs judged, by rule as well, and its call sites by status. Overloads are told apart."""
    resolver = CallResolver(Names(symbols))
    verdicts: dict[Pair, tuple[How, set[str]]] = {}
    statuses: Counter[str] = Counter()
    for number, gid, call in sites(symbols, covered):
        outcome = resolver.resolve(number, gid, call.receiver, call.name, call.arguments)
        statuses[outcome.status.name.lower()] += 1
        site = number, call.line, call.name
        declared_right = any(
            judged(truth, site, target) == "right"
            for target, _, how in outcome.targets
            if how is not How.IMPLEMENTATION
        )
        for target, confidence, how in outcome.targets:
            if (
                confidence >= TRUSTED
                and gid != target
                and not (how is How.CONSTRUCTOR and symbols.fragments[target].kind is not FragmentKind.CLASS)
            ):
                verdict = "right" if how is How.IMPLEMENTATION and declared_right else judged(truth, site, target)
                verdicts.setdefault((gid, target), (how, set()))[1].add(verdict)
    score, rules = Score(), Counter[tuple[How, str]]()
    for pair, (how, seen) in verdicts.items():
        verdict = next(kind for kind in ("right", "wrong", "unseen") if kind in seen)
        getattr(score, verdict).add(pair)
        rules[how, verdict] += 1
    true = true_pairs(symbols, truth, covered)
    score.missed = true - score.right
    return score, rules, statuses


def by_name(symbols: Symbols, truth: Truth, covered: set[int]) -> Score:
    """The baseline: every definition of the family that has the called name."""
    named: dict[tuple[str, str], set[int]] = {}
    for gid, fragment in enumerate(symbols.fragments):
        if fragment.kind in DEFINITIONS:
            own = symbols.class_of[gid] if fragment.kind is FragmentKind.CLASS else gid
            named.setdefault((symbols.family[symbols.file_of[gid]], fragment.name), set()).add(own)
    score = Score()
    for number, gid, call in sites(symbols, covered):
        for target in named.get((symbols.family[number], call.name), ()):
            if gid != target:
                getattr(score, judged(truth, (number, call.line, call.name), target)).add((gid, target))
    score.wrong -= score.right
    score.unseen -= score.right | score.wrong
    score.missed = true_pairs(symbols, truth, covered) - score.right
    return score


def true_pairs(symbols: Symbols, truth: Truth, covered: set[int]) -> set[Pair]:
    """Pairs that the compiler knows of."""
    found = (
        (gid, target)
        for number, gid, call in sites(symbols, covered)
        for target in truth.targets.get((number, call.line, call.name), ())
    )
    return {pair for pair in found if pair[0] != pair[1]}


def unread(files: list[tuple[str, FileFacts]], truth: Truth) -> int:
    """Sites with a target that parsing did not see."""
    seen = {(number, call.line, call.name) for number, (_, facts) in enumerate(files) for call in facts.calls}
    return sum(1 for site, targets in truth.targets.items() if targets and site not in seen)


def spelled(symbols: Symbols, truth: Truth, score: Score, pair: tuple[int, int]) -> str:
    """The calls a disagreement is about, as facts have them."""
    number, name = symbols.file_of[pair[0]], symbols.fragments[pair[1]].name
    position = pair[0] - symbols.offset[number]
    calls = [call for call in symbols.facts[number].calls if call.fragment == position]
    if pair in score.missed:
        calls = [call for call in calls if pair[1] in truth.targets.get((number, call.line, call.name), ())]
    else:
        calls = [call for call in calls if call.name == name]
    return "   " + "; ".join(f"{call.line}: {call.receiver}.{call.name}" for call in calls[:3])


if __name__ == "__main__":
    sys.exit(main())
