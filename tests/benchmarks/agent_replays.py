"""What pruning loses while an agent works: published runs, replayed request by request under each strategy.

    PYTHONPATH=tests python tests/benchmarks/agent_replays.py --runs DIR [--zone 30000] [--sample 60] [--seed 1]
        [--peer langchain=PYTHON ...]

Runs come from `agent_runs.py`. Before every request of the agent the messages so far are counted; where they are more
than the zone, the strategy prunes what the request before had sent. What is gone stays gone, as in a real session. The
agent itself does what it did: it had seen everything, so what it read again it would have read again at least.

Columns, over all runs:

- read again: of the tool results that were taken out, the share (by count) that the agent fetched again within its next
  24 calls: the same call, or a read of the same file, that was not changed in between.
- files, errors, decisions: of the paths that the agent had changed, the error messages that it was shown, and the
  sentences in which it decided, the share that still stands in the last request.
- task, last word: runs in which the first and the latest thing the user said stand in every request.
- paired: runs in which every request has each call with its result.
- above: of the prunes, those that leave more than the zone.
- prunes: a run.
- tokens, paid: tokens sent, and their price with a prompt cache (a token read from the cache .1, one written 1.25),
  as a share of what the same run costs without pruning.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from measuring import table
from secateur import AgenticConversationPruner, ConversationPruner
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter

Chat = list[dict[str, Any]]
Pruner = Callable[[Chat, int], Chat]

NEXT_CALLS = 24
READ, WRITTEN = 0.1, 1.25
"""Prices of a token from the cache and into it."""

COUNTER = get_counter("o200k_base")
_ERROR = re.compile(
    r"^\s*(?:E\s+)?((?:[\w.]*(?:Error|Exception)|error|fatal|FAILED|panic)\b[: ].{8,200})$", re.MULTILINE
)
_DECIDES = re.compile(
    r"\b(?:I'll|I will|let's|instead|the (?:problem|issue|cause|bug|fix)|decided|should be|need to|must)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]{20,300}[.!?]")
_PATH = re.compile(r"(?:[\w.@-]+/)*[\w@-]+\.[A-Za-z]{1,5}\b")
_READS = re.compile(r"\b(?:cat|sed -n|head|tail|nl|less|grep|open)\b")
_CHANGES = re.compile(r"(?:\bsed -i|<<|>(?!&)|\bpatch\b|\bedit\b|\bcreate\b|\binsert\b|write_text|\.write\()")


@lru_cache(maxsize=500_000)
def tokens_of(text: str) -> int:
    return COUNTER.count(text)


def text_of(message: dict[str, Any]) -> str:
    """All that a message sends."""
    calls = "".join(call["function"]["name"] + call["function"]["arguments"] for call in message.get("tool_calls", ()))
    return (message.get("content") or "") + calls


def size(chat: Chat) -> int:
    return sum(tokens_of(text_of(message)) for message in chat)


# --- what a call touches ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A call of the recorded run: what it says, the files that it reads and those that it changes."""

    key: str
    reads: frozenset[str]
    changes: frozenset[str]


def call_of(call: dict[str, Any]) -> Call:
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    said = json.loads(arguments)
    said = said if isinstance(said, dict) else {}
    path = said.get("file_path", said.get("path"))
    command = said.get("command") if isinstance(said.get("command"), str) else ""
    reads, changes = set[str](), set[str]()
    if isinstance(path, str):
        verb = f"{name} {command}".lower()
        (
            changes
            if re.search(r"edit|write|create|insert|replace|notebook", verb.replace("str_replace_editor", ""))
            else reads
        ).add(path)
    elif command:
        found = set(_PATH.findall(command))
        if _CHANGES.search(command):
            changes |= found
        elif _READS.search(command):
            reads |= found
    return Call(name + arguments, frozenset(reads), frozenset(changes))


def calls_in(chat: Chat) -> dict[str, Call]:
    return {call["id"]: call_of(call) for message in chat for call in message.get("tool_calls", ())}


# --- a replay --------------------------------------------------------------------------------------------------------


@dataclass
class Sums:
    """What a strategy did over the runs."""

    runs: int = 0
    cleared: int = 0
    again: int = 0
    found: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    task: int = 0
    last: int = 0
    paired: int = 0
    prunes: int = 0
    above: int = 0
    tokens: float = 0
    paid: float = 0
    whole_tokens: float = 0
    whole_paid: float = 0
    seconds: float = 0


