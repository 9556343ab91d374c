"""What pruning costs an agent that sends its whole history with every request: published runs, request by request.

    PYTHONPATH=tests python tests/benchmarks/live_replays.py --runs DIR [--zone 30000] [--sample 60] [--seed 1]
        [--peer langchain=PYTHON ...] [--only TEXT]
    PYTHONPATH=tests python tests/benchmarks/live_replays.py --runs DIR --speed
    PYTHONPATH=tests python tests/benchmarks/live_replays.py --runs DIR --bill [--overhead 20000] [--source unseen]
    PYTHONPATH=tests python tests/benchmarks/live_replays.py --random 300

Runs come from `agent_runs.py`, and are chosen as by `agent_replays.py`. Before every request a pruner gets the messages
so far, as the agent has them, and what it returns is sent: frameworks, filters and proxies call like this. "carried"
calls it the other way: it gets what the request before had sent, and the messages since.

Columns, over all runs:

- paid: price of what was sent with a prompt cache (a token read from the cache .1, one written 1.25), as a share of the
  same runs without pruning; *most* is that of the most expensive run, *dearer* the runs above 1.
- breaks: requests that do not begin with all that the request before sent.
- above: requests of more tokens than the zone.
- read again: of the tool results that were taken out, those that the agent fetched within its next 24 calls.
- errors, decisions: of the error messages that the agent was shown, and the sentences in which it decided, the share
  that stands in the last request.
- first, last: runs in which the first and the latest thing the user said stand in every request.
- paired: runs in which every request has each call with its result.
- ms: processor time of a request, mean.

`--bill` takes all runs of a source of more than 72,000 tokens, and prints the tokens that are billed, read from the
cache and written, and their prices (PRICES), with a system prompt and tools of so many tokens in every request. Before
that, a bound: the price of a pruner that goes whole up to the zone, and then keeps the first and the last words of the
user and the last three results with their calls, and has to read nothing again for that.

`--random` folds histories made at random, with and without 20,000 tokens of overhead, and prints the most that the
requests up to any of them cost, as a share of not pruning.

`--speed` joins runs to histories of 200,000 tokens, and times a step with two more messages, and a step from nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_replays import (
    COUNTER,
    READ,
    WRITTEN,
    Chat,
    Piped,
    call_of,
    calls_in,
    chosen,
    facts_of,
    fetched_again,
    is_paired,
    ours,
    paid,
    results_of,
    size,
    stands,
    text_of,
)
from measuring import table
from secateur import Fold
from secateur.settings import Settings, with_values
from secateur_agents import Live, Store
from secateur_agents.command_output import MOST_TOKENS, RunningOutput

Sender = Callable[[Chat, int], Chat]
"""Returns what is sent in place of a history, under a zone."""

KEPT_RESULTS = 3
"""Results that Anthropic's context editing keeps by default."""

WRITTEN_CHARS = 200
"""Characters that stay of what a call wrote."""

ERROR_TURNS = 4
"""Turns after which opencode's plugin removes the inputs of calls that failed, by default."""


@dataclass
class Sums:
    """What a pruner did over the runs."""

    shares: list[float] = field(default_factory=list)
    paid: float = 0
    whole: float = 0
    requests: int = 0
    breaks: int = 0
    above: int = 0
    cleared: int = 0
    again: int = 0
    errors: list[float] = field(default_factory=list)
    decisions: list[float] = field(default_factory=list)
    first: int = 0
    last: int = 0
    paired: int = 0
    seconds: float = 0


def replay(chat: Chat, send: Sender, zone: int, carried: bool, sums: Sums) -> None:
    """One run under one pruner."""
    calls = calls_in(chat)
    order = [call["id"] for message in chat for call in message.get("tool_calls", ())]
    users = [number for number, message in enumerate(chat) if message["role"] == "user"]
    before, before_whole, until, gone = Chat(), Chat(), 0, set[str]()
    cost = whole_cost = 0.0
    first = last = paired = True
    for number in (number for number, message in enumerate(chat) if message["role"] == "assistant" and number):
        history = chat[:number]
        given = [*before, *chat[until:number]] if carried else history
        begun = time.process_time()
        sent = send(given, zone)
        sums.seconds += time.process_time() - begun
        cost, whole_cost = cost + paid(before, sent), whole_cost + paid(before_whole, history)
        sums.requests += 1
        sums.breaks += sent[: len(before)] != before
        sums.above += size(sent) > zone
        there = {one["tool_call_id"] for one in sent if one["role"] == "tool" and stands(one, chat)}
        done = sum(one["role"] == "tool" for one in history)
        for id_ in sorted({one["tool_call_id"] for one in history if one["role"] == "tool"} - there - gone):
            gone.add(id_)
            sums.cleared += 1
            sums.again += fetched_again(id_, calls, order, done=done)
        text = "\n".join(text_of(one) for one in sent)
        if spoken := [user for user in users if user < number]:
            first &= chat[spoken[0]]["content"] in text
            last &= chat[spoken[-1]]["content"] in text
        paired &= is_paired(sent)
        before, before_whole, until = list(sent), history, number
    sums.shares.append(cost / whole_cost)
    sums.paid, sums.whole = sums.paid + cost, sums.whole + whole_cost
    sums.first, sums.last, sums.paired = sums.first + first, sums.last + last, sums.paired + paired
    facts, text = facts_of(before_whole, calls), "\n".join(text_of(one) for one in before)
    for name, kept in (("errors", sums.errors), ("decisions", sums.decisions)):
        if facts[name]:
            kept.append(sum(fact in text for fact in facts[name]) / len(facts[name]))


