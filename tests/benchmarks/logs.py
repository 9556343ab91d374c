"""What `secateur log` keeps of the lines that answer a question, and whether its sentences are true.

    PYTHONPATH=tests python tests/benchmarks/logs.py [--held-out] [--only PATTERN] [--misses] [--check]

A log goes through the command at 8 % and at 16 % of its tokens, without and with its question as `--query`. Each tool
has a row: the share of the block's lines that leave / the share of blocks that leave whole, the share of the distinct
errors that leave (of those that fit three quarters of the allowance), the number of false sentences. A log whose block
only the question points to counts in the columns with a query alone. False sentences are printed for open
logs only, and with --misses what did not leave. --check reads the logs and their gold without running the command.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path

from log_corpus import Log, check, holds, normalize, read_logs
from measuring import table
from secateur.cli.main import main as run_command
from secateur.tokens import get_counter

SHARES = (8, 16)
"""Percent of a log's tokens that may leave."""
COLUMNS = tuple((share, query) for query in (False, True) for share in SHARES)
FITTING = 0.75
"""Share of the allowance that distinct errors may take so that all must leave; the rest is for what stands between."""
TIMES = re.compile(r"^… .*?\b(\d+) (?:more times?|times|equal|identical|same)\b")
"""A sentence that says how often equal text comes; "like the one above" says less and is not checked."""
COMMON_WORDS = set(
    re.findall(
        r"\w+",
        """
what which why who when where how did does do is are was were the and for not with can cannot from that this any
une pourquoi por que qué warum nicht die der das wurde
""",
    )
)


@dataclass(frozen=True, slots=True)
class Result:
    """What left of one log in one column."""

    log: str
    tool: str
    share: int
    query: bool
    kept: int
    lines: int
    errors_kept: int
    errors_fitting: int
    false: tuple[str, ...]
    missed: tuple[str, ...]


def main() -> int:
    """Measure, print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--only", default="", metavar="PATTERN", help="logs whose name matches")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    logs = [log for log in read_logs(options.held_out) if re.search(options.only, log.name)]
    if options.check:
        faults = [f"{log.name}: {fault}" for log in logs for fault in check(log)]
        print("\n".join(faults) or f"{len(logs)} logs of {len({log.tool for log in logs})} tools, no fault")
        return 1 if faults else 0
    with ProcessPoolExecutor() as workers:
        results = [result for results in workers.map(measure_log, logs) for result in results]
    print(format_results(results))
    for result in () if options.held_out else results:  # what leaves of held-out logs is not to be read
        column = f"{result.log}, {result.share} %{', query' if result.query else ''}"
        for sentence in result.false:
            print(f"{column}: false: {sentence}")
        for text in result.missed if options.misses else ():
            print(f"{column}: missed: {text}")
    return 0


def measure_log(log: Log) -> list[Result]:
    """Run the command over a log in each column."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "log.txt")
        file.write_text(log.text, "utf-8", newline="")
        return [measure_column(log, file, share, query) for share, query in COLUMNS]


def measure_column(log: Log, file: Path, share: int, query: bool) -> Result:
    """Run the command once and compare what left with the gold."""
    count = get_counter("o200k_base").count
    budget = count(log.text) * share // 100
    words = ["log", str(file), "--max-tokens", str(budget), *(["--query", log.question] if query else [])]
    output, messages = run_words([*words, "--format", "plain"])
    lines = [normalize(line) for line in output.split("\n")]
    missed = [texts[0] for texts in log.block if not any(holds(lines, text) for text in texts)]
    fitting, used = [], 0
    for text in log.errors:
        used += count(next(line for line in log.text.split("\n") if holds([normalize(line)], text))) + 1
        fitting += [text] if used <= budget * FITTING else []
    false = [*false_repeats(log, output), *false_query(log, messages + output)]
    if count(output) > budget:
        false.append(f"{count(output)} tokens left, {budget} may")
    if log.green:
        false += false_failures(*run_words([*words, "--format", "json"]))
    skipped = log.query_only and not query
    return Result(
        log.name,
        log.tool,
        share,
        query,
        0 if skipped else len(log.block) - len(missed),
        0 if skipped else len(log.block),
        sum(holds(lines, text) for text in fitting),
        len(fitting),
        tuple(false),
        () if skipped else tuple(missed) + tuple(text for text in fitting if not holds(lines, text)),
    )