def replay(chat: Chat, prune: Pruner, zone: int, sums: Sums) -> None:
    """One run under one strategy."""
    calls = calls_in(chat)
    order = [call["id"] for message in chat for call in message.get("tool_calls", ())]
    users = [number for number, message in enumerate(chat) if message["role"] == "user"]
    current: Chat = []
    before: Chat = []
    whole_before: Chat = []
    gone, task, last, paired = set[str](), True, True, True
    sums.runs += 1
    for number, message in enumerate(chat):
        if message["role"] != "assistant":
            current.append(message)
            continue
        if size(current) > zone:
            there = {one["tool_call_id"] for one in current if one["role"] == "tool" and stands(one, chat)}
            begun = time.process_time()
            current = prune(current, zone)
            sums.seconds += time.process_time() - begun
            sums.prunes += 1
            sums.above += size(current) > zone
            kept = {one.get("tool_call_id") for one in current if one["role"] == "tool" and stands(one, chat)}
            for id_ in there - kept - gone:
                gone.add(id_)
                sums.cleared += 1
                sums.again += fetched_again(id_, calls, order, done=sum(one["role"] == "tool" for one in chat[:number]))
            sent = "\n".join(text_of(one) for one in current)
            task &= chat[users[0]]["content"] in sent
            last &= chat[max(user for user in users if user < number)]["content"] in sent
            paired &= is_paired(current)
        sums.tokens += size(current)
        sums.paid += paid(before, current)
        sums.whole_tokens += size(chat[:number])
        sums.whole_paid += paid(whole_before, chat[:number])
        before, whole_before = list(current), chat[:number]
        current.append(message)
    sums.task, sums.last, sums.paired = sums.task + task, sums.last + last, sums.paired + paired
    sent = "\n".join(text_of(one) for one in before)
    for name, facts in facts_of(chat[: len(whole_before)], calls).items():
        if facts:
            sums.found[name].append(sum(fact in sent for fact in facts) / len(facts))


def stands(message: dict[str, Any], chat: Chat) -> bool:
    """Tells whether a result is there as it was."""
    return results_of(id(chat), chat).get(message["tool_call_id"]) == message["content"]


_RESULTS: dict[int, dict[str, str]] = {}


def results_of(key: int, chat: Chat) -> dict[str, str]:
    if key not in _RESULTS:
        _RESULTS.clear()
        _RESULTS[key] = {one["tool_call_id"]: one["content"] for one in chat if one["role"] == "tool"}
    return _RESULTS[key]


def fetched_again(id_: str, calls: dict[str, Call], order: list[str], done: int) -> bool:
    """Tells whether one of the next calls fetches what a result said, and it was not changed in between."""
    mine, changed = calls[id_], set[str]()
    for one in order[order.index(id_) + 1 : done + NEXT_CALLS]:
        later = calls[one]
        if order.index(one) >= done and (later.key == mine.key or (later.reads & mine.reads) - changed):
            return not (mine.reads & changed)
        changed |= later.changes
    return False


def is_paired(chat: Chat) -> bool:
    """Tells whether each call has its result right behind it, and each result its call."""
    waiting = set[str]()
    for message in chat:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return False
            waiting.discard(message["tool_call_id"])
        elif waiting:
            return False
        else:
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
    return not waiting


