"""secateur beside other programs that read a whole repository for a language model or an editor: on the same clone, in
one run, as ratios.

    python tests/benchmarks/peers.py --repo PATH [PATH ...] [--aider-python PYTHON] [--repomix PROGRAM] [--runs 3]

--aider-python: the Python of an environment with aider-chat, whose repo map is asked for through its own class; tokens
are counted as characters / 4 there, so that no model service is needed. --repomix: the repomix program (npm).
universal-ctags is found on the PATH. What is absent is skipped and said. The floor is every byte of every tracked file
through `wc -c`. Runs take turns; figures are medians. They do not do the same: the last column says what comes out.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import SECATEUR, Cost, copy_of, empty_cache, megabytes, middle, run, table, tracked

AIDER = """
import sys
from aider.repomap import RepoMap

class Model:
    def token_count(self, text):
        return len(text) // 4

class Quiet:
    def __getattr__(self, name):
        return lambda *words, **options: None
    def read_text(self, name, silent=False):
        try:
            return open(name, encoding="utf-8").read()
        except (OSError, UnicodeError):
            return None

files = [f"{sys.argv[1]}/{name}" for name in sys.stdin.read().split("\\0") if name]
mapper = RepoMap(
    map_tokens=1024, root=sys.argv[1], main_model=Model(), io=Quiet(), refresh="files", max_context_window=128_000
)
found = mapper.get_repo_map([], files)
assert found, "no map"
"""
"""aider's repo map of all files with none in the chat, as it makes it at the start of a session."""

QUERY = "where are errors handled and reported?"


@dataclass(frozen=True, slots=True)
class Peer:
    """A program, how it is run on a clone, and what comes out."""

    name: str
    gives: str
    run: Callable[[Path], Cost]
    forget: Callable[[Path], None] = lambda _: None  # removes what a run left behind


def main() -> int:
    """One table a repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, nargs="+", required=True, help="git repositories")
    parser.add_argument("--aider-python", type=Path, help="Python with aider-chat")
    parser.add_argument("--repomix", type=Path, help="repomix program")
    parser.add_argument("--runs", type=int, default=3, help="of everything (default 3)")
    options = parser.parse_args()
    for path in options.repo:
        with copy_of(path.resolve()) as place, empty_cache() as cache:
            files = tracked(place)
            size = sum(file.stat().st_size for file in files)
            print(
                f"\n{path.name}: {len(files):,} files, {megabytes(size)},"
                f" {sum(file.read_bytes().count(10) for file in files):,} lines\n"
            )
            print(compared(place, peers(options.aider_python, options.repomix, cache), options.runs), flush=True)
    return 0


def peers(aider: Path | None, repomix: Path | None, cache: Path) -> list[Peer]:
    """Those that are here; says which are not."""
    environment = {"SECATEUR_CACHE_DIR": str(cache)}

    def index(place: Path) -> Cost:
        return run([*SECATEUR, "index", place], environment=environment)

    def search(place: Path) -> Cost:
        return run(
            [*SECATEUR, "search", QUERY, place, "--profile", "recommended", "--no-cache"], environment=environment
        )

    found = [
        Peer(
            "secateur index, cold",
            "fragments, exact tokens, words, vectors, call graph, hotspots",
            index,
            lambda _: shutil.rmtree(cache),
        ),
        Peer("secateur search, index warm", "a pack that answers a query", search),
    ]
    if aider and aider.exists():
        found.append(
            Peer(
                "aider repo map, cold",
                "definitions and references, a ranked map",
                lambda place: aider_map(aider, place),
                forget_tags,
            )
        )
        found.append(Peer("aider repo map, warm", "the same again", lambda place: aider_map(aider, place)))
    else:
        print("aider's repo map is skipped: name the Python of an environment with aider-chat (--aider-python).")
    ctags = shutil.which("ctags")
    if ctags and b"Universal" in run([ctags, "--version"]).output:
        found.append(
            Peer(
                "universal-ctags",
                "definitions",
                lambda place: run([ctags, "-L", "-", "-f", "/dev/null"], cwd=place, input=names(place)),
            )
        )
    else:
        print("universal-ctags is skipped: it is not on the PATH.")
    if repomix and repomix.exists():
        found.append(Peer("repomix", "one file of all text, counted", lambda place: packed(repomix, place)))
        found.append(
            Peer(
                "repomix --compress",
                "one file of all declarations, counted",
                lambda place: packed(repomix, place, "--compress"),
            )
        )
    else:
        print("repomix is skipped: name its program (--repomix).")
    found.append(
        Peer(
            "floor: read all bytes",
            "a number",
            lambda place: run(["sh", "-c", "git ls-files -z | xargs -0 cat | wc -c"], cwd=place),
        )
    )
    return found


def names(place: Path) -> bytes:
    """Tracked files, a line each."""
    return run(["git", "ls-files"], cwd=place).output


def aider_map(python: Path, place: Path) -> Cost:
    """One map, in a new process."""
    files = "\0".join(str(path.relative_to(place)) for path in tracked(place))
    return run([python, "-c", AIDER, place], cwd=place, input=files.encode(errors="surrogateescape"))


def forget_tags(place: Path) -> None:
    for folder in place.glob(".aider.tags.cache*"):
        shutil.rmtree(folder)


def packed(program: Path, place: Path, *words: str) -> Cost:
    """One pack of everything, into a file that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        return run([program.absolute(), ".", "--quiet", *words, "-o", Path(folder) / "pack.xml"], cwd=place)


def compared(place: Path, peers: Sequence[Peer], runs: int) -> str:
    """Runs in turn; ratios to the first peer: how many times its processor time another takes."""
    costs: dict[str, list[Cost]] = {}
    broken: dict[str, str] = {}
    for _ in range(runs):
        for peer in peers:
            if peer.name not in broken:
                peer.forget(place)
                try:
                    costs.setdefault(peer.name, []).append(peer.run(place))
                except RuntimeError as error:
                    broken[peer.name] = " ".join(str(error).split())[-200:]
                print(f"{place.name}: {peer.name}", file=sys.stderr, flush=True)
    base = middle(costs[peers[0].name]).cpu
    rows = []
    for peer in peers:
        if peer.name in broken:
            rows.append([peer.name, "failed", "", "", "", broken[peer.name]])
            continue
        cost, every = middle(costs[peer.name]), [cost.cpu for cost in costs[peer.name]]
        spread = f"{cost.cpu:.2f} s ({min(every):.2f} to {max(every):.2f})"
        rows.append(
            [peer.name, spread, f"{cost.cpu / base:.2f}", f"{cost.wall:.1f} s", megabytes(cost.peak), peer.gives]
        )
    return table(["", "processor", "÷ secateur's cold index", "clock", "memory", "what comes out"], rows)


if __name__ == "__main__":
    sys.exit(main())
