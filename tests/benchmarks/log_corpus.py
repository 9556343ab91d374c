"""The logs that pruning is measured on, each with a question and the block of lines that answers it.

Logs of tools that ran are read from `real.jsonl.xz`, the others are written from templates and a seed. Both stand in
`data/logs`, whose README says how they were made.
"""

from __future__ import annotations

import json
import lzma
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from secateur.tokens import get_counter

DATA = Path(__file__).parent / "data" / "logs"
STAMP = re.compile(
    r"^[\[(]?(?:(?:[IWEF]?\d{4}[-/]?\d\d[-/]?\d\d|\d\d[./]\d\d[./]\d{2,4}|[IWEF]\d{4}|[A-Z][a-z]{2} +\d+)[T ])?"
    r"\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d{4}| UTC)?[\])]? ?(?:0\d[OE][ +]?)?"
)
"""A time at the start of a line, mostly with a date, with the stream that GitLab adds."""
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
MARKS = {"▶": "block", "◆": "errors"}
MONDAY = datetime(2024, 3, 4, 9, 14, 22)
THINGS = re.findall(r"\w+", "cart order invoice refund coupon shipment address customer payment ledger stock price tax")
ACTS = re.findall(
    r"\w+",
    "adds_items removes_items rounds_half_even splits_evenly merges_duplicates rejects_empty keeps_order "
    "survives_retry shows_error_page logs_failure_reason reports_no_errors expires_after_ttl",
)


@dataclass(frozen=True, slots=True)
class Log:
    """A log and what must leave of it."""

    name: str
    tool: str
    text: str
    question: str
    block: tuple[tuple[str, ...], ...]
    """The lines that answer the question; of each inner tuple any text will do."""
    errors: tuple[str, ...]
    """All distinct errors, where the log has several."""
    real: bool
    green: bool
    query_only: bool
    """Whether nothing but the question tells that the block matters."""


def read_logs(held_out: bool) -> list[Log]:
    """Read the open or the held-out logs, in the order of their names."""
    folder = DATA / "held_out" if held_out else DATA
    with lzma.open(folder / "real.jsonl.xz", "rt", encoding="utf-8") as lines:
        logs = [build_log(json.loads(line), real=True) for line in lines]
    templates = tomllib.loads((folder / ("held_out.toml" if held_out else "open.toml")).read_text("utf-8"))["log"]
    logs += [build_log(write_synthetic(template), real=False) for template in templates]
    return sorted(logs, key=lambda log: log.name)


def build_log(record: Mapping[str, Any], real: bool) -> Log:
    """Build a log from its record and wrap it as a CI service would."""
    failed = not record.get("green", False)
    text = record["text"] if "wrap" not in record else "".join(wrap(record["text"], record["wrap"], failed))
    return Log(
        record["name"],
        record["tool"],
        text,
        record["question"],
        tuple(tuple(texts) for texts in record["block"]),
        tuple(record.get("errors", ())),
        real,
        not failed,
        record.get("query_only", False),
    )


def write_synthetic(template: Mapping[str, Any]) -> dict[str, Any]:
    """Write the text of a template and gather its gold lines."""
    writer = _Writer(template)
    count = template["lines"]
    planted: dict[int, list[str]] = {}
    for share, text in template.get("at", ()):
        planted.setdefault(int(share * count), []).append(text)
    writer.write(template.get("head", ""))
    for index in range(count):
        for text in planted.get(index, ()):
            writer.write(text)
        writer.write(writer.pick(template["routine"]), index)
    writer.write(template.get("tail", ""))
    block = [*writer.gold["block"], *((piece,) for piece in template.get("pieces", ()))]
    errors = [texts[0] for texts in writer.gold["errors"]]
    return {**template, "text": "\n".join(writer.lines) + "\n", "block": block, "errors": errors}


