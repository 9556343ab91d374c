"""Word queries: does the code that a maintainer would name stand first?

    python tests/benchmarks/words.py --mirror DIR [--cache DIR] [--profile NAME ...] [--set KEY=VALUE ...] [--only TEXT]
                                     [--half tuned|held-out] [--split fit|rest]
                                     [--category NAME ...] [--misses N] [--queries FILE]

`data/word_queries.jsonl` holds questions on public repositories at named commits: a symbol's name or part of it
(definition), where something is used (usage), "how is X done" (how), a message as a user sees it (error), and questions
in Chinese on English code (chinese). The gold of each is the fragments that a maintainer
would name, found by reading the code: 2 for the answer, 1 for what belongs to it. None of the repositories is one of
the retrieval yardstick. Those with `held_out` are not looked at when weights are chosen.

`data/translated_queries.jsonl` (--queries) holds the "how" questions in Chinese, with the same gold.

`data/unseen_questions.jsonl` (--queries) holds 96 questions on 16 repositories that nothing was tuned on, six each: how
the program decides or routes something (architecture), what code does in words that its name does not have (meaning),
and names, parts of names and words of names (names). They were written and answered on 2026-11-26 by reading the
source alone, before the order was changed again; no program had ranked anything in these repositories. They measure:
nothing is chosen with them in sight. A gold without a name is a whole file, of which the first fragment counts.

Printed are means over queries of NDCG@10, of MRR and of the recall of answers among the first ten, then of NDCG@10 of
files, each once, and of the share of the answers' files in a pack of 4,000 tokens, with the interval that a bootstrap
over repositories gives. --mirror holds bare repositories `owner+name/`, which have the commits.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from measuring import table
from msgspec.structs import replace
from retrieval import repository, split_of
from secateur.engine import Engine
from secateur.model import Pool
from secateur.selection import select
from secateur.settings import Settings, load, with_values

DATA = Path(__file__).parent / "data" / "word_queries.jsonl"
CUT = 10
ANSWER = 2
SAMPLES = 1000
"""Bootstrap samples of an interval."""

BUDGET = 4000
"""Tokens of the pack whose files are counted."""

METRICS = (f"NDCG@{CUT}", "MRR", f"recall@{CUT}", f"NDCG@{CUT} of files", f"file recall at {BUDGET:,}")
HALVES = {"tuned": False, "held-out": True}


@dataclass(frozen=True, slots=True)
class Asked:
    """What one query found."""

    repo: str
    category: str
    held_out: bool
    metrics: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What one query found: the ids of the first fragments, the paths of the first files, each once, and the paths in
    a pack."""

    first: list[str]
    files: list[str]
    packed: frozenset[str]


def main() -> int:
    """Ask all queries with each profile, then print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument("--queries", type=Path, default=DATA, help="file of queries (default: data/word_queries.jsonl)")
    parser.add_argument("--cache", type=Path, help="cache folder (default: the user's)")
    parser.add_argument("--profile", action="append", default=[], help="repeatable (default: spec and recommended)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable")
    parser.add_argument("--only", default="", help="only repositories whose name holds this")
    parser.add_argument("--category", action="append", default=[], help="only queries of it; repeatable (default: all)")
    parser.add_argument("--half", choices=sorted(HALVES), help="only these repositories (default: all)")
    parser.add_argument(
        "--split", choices=("fit", "rest"), help="only repositories of `fit`, or all others (weights.py)"
    )
    parser.add_argument("--misses", type=int, default=0, help="also print the N worst queries of each profile")
    parser.add_argument("--out", type=Path, help="file for one line a profile and query: its id, metrics, first ten")
    options = parser.parse_args()
    changes = dict(text.split("=", 1) for text in options.set)
    variants = {
        name: with_values(load(None, profile=name).settings, {key: _value(text) for key, text in changes.items()})
        for name in options.profile or ("spec", "recommended")
    }
    cases = [case for case in cases_of(options.queries) if options.only in case["repo"]]
    if options.half:
        cases = [case for case in cases if case["held_out"] == HALVES[options.half]]
    if options.split:
        cases = [case for case in cases if (split_of(case["repo"]) == "fit") == (options.split == "fit")]
    cases = [case for case in cases if not options.category or case["category"] in options.category]
    if not cases:
        parser.error(f"no query is of a repository whose name holds {options.only!r}, and of these kinds")
    found: dict[str, list[Asked]] = {name: [] for name in variants}
    lines = []
    for name, case, answer in answers(cases, variants, options.mirror, options.cache):
        metrics = metrics_of(answer.first, grades(case)) + file_metrics(answer, grades(case))
        found[name].append(Asked(case["repo"], case["category"], case["held_out"], metrics))
        line = {"profile": name, "id": case["id"], "query": case["query"], "metrics": metrics, "first": answer.first}
        lines.append(line)
    if options.out:
        options.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    for name, asked in found.items():
        print(f"\n{name}: {len(asked)} queries, {len({one.repo for one in asked})} repositories\n")
        print(table(("queries", "n", *METRICS), rows(asked)), flush=True)
        for line in sorted((x for x in lines if x["profile"] == name), key=lambda x: x["metrics"])[: options.misses]:
            print(f"{line['metrics'][0]:.2f} {line['id']} {line['query']!r}: {', '.join(line['first'][:3])}")
    return 0


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def cases_of(path: Path) -> list[dict[str, Any]]:
    """The queries of a file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answers(
    cases: Iterable[dict[str, Any]], variants: Mapping[str, Settings], mirror: Path, cache: Path | None
) -> Iterator[tuple[str, dict[str, Any], Found]]:
    """Per query and variant what it found."""
    for (repo, commit), some in groupby(cases, key=lambda case: (case["repo"], case["commit"])):
        with Engine.open(repository(mirror, repo), rev=commit, cache_dir=cache) as engine:
            for case in some:
                for name, settings in variants.items():
                    yield name, case, found_in(engine.retrieve(case["query"], settings, use_cache=False), settings)