# --- pruners ----------------------------------------------------------------------------------------------------------


def live(zone: int, store: Store | None, **values: object) -> Sender:
    """`Live` as it is installed, but for the zone."""
    wanted = {f"conversation_prune.{key}": value for key, value in {**values, "safe_zone_tokens": zone}.items()}
    pruner = Live(with_values(Settings(profile="recommended"), wanted), store)
    return lambda history, _zone: pruner.step(history).messages


def cleaned(send: Sender, store: Store, most: int) -> Sender:
    """Shortens outputs of commands as they enter the conversation, as `secateur run` does."""
    shortened: dict[tuple[str, str], str] = {}

    def shorten(output: str, question: str) -> str:
        key = output, question
        if key not in shortened:
            running = RunningOutput(Settings(), most)
            passed = running.take(output.encode("utf-8", "replace")).decode("utf-8", "replace")
            pruned = running.prune(question, store)
            shortened[key] = passed + pruned.text if pruned else output
        return shortened[key]

    def enter(history: Chat) -> Chat:
        commands, question, out = set[str](), "", Chat()
        for message in history:
            if message["role"] == "user":
                question = message["content"][:2_000]
            for call in message.get("tool_calls", ()):
                if '"command"' in call["function"]["arguments"]:
                    commands.add(call["id"])
            if message["role"] == "tool" and message["tool_call_id"] in commands:
                message = {**message, "content": shorten(message["content"], question)}
            out.append(message)
        return out

    return lambda history, zone: send(enter(history), zone)


def without_written(send: Sender) -> Sender:
    """Clears what calls wrote into files as they enter the conversation, but for their first characters. This is not
    built: it shows what that would save. `Live` clears these inputs with a cut."""

    def short(call: dict[str, Any]) -> dict[str, Any]:
        arguments = call["function"]["arguments"]
        if not call_of(call).changes or len(arguments) <= WRITTEN_CHARS:
            return call
        given = json.loads(arguments)
        cut = {
            key: f"{value[:WRITTEN_CHARS]}… [{len(value):,} characters, written]"
            if isinstance(value, str) and len(value) > WRITTEN_CHARS
            else value
            for key, value in given.items()
        }
        return {**call, "function": {**call["function"], "arguments": json.dumps(cut)}}

    def enter(history: Chat) -> Chat:
        return [
            {**message, "tool_calls": list(map(short, message["tool_calls"]))} if message.get("tool_calls") else message
            for message in history
        ]

    return lambda history, zone: send(enter(history), zone)


def only_above(prune: Sender) -> Sender:
    return lambda history, zone: prune(history, zone) if size(history) > zone else history


def anthropic_rule(history: Chat, zone: int) -> Chat:
    """Anthropic's `clear_tool_uses`, from its documentation: above the trigger all results but the last three are
    replaced by a placeholder; inputs of calls stay."""
    results = [number for number, message in enumerate(history) if message["role"] == "tool"]
    cleared = set(results[:-KEPT_RESULTS]) if size(history) > zone else set()
    return [
        {**message, "content": "[cleared to save context]"} if number in cleared else message
        for number, message in enumerate(history)
    ]