def run_words(words: list[str]) -> tuple[str, str]:
    """Run the command in this process and return what it wrote to stdout and stderr."""
    output, messages = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(messages):
        code = run_command(words)
    if code:
        raise RuntimeError(f"{' '.join(words)} ended with {code}: {messages.getvalue()}")
    return output.getvalue(), messages.getvalue()


def false_repeats(log: Log, output: str) -> Iterator[str]:
    """Sentences that a line comes N more times although its text does not; times at its start are not compared."""
    counts = Counter(normalize(line) for line in log.text.split("\n"))
    above = ""
    for line in output.split("\n"):
        match = TIMES.search(line)
        if match and above and counts[above] <= int(match[1]):
            yield f"{line} (below {above[:80]!r}, which the log holds {counts[above]} times)"
        elif not line.startswith("… "):
            above = normalize(line)


def false_query(log: Log, output: str) -> Iterator[str]:
    """The sentence that no line holds a word of the question although a line does."""
    if not re.search(r"no line holds a word of the query", output, re.IGNORECASE):
        return
    held = sorted(split_words(log.question) & split_words(log.text))
    if held:
        yield f"no line holds a word of the query, but lines hold {', '.join(held)}"


def split_words(text: str) -> set[str]:
    """Words of three characters or more, and pairs of Chinese characters, which no blank divides."""
    pairs = {pair for run in re.findall(r"[\u4e00-\u9fff]+", text) for pair in map("".join, pairwise(run))}
    return set(re.findall(r"\w{3,}", text.casefold())) - COMMON_WORDS | pairs


def false_failures(output: str, messages: str) -> Iterator[str]:
    """Sentences and reasons of a first failure in a log without one."""
    answer = json.loads(output)
    for entry in answer["ledger"]["entries"]:
        if "first_failure" in str(entry.get("reason")):
            yield f"a first failure at line {entry['id']} of a green run"
    for line in (answer["text"] + messages).split("\n"):
        if line.startswith(("… ", "warning:")) and "first failure" in line.lower():
            yield f"{line} (of a green run)"


def format_results(results: list[Result]) -> str:
    """Make a row for each tool, then one for all of them."""
    tools = sorted({result.tool for result in results}, key=str.casefold)
    groups = [(tool, [result for result in results if result.tool == tool]) for tool in tools]
    heads = [f"{share} %{' query' if query else ''}" for share, query in COLUMNS]
    rows = [format_row(name, group) for name, group in (*groups, ("**all**", results))]
    return table(["tool", "logs", *heads, *(f"errors {share} %" for share in SHARES), "false sentences"], rows)


def format_row(name: str, results: list[Result]) -> list[str]:
    """Make the row of a tool."""
    recalls = (part(results, share, query) for share, query in COLUMNS)
    errors = (ratio((r.errors_kept, r.errors_fitting) for r in results if r.share == share) for share in SHARES)
    logs, false = len({result.log for result in results}), sum(len(result.false) for result in results)
    return [name, str(logs), *recalls, *errors, str(false)]


def part(results: list[Result], share: int, query: bool) -> str:
    """The share of the lines that leave / the share of whole blocks that leave."""
    column = [r for r in results if (r.share, r.query) == (share, query) and r.lines]
    return f"{ratio((r.kept, r.lines) for r in column)} / {ratio((r.kept == r.lines, 1) for r in column)}"


def ratio(pairs: Iterable[tuple[int, int]]) -> str:
    """The sum of the first numbers over the sum of the second."""
    kept, total = (sum(numbers) for numbers in zip(*pairs, strict=True)) if (pairs := list(pairs)) else (0, 0)
    return f"{kept / total:.2f}" if total else "–"


if __name__ == "__main__":
    raise SystemExit(main())