def found_in(pool: Pool, settings: Settings) -> Found:
    """What a selection tries first, and what fits."""
    if not len(pool):
        return Found([], [], frozenset())
    selection = select(pool, replace(settings, budget=BUDGET))
    order = np.argsort(-selection.score, kind="stable").tolist()
    files = list(dict.fromkeys(pool.path[row] for row in order))[:CUT]
    packed = frozenset(pool.path[row] for row in selection.kept_rows if selection.lines_out(row))
    return Found([pool.symbol_id[row] for row in order[:CUT]], files, packed)


def grades(case: dict[str, Any]) -> dict[str, int]:
    """The grade of each gold fragment, or of the file where all of it is gold."""
    return {
        f"{gold['file']}::{gold['name']}" if "name" in gold else gold["file"]: gold["grade"] for gold in case["gold"]
    }


def gold_of(first: Iterable[str], gold: Mapping[str, int]) -> Iterator[str]:
    """Yields for each fragment what it answers: itself, or its file if that is gold; "" if that was found before."""
    found = {""}
    for symbol in first:
        answer = symbol if symbol in gold else symbol.partition("::")[0]
        yield "" if answer in found else answer
        found.add(answer)


def metrics_of(first: Sequence[str], gold: Mapping[str, int]) -> tuple[float, float, float]:
    """NDCG@10 (gain 2^grade - 1), reciprocal rank of the first answer, share of the answers that are there."""
    first = list(gold_of(first, gold))
    gain = sum((2 ** gold.get(symbol, 0) - 1) / math.log2(rank + 2) for rank, symbol in enumerate(first))
    ideal = sorted(gold.values(), reverse=True)[:CUT]
    most = sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(ideal))
    wanted = {symbol for symbol, grade in gold.items() if grade == ANSWER}
    rank = next((rank for rank, symbol in enumerate(first, 1) if symbol in wanted), 0)
    return gain / most, 1 / rank if rank else 0.0, len(wanted & set(first)) / min(CUT, len(wanted))


def file_metrics(found: Found, gold: Mapping[str, int]) -> tuple[float, float]:
    """NDCG@10 of the files, each of which counts once, with the best grade of its answers; and the share of them in a
    pack."""
    files: dict[str, int] = {}
    for answer, grade in gold.items():
        path = answer.partition("::")[0]
        files[path] = max(grade, files.get(path, 0))
    return metrics_of(found.files, files)[0], len(files.keys() & found.packed) / len(files)


def rows(asked: Sequence[Asked]) -> Iterator[tuple[str, ...]]:
    """Of a table: per category, of all, and of the repositories that were held out or not."""
    groups = [
        (name, [one for one in asked if one.category == name]) for name in dict.fromkeys(a.category for a in asked)
    ]
    groups.append(("all", list(asked)))
    groups += [(name, [one for one in asked if one.held_out == held]) for name, held in HALVES.items()]
    for name, some in groups:
        if some:
            yield name, str(len(some)), *(_shown(some, number) for number in range(len(METRICS)))


def _shown(asked: Sequence[Asked], number: int) -> str:
    low, high = interval(asked, number)
    return f"{np.mean([one.metrics[number] for one in asked]):.3f} [{low:.3f}, {high:.3f}]"


def interval(asked: Sequence[Asked], number: int) -> tuple[float, float]:
    """95 % of a bootstrap over repositories, with a fixed seed."""
    by_repo: dict[str, list[float]] = {}
    for one in asked:
        by_repo.setdefault(one.repo, []).append(one.metrics[number])
    sums = np.array([sum(values) for values in by_repo.values()])
    counts = np.array([len(values) for values in by_repo.values()])
    drawn = np.random.default_rng(0).integers(0, len(sums), (SAMPLES, len(sums)))
    low, high = np.percentile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), (2.5, 97.5))
    return float(low), float(high)


if __name__ == "__main__":
    sys.exit(main())