def opencode_rule(history: Chat, zone: int) -> Chat:  # noqa: ARG001 - it prunes at any size
    """The rules of opencode's plugin for dynamic context pruning that ask no model, from its documentation: of equal
    calls only the last keeps its result, and inputs of calls that failed go after four turns."""
    said = {call["id"]: call["function"] for message in history for call in message.get("tool_calls", ())}
    latest = {json.dumps(function): id_ for id_, function in said.items()}
    users = [number for number, message in enumerate(history) if message["role"] == "user"]
    old = users[-ERROR_TURNS] if len(users) >= ERROR_TURNS else 0
    failed = {
        message["tool_call_id"]
        for message in history[:old]
        if message["role"] == "tool" and message["content"].startswith(("Error", "<tool_use_error>"))
    }
    out = Chat()
    for message in history:
        if message["role"] == "tool" and latest[json.dumps(said[message["tool_call_id"]])] != message["tool_call_id"]:
            message = {**message, "content": "[Output removed to save context - same call made again later]"}
        elif any(call["id"] in failed for call in message.get("tool_calls", ())):
            cut = {"arguments": json.dumps({"input": "[removed]"})}
            kept = [
                {**call, "function": {**call["function"], **cut}} if call["id"] in failed else call
                for call in message["tool_calls"]
            ]
            message = {**message, "tool_calls": kept}
        out.append(message)
    return out


def pruners(zone: int, store: Store, peers: Sequence[str]) -> Iterator[tuple[str, Sender, bool]]:
    """Name, pruner, and whether it is carried."""
    yield "`Live` with a store", live(zone, store), False
    for most in (4_000, MOST_TOKENS, 500):
        entering = cleaned(live(zone, store), store, most)
        yield f"outputs above {most:,} tokens cleaned, then `Live`", entering, False
        yield (
            f"outputs above {most:,} tokens and inputs of writes cleaned, then `Live`",
            without_written(entering),
            False,
        )
    yield "`Live` without a store", live(zone, None), False
    recommended = {"cut_to": 0.3, "keep_first": True, "keep_errors": 3, "keep_last": 3}
    whole = [("`staged`, as `recommended` cuts", ours("staged", **recommended))]
    whole += [("`tool-results`", ours("tool-results"))]
    whole += [("Anthropic's `clear_tool_uses`", anthropic_rule), ("opencode DCP", opencode_rule)]
    whole += [(name, Piped(name, python)) for name, _, python in (peer.partition("=") for peer in peers)]
    for name, prune in whole:
        yield name, only_above(prune), False
        yield f"{name}, carried", only_above(prune), True


def row(name: str, sums: Sums, runs: int) -> list[str]:
    return [
        name,
        f"{sums.paid / sums.whole:.2f}",
        f"{max(sums.shares):.2f}",
        f"{sum(share > 1 for share in sums.shares)}",
        f"{sums.breaks / sums.requests:.1%}",
        f"{sums.above / sums.requests:.1%}",
        f"{sums.again / sums.cleared:.1%} of {sums.cleared:,}" if sums.cleared else "none gone",
        *(f"{statistics.mean(kept):.2f}" if kept else "" for kept in (sums.errors, sums.decisions)),
        *(f"{one / runs:.0%}" for one in (sums.first, sums.last, sums.paired)),
        f"{1000 * sums.seconds / sums.requests:.1f}",
    ]


HEAD = "pruner", "paid", "most", "dearer", "breaks", "above", "read again", "errors", "decisions"
TAIL = "first", "last", "paired", "ms"


# --- speed ------------------------------------------------------------------------------------------------------------


def speed(folder: Path, tokens: int = 200_000) -> list[list[str]]:
    """Milliseconds of steps on histories of so many tokens, made of runs in the order of their names."""
    history, rows = Chat(), list[list[str]]()
    for path in sorted(folder.glob("*.json")):
        for message in json.loads(path.read_text(encoding="utf-8")):
            history.append(message)
            if size(history[-1:]) and size(history) >= tokens:
                break
        if size(history) >= tokens:
            break
    for zone in (30_000, 100_000, 150_000):
        for name in ("no store", "a store"):
            with tempfile.TemporaryDirectory() as place:
                store = Store.at(place) if name == "a store" else None
                settings = with_values(Settings(profile="recommended"), {"conversation_prune.safe_zone_tokens": zone})
                nothing, following = list[float](), list[float]()
                for _ in range(3):
                    pruner = Live(settings, store)
                    begun = time.process_time()
                    pruner.step(history[:-40])
                    nothing.append(time.process_time() - begun)
                    for end in range(len(history) - 38, len(history) + 1, 2):
                        begun = time.process_time()
                        pruner.step(history[:end])
                        following.append(time.process_time() - begun)
                rows.append(
                    [
                        f"{zone:,}, {name}",
                        f"{1000 * statistics.median(nothing):.0f}",
                        f"{1000 * statistics.median(following):.1f}",
                        f"{1000 * max(following):.1f}",
                    ]
                )
    return rows


# --- bills ------------------------------------------------------------------------------------------------------------

