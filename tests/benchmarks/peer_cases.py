"""Other programs that choose code for a language model, on the cases of the retrieval yardstick, beside our own runs.

    python tests/benchmarks/peer_cases.py --bench DIR --mirror DIR --out DIR [--semble-python PYTHON]
        [--aider-python PYTHON] [--ours NAME=RUN.jsonl ...] [--only REPO ...] [--scored]

--semble-python, --aider-python: the Python of an environment with semble, or aider-chat; a program that is not named
is left out. --ours: runs that `retrieval.py` wrote, as further rows; only cases that all have are compared. --scored
runs nothing and reads what is in --out. Every case is a checkout of its base commit; the query is the issue's text.

semble's own vectors come from the network, which is not asked: it runs with those that the package `wordllama`
carries, through the model class that it uses, and once by words alone (its `alpha = 0`). It has no budget: its chunks
are taken in their order, and what does not fit is passed over. aider's repo map is asked for with the words, names and
files of the issue that aider itself would take from a message, and counts with the yardstick's encoding; of the map,
the lines that it shows whole count. Neither pays for headings and marks, as ours do.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from measuring import run, tracked
from recall_report import BUDGETS, Scores, difference_table, recall_table
from retrieval import repository, scores, yardstick_ranks
from secateur import count_tokens
from secateur.index.facts.embedding.static import TOKENIZER, WEIGHTS

CHUNKS = 400
"""Of semble that are looked at: more than the largest budget holds."""

MAP_WIDTH = 100
"""Characters of a line of aider's map, its mark among them; longer ones are cut."""

SEMBLE = """
import json, sys
import semble.index.index as index
from model2vec import StaticModel
from safetensors.numpy import load_file
from tokenizers import Tokenizer

root, weights, tokenizer, chunks = sys.argv[1:5]
vectors = load_file(weights)["embedding.weight"].astype("float32")
model = StaticModel(vectors, Tokenizer.from_file(tokenizer), normalize=True)
index.load_model = lambda path=None: (model, "wordllama")
made = index.SembleIndex.from_path(root, model_path="wordllama")
query = json.load(sys.stdin)
found = {
    name: [
        (result.chunk.file_path, result.chunk.start_line, result.chunk.end_line)
        for result in made.search(query, top_k=int(chunks), alpha=alpha)
    ]
    for name, alpha in (("semble", None), ("semble, words alone", 0.0))
}
json.dump(found, sys.stdout)
"""
"""semble's chunks for a query, best first, in both modes."""

AIDER = """
import json, os, re, sys
from collections import defaultdict
from pathlib import Path
import tiktoken
from aider.repomap import RepoMap

root, budgets = sys.argv[1], json.loads(sys.argv[2])
asked = json.load(sys.stdin)
query, names = asked["query"], asked["files"]
encoding = tiktoken.get_encoding("o200k_base")

class Model:
    def token_count(self, text):
        return len(encoding.encode_ordinary(text))

class Quiet:
    def __getattr__(self, name):
        return lambda *words, **options: None
    def read_text(self, name, silent=False):
        try:
            return open(name, encoding="utf-8").read()
        except (OSError, UnicodeError):
            return None

class Lines(RepoMap):
    # Remembers which lines every map shows.
    def get_ranked_tags(self, *words, **options):
        if not hasattr(self, "ranked"):
            self.ranked = super().get_ranked_tags(*words, **options)
        return self.ranked
    def render_tree(self, absolute, relative, interest):
        shown = super().render_tree(absolute, relative, interest)
        key = (relative, shown)
        if key not in self.lines:
            self.lines[key] = sorted(self.tree_context_cache[relative]["context"].show_lines)
        self.drawn[relative] = self.lines[key]
        return shown
    def to_tree(self, tags, chat):
        self.drawn = {}
        text = super().to_tree(tags, chat)
        self.maps[text] = self.drawn
        return text

words = {word.rstrip(",.!;:?").strip("\\"'`*_") for word in query.split()}
names_by_base, by_stem = defaultdict(set), defaultdict(set)
for name in names:
    names_by_base[os.path.basename(name)].add(name)
    if len(stem := Path(name).stem.lower()) >= 5:
        by_stem[stem].add(name)
mentioned = words.intersection(names)
for base, some in names_by_base.items():
    if len(some) == 1 and base in words and re.search("[._-]", base):
        mentioned |= some
identifiers = set(re.split(r"\\W+", query))
for identifier in identifiers:
    if len(identifier) >= 5:
        mentioned |= by_stem.get(identifier.lower(), set())
mapper = Lines(map_tokens=1024, root=root, main_model=Model(), io=Quiet(), refresh="always", max_context_window=None)
mapper.maps, mapper.lines = {}, {}
found = {}
for budget in budgets:
    mapper.max_map_tokens = budget
    text = mapper.get_repo_map([], [f"{root}/{name}" for name in names], mentioned, identifiers)
    found[budget] = mapper.maps.get(text, {})
print("\\n" + json.dumps(found))
"""
"""The lines that aider's repo map shows at each budget, by file, from 0; one map's drawing is never another's."""

Rows = Iterator[tuple[str, int, list[dict[str, Any]]]]
"""(name of the run, budget, selections)."""

Ask = Callable[[Path, dict[str, Any]], Rows]


