"""Ten questions about flask and requests, asked of secateur and of other programs that choose code for a language
model: does the function that answers come out, and what does that cost?

    python tests/benchmarks/answers.py --mirror DIR [--budget 4000] [--aider-python PYTHON] [--semble PROGRAM]
        [--repomix PROGRAM]

--mirror: bare copies of public repositories, `owner+name/...`. --aider-python: the Python of an environment with
aider-chat; its map gets the question's words as it gets those of a message, and counts characters / 4. semble loads its
vectors from the network once and has no budget: its results are taken in their order while they fit. repomix has no
query: it packs everything. Tokens are o200k_base, seconds those of the processor, for a whole process, with what the
program kept from a run before. The questions and their answers were written down before any program was asked. A
program that is not named is left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measuring import SECATEUR, Cost, empty_cache, run, table, tracked
from peers import AIDER
from secateur import count_tokens

QUESTIONS = {
    ("pallets/flask", "2ac89889"): {
        "where is the session cookie signed?": "src/flask/sessions.py::get_signing_serializer",
        "how is the error handler for an exception chosen?": "src/flask/sansio/app.py::_find_error_handler",
        "what turns the return value of a view into a response?": "src/flask/app.py::make_response",
        "how is a nested blueprint registered?": "src/flask/sansio/blueprints.py::register",
        "how long may a static file be cached?": "src/flask/app.py::get_send_file_max_age",
    },
    ("psf/requests", "1f6589ec"): {
        "how is the proxy for a url chosen?": "src/requests/utils.py::select_proxy",
        "is the authorization header kept on a redirect?": "src/requests/sessions.py::rebuild_auth",
        "how is the encoding guessed when no header names it?": "src/requests/models.py::apparent_encoding",
        "how is a digest authentication challenge answered?": "src/requests/auth.py::build_digest_header",
        "how are files encoded into a multipart body?": "src/requests/models.py::_encode_files",
    },
}
"""Repository and commit -> question -> the function that answers it."""

Ask = Callable[[Path, str], tuple[str, Cost]]
"""(clone, question) -> what a model would read, and its cost."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one program made of one question."""

    whole: bool  # all lines of the function are there
    named: bool  # at least its `def` is, or that of a function of the same name
    tokens: int
    cpu: float


def main() -> int:
    """One row a program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="bare copies of public repositories")
    parser.add_argument("--budget", type=int, default=4000, help="tokens (default 4000)")
    parser.add_argument("--aider-python", type=Path, help="Python with aider-chat")
    parser.add_argument("--semble", type=Path, help="semble program")
    parser.add_argument("--repomix", type=Path, help="repomix program")
    options = parser.parse_args()
    with empty_cache() as cache, tempfile.TemporaryDirectory(prefix="bench-") as folder:
        asked = programs(options, {"SECATEUR_CACHE_DIR": str(cache)})
        answers: dict[str, list[Answer]] = {name: [] for name in asked}
        for (repository, commit), questions in QUESTIONS.items():
            place = clone(options.mirror, repository, commit, Path(folder))
            for name, ask in asked.items():
                ask(place, "warm up")
                for question, function in questions.items():
                    answers[name].append(judged(place, function, *ask(place, question)))
        rows = [
            [
                name,
                str(sum(answer.whole for answer in found)),
                str(sum(answer.named and not answer.whole for answer in found)),
                f"{sum(answer.tokens for answer in found) / len(found):,.0f}",
                f"{sum(answer.cpu for answer in found) / len(found):.1f} s",
            ]
            for name, found in answers.items()
        ]
    print(table(["", "whole function", "declaration alone", "tokens", "processor"], rows))
    return 0


def programs(options: argparse.Namespace, environment: dict[str, str]) -> dict[str, Ask]:
    """Name -> how a program is asked; those that are named on the command line."""

    def secateur(profile: str) -> Ask:
        def ask(place: Path, question: str) -> tuple[str, Cost]:
            flags = ["--budget", str(options.budget), "--profile", profile, "--format", "markdown", "--no-cache"]
            cost = run([*SECATEUR, "search", question, place, *flags], environment=environment)
            return cost.output.decode(), cost

        return ask

    def aider(place: Path, question: str) -> tuple[str, Cost]:
        names = "\0".join(str(path.relative_to(place)) for path in tracked(place))
        cost = run([options.aider_python, "-c", _aider(options.budget, question), place], input=names.encode())
        return cost.output.decode(), cost

    def semble(place: Path, question: str) -> tuple[str, Cost]:
        cost = run([options.semble, "search", question, place, "-k", "100", "--format", "json"])
        text = ""
        for found in json.loads(cost.output)["results"]:
            longer = f"{text}{found['file_path']}:{found['start_line']}-{found['end_line']}\n\n{found['content']}\n\n"
            if count_tokens(longer) > options.budget:
                break
            text = longer
        return text, cost

    def repomix(*flags: str) -> Ask:
        def ask(place: Path, _: str) -> tuple[str, Cost]:
            cost = run([options.repomix, "--stdout", *flags], cwd=place)
            return cost.output.decode(), cost

        return ask

    asked: dict[str, Ask] = {f"secateur, {profile}": secateur(profile) for profile in ("recommended", "spec")}
    if options.aider_python:
        asked["aider's map"] = aider
    if options.semble:
        asked["semble"] = semble
    if options.repomix:
        asked |= {"repomix": repomix(), "repomix --compress": repomix("--compress")}
    return asked


def judged(place: Path, function: str, text: str, cost: Cost) -> Answer:
    """Whether a function's lines are in a text, wherever and however indented."""
    path, _, name = function.partition("::")
    source = (place / path).read_text("utf-8")
    (found,) = (node for node in ast.walk(ast.parse(source)) if getattr(node, "name", "") == name)
    assert isinstance(found, ast.FunctionDef)
    there = {re.sub(r"^[│\s]+", "", line).rstrip() for line in text.splitlines()}
    lines = [line.strip() for line in source.splitlines()[found.lineno - 1 : found.end_lineno] if line.strip()]
    whole = all(line in there for line in lines)
    return Answer(whole, f"def {name}(" in text, count_tokens(text), cost.cpu)


def clone(mirror: Path, repository: str, commit: str, folder: Path) -> Path:
    """A clone at a commit."""
    (bare,) = (path for path in (mirror / repository.replace("/", "+")).iterdir() if path.is_dir())
    place = folder / Path(repository).name
    run(["git", "clone", "--quiet", bare.absolute(), place])
    run(["git", "checkout", "--quiet", commit], cwd=place)
    return place


def _aider(budget: int, question: str) -> str:
    """The program of `peers.AIDER` with a budget, the words of a message, and the map printed."""
    words = set(re.split(r"\W+", question))
    return (
        AIDER.replace("map_tokens=1024", f"map_tokens={budget}")
        .replace("max_context_window=128_000", "max_context_window=None")
        .replace("get_repo_map([], files)", f"get_repo_map([], files, mentioned_idents={words!r})")
        .replace('assert found, "no map"', "print(found)")
    )


if __name__ == "__main__":
    raise SystemExit(main())