ZONES = 30_000, 60_000, 100_000

PRICES = {"Anthropic": (0.1, 1.25), "Opus 5.5": (0.05, 1.25), "GPT-5": (0.1, 1), "GPT-4.1": (0.25, 1)}
"""Prices of a token read from the cache and of another one, as shares of an input token."""

Bill = list[tuple[int, int, bool]]
"""Of each request: tokens read from the cache, other tokens, and whether it is above the zone without waiting."""


def recommended(zone: int) -> Settings:
    values = {"conversation_prune.safe_zone_tokens": zone, "tokens.counter": "estimate"}
    return with_values(Settings(profile="recommended"), values)


def ends_of(chat: Chat) -> list[int]:
    """The numbers of messages that the requests send, as `Fold` takes them."""
    ends = [at for at in range(1, len(chat)) if chat[at]["role"] == "assistant" != chat[at - 1]["role"]]
    return [*ends, len(chat)]


def bills_of_live(chat: Chat, zone: int, overhead: int) -> tuple[Bill, Bill, int]:
    """Without pruning, with `Live`, and the requests that waited."""
    before, whole, pruned, waiting = Fold(), Bill(), Bill(), 0
    for fold in Fold().extend_to(chat, recommended(zone), overhead=overhead, recalls=True, counter=COUNTER):
        whole.append((before.whole, fold.whole - before.whole, False))
        cached = fold.cached_tokens(before)
        above = fold.tokens + overhead > zone and not fold.waiting
        pruned.append((cached, fold.tokens - cached, above))
        waiting += fold.waiting
        before = fold
    return whole, pruned, waiting


def bill_of_rule(chat: Chat, zone: int, overhead: int) -> Bill:
    """With Anthropic's rule for clearing results, which LangChain's edit has too."""
    before, out = Chat(), Bill()
    for number in ends_of(chat):
        sent = only_above(anthropic_rule)(chat[:number], zone - overhead)
        same = next(
            (at for at, (one, other) in enumerate(zip(before, sent, strict=False)) if one != other), len(before)
        )
        cached = size(sent[:same])
        out.append((cached, size(sent) - cached, size(sent) + overhead > zone))
        before = sent
    return out


def bill_of_bound(chat: Chat, zone: int, overhead: int) -> Bill:
    begin = window = 0
    out = Bill()
    first = next((number for number, one in enumerate(chat) if one["role"] == "user"), 0)
    for end in ends_of(chat):
        added = size(chat[begin:end])
        window += added
        if window + overhead > zone:
            results = [number for number in range(end) if chat[number]["role"] == "tool"][-KEPT_RESULTS:]
            users = [number for number in range(end) if chat[number]["role"] == "user"]
            calls = [at for at in range(min([*results, begin]), end) if chat[at]["role"] == "assistant"]
            stays = {first, *users[-1:], *results, *calls, *range(begin, end)}
            window = min(window, size([chat[number] for number in stays]))
        out.append((window - added, added, False))
        begin = end
    return out


def bill(chats: Sequence[Chat], overhead: int) -> list[list[str]]:
    bills: dict[str, list[Bill]] = {"without pruning": []}
    waits: dict[str, int] = {}
    for chat in chats:
        for zone in ZONES:
            whole, pruned, waiting = bills_of_live(chat, zone, overhead)
            if zone == ZONES[0]:
                bills["without pruning"].append(whole)
            name = f"`Live`, {zone:,}"
            bills.setdefault(name, []).append(pruned)
            waits[name] = waits.get(name, 0) + waiting
            bills.setdefault(f"Anthropic's rule, {zone:,}", []).append(bill_of_rule(chat, zone, overhead))
            bills.setdefault(f"bound, {zone:,}", []).append(bill_of_bound(chat, zone, overhead))
    rows, without = [], dict[tuple[float, float], list[float]]()
    for name, runs in sorted(bills.items(), key=lambda item: (item[0][0] != "w", item[0][0] != "`")):
        requests = sum(map(len, runs))
        sums = [
            (sum(one[0] for one in run) + overhead * (len(run) - 1), sum(one[1] for one in run) + overhead)
            for run in runs
        ]
        read, other = (sum(one[at] for one in sums) for at in (0, 1))
        shares = []
        for at_read, at_other in PRICES.values():
            priced = [(at_read * read_ + at_other * other_) for read_, other_ in sums]
            unpruned = without.setdefault((at_read, at_other), priced)  # the first row is that without pruning
            most = max(one / whole for one, whole in zip(priced, unpruned, strict=True))
            shares.append(f"{sum(priced) / 1e6:.2f} ({sum(priced) / sum(unpruned):.3f}, most {most:.2f})")
        breaks = sum(now[0] < sum(then[:2]) for run in runs for then, now in itertools.pairwise(run))
        above = sum(one[2] for run in runs for one in run)
        rows.append(
            [
                name,
                f"{read / 1e6:.1f}",
                f"{other / 1e6:.1f}",
                *shares,
                f"{breaks / requests:.1%}",
                f"{above / requests:.1%}",
                f"{waits.get(name, 0) / requests:.1%}",
            ]
        )
    return rows