class _Writer:
    """Writes lines of a template; only `Random.random` is used, whose numbers no version of Python changes."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        self.random = Random(template["name"]).random
        self.clock = template.get("clock", "%H:%M:%S")
        self.time = MONDAY
        self.lines: list[str] = []
        self.gold: dict[str, list[tuple[str, ...]]] = {"block": [], "errors": []}

    def pick(self, values: list[str]) -> str:
        return values[int(self.random() * len(values))]

    def write(self, text: str, index: int = 0) -> None:
        for line in text.strip("\n").split("\n") if text else ():
            kinds = [MARKS[mark] for mark in line[:2] if mark in MARKS]
            line = line[len(kinds) :]
            self.lines.append(re.sub(r"\{(\w+)(?::([^{}]+))?\}", lambda match: self.fill(match, index), line))
            for kind in kinds:  # without the time, which a product may leave out
                self.gold[kind].append((line.rsplit("{t}", 1)[-1].lstrip("]: \t").rstrip(),))

    def fill(self, match: re.Match[str], index: int) -> str:
        kind, argument = match[1], match[2] or ""
        if kind == "t":
            self.time += timedelta(milliseconds=int(self.random() * 2000))
            stamp = self.time.strftime(self.clock)
            return stamp.replace(f"{self.time:%f}", f"{self.time:%f}"[:3]) if "%f" in self.clock else stamp
        if kind == "n":
            low, high = map(int, argument.split("-"))
            return str(low + int(self.random() * (high - low + 1)))
        if kind == "hex":
            return "".join(self.pick(list("0123456789abcdef")) for _ in range(int(argument)))
        if kind == "ip":
            return ".".join(str(int(self.random() * 250) + 2) for _ in range(4))
        if kind == "pad":
            fields = int(argument) // 13
            return "".join(f'"f{field:03}":{int(self.random() * 90000) + 10000},' for field in range(fields))
        if kind == "pick":
            return self.pick(argument.split(","))
        words = {"thing": THINGS, "act": ACTS}.get(kind.lower())
        if kind == "i" or words is None:
            return str(index) if kind == "i" else match[0]
        word = self.pick(words)
        return word if kind.islower() else word.title().replace("_", "")


def wrap(text: str, service: str, failed: bool) -> Iterator[str]:
    """Prefix the lines as GitHub Actions (gha) or GitLab (gitlab) does."""
    if service == "gha":
        head = ["##[group]Run make test", "make test", "shell: /usr/bin/bash -e {0}", "##[endgroup]"]
        tail = ["##[error]Process completed with exit code 1."] if failed and "##[error]" not in text else []
    else:
        head = ["Running with gitlab-runner 16.9.0", "section_start:1709543662:step_script", "$ make test"]
        tail = ["section_end:1709543901:step_script", "ERROR: Job failed: exit code 1" if failed else "Job succeeded"]
    random, time = Random(service).random, MONDAY
    for line in [*head, *text.rstrip("\n").split("\n"), *tail]:
        time += timedelta(microseconds=int(random() * 90_000))
        yield (
            f"{time:%Y-%m-%dT%H:%M:%S.%f}" + (f"{int(random() * 10)}Z " if service == "gha" else "Z 01O ") + line + "\n"
        )


def normalize(line: str) -> str:
    """The line without colours, without times at its start and with single spaces."""
    line = ANSI.sub("", line).strip()
    for _ in range(2):  # the service's and the tool's
        line = STAMP.sub("", line).lstrip()
    return " ".join(line.split())


def holds(lines: list[str], gold: str) -> bool:
    """Whether a normalized line holds the text; a short text must end a line."""
    gold = normalize(gold)
    if len(gold) < 16:
        return any(line == gold or line.endswith(" " + gold) for line in lines)
    return any(gold in line for line in lines)


def check(log: Log) -> list[str]:
    """List what is wrong with a log or its gold; a block takes at most half of the allowance at 8 %."""
    counter = get_counter("o200k_base")
    tokens, lines = counter.count(log.text), [normalize(line) for line in log.text.split("\n")]
    faults = [f"gold is not in the log: {texts}" for texts in log.block if not any(holds(lines, t) for t in texts)]
    faults += [f"error is not in the log: {text}" for text in log.errors if not holds(lines, text)]
    size = sum(max(counter.count(text) + 1 for text in texts) for texts in log.block)
    if not log.block or size > 0.04 * tokens:
        faults.append(f"the block has {size} of {tokens} tokens")
    if tokens < 4000:
        faults.append(f"only {tokens} tokens")
    return faults
