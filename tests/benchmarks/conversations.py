"""What pruning a conversation keeps, costs and takes.

    PYTHONPATH=tests python tests/benchmarks/conversations.py strategies SESSION [--safe-zone 100000] [--runs 3]
    PYTHONPATH=tests python tests/benchmarks/conversations.py facts [--seeds 4]
    PYTHONPATH=tests python tests/benchmarks/conversations.py growth [--messages 1000 10000 100000]
    PYTHONPATH=tests python tests/benchmarks/conversations.py pairs [--transcripts 2000]

strategies: a transcript (`sessions.py` makes one) under each strategy through the command line, as a user runs it.
facts: the share of planted facts (tests/support/facts.py) that is still there at half the tokens, for each kind and
each speaker; "told" counts only facts whose own message is gone, so that nothing but the summary can hold them. growth:
processor seconds against messages, and the exponent; a single message of 10 MB too. pairs: random transcripts of every
format (tests/support/api_conversations.py) under each strategy, and what a provider would refuse of what leaves.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from measuring import exponent, megabytes, middle, run, spent
from measuring import table as markdown
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.strategies import STRATEGIES, decide
from secateur.kinds.conversation.transcripts import read_messages, read_transcript
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.api_conversations import API_FORMATS, api_conversation, refused
from support.conversations import FORMATS, Said, conversation
from support.facts import HELD_OUT, KINDS, SEEN, facts, found, planted, sources

STYLES = {"long tool results": (4, 80), "some tool results": (2, 30), "mostly talk": (0, 6)}
"""Steps of a turn and lines of a result, at most."""
SHARES = (0, 0.1, 0.3, 0.5, 0.7, 0.9)
"""Safe zones, as shares of a transcript."""
SPEAKERS = ("user", "assistant", "result", "call")


def main() -> int:
    """Measure, print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    strategies = parts.add_parser("strategies")
    strategies.add_argument("session", type=Path)
    strategies.add_argument("--safe-zone", type=int, default=100_000)
    strategies.add_argument("--runs", type=int, default=3)
    parts.add_parser("facts").add_argument("--seeds", type=int, default=4)
    parts.add_parser("growth").add_argument("--messages", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parts.add_parser("pairs").add_argument("--transcripts", type=int, default=2_000)
    options = parser.parse_args()
    if options.part == "strategies":
        print(by_strategy(options.session, options.safe_zone, options.runs))
    elif options.part == "facts":
        print(by_kind(options.seeds))
    elif options.part == "pairs":
        print(by_format(options.transcripts))
    else:
        print(by_size(options.messages))
    return 0


def by_strategy(session: Path, safe_zone: int, runs: int) -> str:
    """A row a strategy: tokens, what is read again, when it pays, time."""
    rows = []
    for strategy in STRATEGIES:
        words = [
            sys.executable,
            "-m",
            "secateur.cli.main",
            "conversation",
            session,
            "--strategy",
            strategy,
            "--safe-zone",
            str(safe_zone),
            "--format",
            "json",
        ]
        cost = middle([run(words) for _ in range(runs)])
        told = json.loads(cost.output)
        figures, cache = told["statistics"], told["cache"]
        rows.append(
            [
                f"`{strategy}`",
                f"{figures['original_tokens']:,}",
                f"{figures['pruned_tokens']:,}",
                f"{len(told['messages']):,} of {figures['total_messages']:,}",
                f"{figures['tool_results_cleaned']:,}",
                f"{cache['first_changed_message']}",
                f"{cache['reread_tokens']:,}",
                f"{cache['pays_after_requests']}",
                f"{cost.cpu:.1f} s",
                f"{cost.wall:.1f} s",
            ]
        )
    head = [
        "strategy",
        "tokens before",
        "after",
        "lines left",
        "results gone",
        "first changed",
        "read again",
        "pays after requests",
        "processor",
        "clock",
    ]
    return markdown(head, rows)


def by_kind(seeds: int) -> str:
    """A row for each style and set of phrasings, all formats together."""
    rows = []
    for style, (steps, lines) in STYLES.items():
        for name, phrasings in (("seen", SEEN), ("held out", HELD_OUT)):
            planted_in, kept = Counter[str](), Counter[str]()
            for form in FORMATS:
                for seed in range(seeds):
                    random = Random(seed)
                    there = [*facts(phrasings, random), *facts(phrasings, random)]
                    messages = conversation(
                        form, list(planted(there, random, steps=steps, lines=lines)), asks="And now?"
                    )
                    measured = measure(read_messages(messages), get_counter())
                    half = with_values(Settings(), {"conversation_prune.safe_zone_tokens": measured.total // 2})
                    result = decide(measured, half, "summarize")
                    untouched = [item.message for item in result.items if item.number >= 0 and item.message is not None]
                    for fact, survived, whole in zip(
                        there, found(there, result.messages), found(there, untouched), strict=True
                    ):
                        for label in (fact.kind, fact.by, "all", *([] if whole else ["told"])):
                            planted_in[label] += 1
                            kept[label] += survived
            labels = ("all", "told", *KINDS, *SPEAKERS)
            rows.append(
                [
                    style,
                    name,
                    *(
                        f"{kept[label] / planted_in[label]:.2f} of {planted_in[label]:,}" if planted_in[label] else "-"
                        for label in labels
                    ),
                ]
            )
    return markdown(
        ["transcript", "phrasings", "all", "told", *KINDS, *(f"by {speaker}" for speaker in SPEAKERS)], rows
    )


def by_format(transcripts: int) -> str:
    """A row a format: prunings, results that were cleared, and what a provider would refuse."""
    rows = []
    for form in API_FORMATS:
        prunings, cleared, wrong = 0, 0, Counter[str]()
        for seed in range(transcripts):
            measured = measure(read_messages(api_conversation(form, seed)), get_counter("chars4"))
            for number, strategy in enumerate(STRATEGIES):
                zone = int(measured.total * SHARES[(seed + number) % len(SHARES)])
                values = {
                    "tokens.counter": "chars4",
                    "conversation_prune.safe_zone_tokens": zone,
                    "conversation_prune.group_size": 1 + seed % 5,
                    "conversation_prune.keep_first": bool(seed % 2),
                }
                pruned = decide(measured, with_values(Settings(), values), strategy)
                prunings, cleared = prunings + 1, cleared + pruned.results_cleaned
                wrong.update(fault.split()[0] for fault in refused(pruned.messages))
        rows.append([f"`{form}`", f"{transcripts:,}", f"{prunings:,}", f"{cleared:,}", f"{wrong.total():,}"])
    return markdown(["format", "transcripts", "prunings", "results gone", "refused"], rows)


def by_size(sizes: list[int]) -> str:
    """A row a size: reading, counting, each strategy, writing; exponents in tokens."""
    settings = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 50_000})
    counter = get_counter()
    counter.count("the vocabulary is loaded here")
    columns: list[list[float]] = []
    rows = []
    for size in sizes:
        values, tokens, bytes_ = _measured(json.dumps(_long(size)).encode(), settings)
        columns.append([tokens, *values])
        rows.append([f"{size:,} messages", f"{tokens:,}", megabytes(bytes_), *(f"{value:.2f} s" for value in values)])
    one = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "\n".join(sources() * 200)[:10_000_000]},
        {"role": "user", "content": "So?"},
    ]
    values, tokens, bytes_ = _measured(json.dumps(one).encode(), settings)
    if len(sizes) > 1:
        series = list(zip(*columns, strict=True))
        rows.append(["exponent", "", "", *(f"{exponent(series[0], column):.2f}" for column in series[1:])])
    rows.append(["one message of 10 MB", f"{tokens:,}", megabytes(bytes_), *(f"{value:.2f} s" for value in values)])
    return markdown(
        ["transcript", "tokens", "bytes", "read", "count", *(f"`{strategy}`" for strategy in STRATEGIES), "write"], rows
    )