BILL_HEAD = "million tokens", "read", "other", *PRICES, "breaks", "above", "waiting"


# --- random histories -------------------------------------------------------------------------------------------------


def random_history(seed: int) -> Chat:
    """Turns of a user with steps of parallel calls: sizes from a word to 30,000, of a few habits a history."""
    dice = random.Random(seed)
    habits = [10 ** dice.uniform(0, 4.5) for _ in range(dice.randint(1, 3))]
    chat = Chat()
    for turn in range(dice.randint(1, 12)):
        chat.append({"role": "user", "content": f"Task {turn}." + " now" * int(10 ** dice.uniform(0, 3.5))})
        for step in range(dice.randint(0, 25)):
            ids = [f"{turn}-{step}-{call}" for call in range(dice.choice((1, 1, 1, 2, 5)))]
            calls = [
                {"id": id_, "type": "function", "function": {"name": dice.choice(("read", "run")), "arguments": "{}"}}
                for id_ in ids
            ]
            chat.append({"role": "assistant", "content": "I look." * dice.randint(0, 60), "tool_calls": calls})
            for id_ in ids:
                words = int(dice.choice(habits) * dice.uniform(0.3, 1.5))
                chat.append({"role": "tool", "tool_call_id": id_, "content": f"{id_}" + " abc" * words})
        chat.append({"role": "assistant", "content": "Done."})
    return chat


def random_rows(count: int) -> list[list[str]]:
    rows = []
    for zone in ZONES:
        for overhead in (0, 20_000):
            ends, worst, pruned = 0, (0.0, 0, 0), 0
            for seed in range(count):
                history, number, extra = random_history(seed), 0, 0.0
                for fold in Fold().extend_to(
                    history, recommended(zone), overhead=overhead, recalls=True, model="gemini-2.5-pro"
                ):
                    extra += overhead * (READ if number else WRITTEN)
                    number, ends = number + 1, ends + 1
                    worst = max(worst, ((fold.paid + extra) / (fold.unpruned + extra), seed, number))
                pruned += fold.tokens < fold.whole
            rows.append([f"{zone:,}", f"{overhead:,}", f"{ends:,}", f"{pruned}", f"{worst[0]:.4f}", f"{worst[1:]}"])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--zone", type=int, default=30_000)
    parser.add_argument("--sample", type=int, default=60, help="runs of a source")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--only", default="", help="pruners whose name has this")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--bill", action="store_true")
    parser.add_argument("--overhead", type=int, default=0)
    parser.add_argument("--source", default="unseen", help="the beginning of the names of the runs that are billed")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    options = parser.parse_args()
    if options.random:
        print(
            table(["zone", "overhead", "requests", "pruned", "most paid", "seed, request"], random_rows(options.random))
        )
        return 0
    if options.runs is None:
        parser.error("--runs is missing")
    if options.bill:
        paths = sorted(options.runs.glob(f"{options.source}*.json"))
        chats = [chat for path in paths if size(chat := json.loads(path.read_text(encoding="utf-8"))) > 72_000]
        print(f"{len(chats)} runs, overhead {options.overhead:,} tokens\n")
        print(table(list(BILL_HEAD), bill(chats, options.overhead)))
        return 0
    if options.speed:
        print(table(["zone", "from nothing, ms", "next messages, ms", "with a cut, ms"], speed(options.runs)))
        return 0
    chats = chosen(options.runs, options.sample, options.seed, options.zone)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name, send, carried in pruners(options.zone, Store.at(place), options.peer):
            if options.only not in name:
                continue
            sums, begun = Sums(), time.perf_counter()
            for chat in chats:
                results_of(id(chat), chat)
                replay(chat, send, options.zone, carried, sums)
            rows.append(row(name, sums, len(chats)))
            print(f"{time.perf_counter() - begun:.0f} s: {' | '.join(rows[-1])}", file=sys.stderr, flush=True)
    print(f"{len(chats)} runs, {sums.requests:,} requests, zone {options.zone:,} tokens\n")
    print(table([*HEAD, *TAIL], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