def main() -> int:
    """Ask, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bench", "mirror", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--semble-python", type=Path, help="Python with semble")
    parser.add_argument("--aider-python", type=Path, help="Python with aider-chat")
    parser.add_argument("--ours", action="append", default=[], metavar="NAME=RUN", help="a run of retrieval.py")
    parser.add_argument("--only", action="append", default=[], help="only repositories whose name holds this")
    parser.add_argument("--scored", action="store_true", help="run nothing: read what is in --out")
    options = parser.parse_args()
    with (options.bench / "cases.jsonl").open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    cases = [case for case in cases if not options.only or any(name in case["repo"] for name in options.only)]
    cases.sort(key=lambda case: (case["repo"], case["base_commit"]))
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.scored:
        asked(cases, asks(options), options.mirror, options.out)
    runs = {path.stem: path for path in sorted(options.out.glob("peer *.jsonl"))}
    runs |= {name: Path(path) for name, _, path in (text.partition("=") for text in options.ours)}
    done = [{json.loads(line)["id"] for line in path.open(encoding="utf-8")} for path in runs.values()]
    common = [case for case in cases if all(case["id"] in ids for ids in done)]
    if not runs or not common:
        parser.error("no run, or no case that all runs have")
    (options.out / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in common), encoding="utf-8")
    scored: dict[str, Scores] = {
        name.removeprefix("peer "): scores(options.bench / "score.py", options.mirror, options.out, path, common)
        for name, path in runs.items()
    }
    print(f"{len(common)} cases of {len({case['repo'] for case in common})} repositories\n")
    print("\n".join(recall_table(scored, common)))
    if options.ours:
        ours, _, _ = options.ours[-1].partition("=")
        others = {name: found for name, found in scored.items() if name != ours}
        print(f"\nMinus {ours}, 95 % over repositories:\n")
        print("\n".join(difference_table(others, scored[ours], common)))
    return 0


def asks(options: argparse.Namespace) -> list[Ask]:
    """How each program that is named is asked."""
    found: list[Ask] = []
    vectors = find_spec("wordllama")
    assert vectors is not None
    assert vectors.origin is not None
    weights, tokenizer = (Path(vectors.origin).parent / name for name in (WEIGHTS, TOKENIZER))
    environment = {"TIKTOKEN_CACHE_DIR": str(yardstick_ranks(options.out))}

    def semble(place: Path, case: dict[str, Any]) -> Rows:
        with tempfile.TemporaryDirectory() as home:  # it keeps an index of its own, and statistics
            cost = run(
                [options.semble_python, "-c", SEMBLE, place, weights, tokenizer, str(CHUNKS)],
                environment={"HOME": home, "XDG_CACHE_HOME": home},
                input=json.dumps(case["query"]).encode(),
            )
        for name, chunks in json.loads(cost.output).items():
            for budget in BUDGETS:
                yield name, budget, list(fitting(place, chunks, budget))

    def aider(place: Path, case: dict[str, Any]) -> Rows:
        names = [str(path.relative_to(place)) for path in tracked(place)]
        cost = run(
            [options.aider_python, "-c", AIDER, place, json.dumps(BUDGETS)],
            cwd=place,
            environment=environment,
            input=json.dumps({"query": case["query"], "files": names}).encode(),
        )
        for budget, files in json.loads(cost.output.splitlines()[-1]).items():
            yield (
                "aider's map",
                int(budget),
                [row for file, lines in files.items() for row in shown(place, file, lines)],
            )

    if options.semble_python:
        found.append(semble)
    if options.aider_python:
        found.append(aider)
    return found


def shown(place: Path, file: str, lines: list[int]) -> Iterator[dict[str, Any]]:
    """The lines of a map that stand in it whole."""
    text = (place / file).read_text("utf-8", errors="replace").split("\n")
    for line in lines:
        if line < len(text) and len(text[line]) < MAP_WIDTH:
            yield {"file": file, "line_start": line + 1, "line_end": line + 1}


def fitting(place: Path, chunks: list[list[Any]], budget: int) -> Iterator[dict[str, Any]]:
    """The chunks that fit, in their order; lines that went out already cost nothing again."""
    left, out = budget, set[tuple[str, int]]()
    for file, first, last in chunks:
        lines = (place / file).read_text("utf-8", errors="replace").split("\n")
        fresh = [number for number in range(first, last + 1) if (file, number) not in out]
        cost = count_tokens("\n".join(lines[number - 1] for number in fresh if number <= len(lines))) + 1
        if fresh and cost <= left:
            left -= cost
            out.update((file, number) for number in fresh)
            yield {"file": file, "line_start": first, "line_end": last}


def asked(cases: list[dict[str, Any]], programs: list[Ask], mirror: Path, out: Path) -> None:
    """Write one file a run; a case that a program fails at is said and left out of all."""
    kept: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for repo, some in groupby(cases, key=lambda case: case["repo"]):
            place = Path(folder) / repo.replace("/", "+")
            run(["git", "clone", "--quiet", "--shared", "--no-checkout", repository(mirror, repo).absolute(), place])
            for case in some:
                run(["git", "checkout", "--quiet", "--force", case["base_commit"]], cwd=place)
                try:
                    rows = [row for program in programs for row in program(place, case)]
                except RuntimeError as error:
                    print(f"{case['id']}: {' '.join(str(error).split())[-300:]}", file=sys.stderr, flush=True)
                    continue
                for name, budget, selections in rows:
                    row = {"id": case["id"], "budget": budget, "selections": selections}
                    kept.setdefault(name, []).append(json.dumps(row) + "\n")
                for name, lines in kept.items():
                    (out / f"peer {name}.jsonl").write_text("".join(lines), encoding="utf-8")
                print(case["id"], file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