def paid(before: Chat, now: Chat) -> float:
    """Price of a request: the messages it begins with as the one before did are read from the cache."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return READ * size(now[:same]) + WRITTEN * size(now[same:])


def facts_of(chat: Chat, calls: dict[str, Call]) -> dict[str, set[str]]:
    """What a run has to remember: files changed, errors shown, decisions made."""
    said = [message["content"] or "" for message in chat if message["role"] == "assistant"]
    shown = [message["content"] for message in chat if message["role"] == "tool"]
    known = {message["tool_call_id"] for message in chat if message["role"] == "tool"}
    return {
        "files": {path for id_, call in calls.items() if id_ in known for path in call.changes},
        "errors": {found.strip() for text in shown for found in _ERROR.findall(text)},
        "decisions": {one.strip() for text in said for one in _SENTENCE.findall(text) if _DECIDES.search(one)},
    }


# --- strategies ------------------------------------------------------------------------------------------------------


def ours(strategy: str, **values: Any) -> Pruner:
    """A strategy of secateur with values of `[conversation_prune]`."""

    def prune(chat: Chat, zone: int) -> Chat:
        wanted = {f"conversation_prune.{key}": value for key, value in {**values, "safe_zone_tokens": zone}.items()}
        settings = with_values(Settings(), wanted)
        if strategy == "tool-results":
            return AgenticConversationPruner(settings).prune_conversations(chat)
        return ConversationPruner(settings).prune_conversations(chat, strategy)

    return prune


def oldest_out(chat: Chat, zone: int) -> Chat:
    """Plain truncation: what the user said first, and as many of the last messages as fit."""
    head = [message for message in chat if message["role"] == "system"]
    rest = [message for message in chat if message["role"] != "system"]
    while rest and (size(head) + size(rest) > zone or rest[0]["role"] == "tool"):
        rest.pop(0)
    return head + rest


class Piped:
    """The pruner of another project, in its own Python."""

    def __init__(self, name: str, python: str) -> None:
        words = [python, str(Path(__file__).with_name("peer_pruners.py")), name]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, chat: Chat, zone: int) -> Chat:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"messages": chat, "zone": zone}) + "\n")
        self._process.stdin.flush()
        return list(json.loads(self._process.stdout.readline()))


def strategies(peers: list[str]) -> Iterator[tuple[str, Pruner]]:
    for strategy in ("tool-results", "staged", "summarize", "hybrid", "truncate"):
        yield f"`{strategy}`", ours(strategy)
        for cut_to in (0.7, 0.5, 0.3):
            yield f"`{strategy}` to {cut_to:.0%}", ours(strategy, cut_to=cut_to)
        recommended = {"cut_to": 0.3, "keep_first": True, "keep_errors": 3, "keep_last": 3}
        yield f"`{strategy}`, as `recommended` cuts", ours(strategy, **recommended)
    yield "the oldest messages out", oldest_out
    for peer in peers:
        name, _, python = peer.partition("=")
        yield name, Piped(name, python)


def row(name: str, sums: Sums) -> list[str]:
    kept = {key: sum(shares) / len(shares) if shares else 0.0 for key, shares in sums.found.items()}
    return [
        name,
        f"{sums.again / sums.cleared:.1%} of {sums.cleared:,}" if sums.cleared else "none gone",
        *(f"{kept.get(key, 0):.2f}" for key in ("files", "errors", "decisions")),
        *(f"{one / sums.runs:.0%}" for one in (sums.task, sums.last, sums.paired)),
        f"{sums.prunes / sums.runs:.1f}",
        f"{sums.above / sums.prunes:.0%}" if sums.prunes else "",
        f"{sums.tokens / sums.whole_tokens:.2f}",
        f"{sums.paid / sums.whole_paid:.2f}",
    ]


HEAD = "strategy", "read again", "files", "errors", "decisions", "task", "last word", "paired"
TAIL = "prunes", "above", "tokens", "paid"


def chosen(folder: Path, sample: int, seed: int, zone: int) -> list[Chat]:
    """Runs above the zone, as many of each source as there are, at most `sample`."""
    sources: dict[str, list[Chat]] = defaultdict(list)
    for path in sorted(folder.glob("*.json")):
        chat = json.loads(path.read_text(encoding="utf-8"))
        if size(chat) > zone * 1.2 and any(message["role"] == "user" for message in chat):
            sources[path.name.partition("-")[0]].append(chat)
    out = []
    for name, chats in sources.items():
        drawn = random.Random(seed).sample(chats, min(sample, len(chats)))
        print(f"{name}: {len(drawn)} of {len(chats)} runs above the zone", file=sys.stderr)
        out += drawn
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--zone", type=int, default=30_000)
    parser.add_argument("--sample", type=int, default=60, help="runs of a source")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--only", default="", help="strategies whose name has this")
    options = parser.parse_args()
    chats = chosen(options.runs, options.sample, options.seed, options.zone)
    calls = [sum(message["role"] == "tool" for message in chat) for chat in chats]
    print(f"{len(chats)} runs, {min(calls)} to {max(calls)} calls, zone {options.zone:,} tokens\n", flush=True)
    rows = []
    for name, prune in strategies(options.peer):
        if options.only not in name:
            continue
        sums, begun = Sums(), time.perf_counter()
        for chat in chats:
            replay(chat, prune, options.zone, sums)
        rows.append(row(name, sums))
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    print(table([*HEAD, *TAIL], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