def _measured(data: bytes, settings: Settings) -> tuple[list[float], int, int]:
    """Processor seconds of reading, counting, each strategy on what was counted, and writing; tokens; bytes."""
    held: dict[str, Any] = {}

    def keep(name: str, work: Callable[[], Any]) -> float:
        return spent(lambda: held.__setitem__(name, work()))[0]

    values = [
        keep("read", lambda: read_transcript(data)),
        keep("measured", lambda: measure(held["read"], get_counter())),
    ]
    values += [
        keep(strategy, lambda strategy=strategy: decide(held["measured"], settings, strategy))
        for strategy in STRATEGIES
    ]
    with tempfile.TemporaryFile() as sink:
        values.append(
            keep("written", lambda: sink.write(held["tool-results"].write().encode("utf-8", "surrogatepass")))
        )
    return values, held["measured"].total, len(data)


def _long(messages: int) -> list[dict[str, Any]]:
    """A transcript of an agent, a turn holding about a dozen messages, results of about 5 kB."""
    return conversation("openai", list(_turns(messages)), asks="And now?")


def _turns(messages: int) -> Iterator[Said]:
    random = Random(1)
    random_facts = facts(SEEN, random)
    done = 0
    while done < messages:
        for said in planted(random_facts, random, steps=10, lines=100):
            done += 2 + 2 * len(said.steps)
            yield said
            if done >= messages:
                break


if __name__ == "__main__":
    sys.exit(main())
