"""Shortens long results of tools as they enter a conversation: JSON, tables, listings and logs, never source code.

    shorten_result(part, part.text, settings, counter)      # the text that stays; "": the result stays as it is

What decides are the call and the text alone, so that whoever folds a history shortens its results alike. JSON, tables
and listings keep the first rows, the last, those that are unlike the others, and an even choice between; of a log stays
what `secateur log` keeps.
"""

import json
import re
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate, islice
from typing import Any

from msgspec import structs

from secateur.kinds.conversation.messages import MessagePart
from secateur.kinds.conversation.placeholders import LOOKED, file_accesses, shell_programs
from secateur.kinds.log.levels import LIKELY, severity_of
from secateur.kinds.log.lines import is_stamped
from secateur.settings import Settings
from secateur.tokens import Counter

KEPT_TOKENS = 1_000  # most tokens of a shortened result, beside the line that says so
MOST_CHARS = 4 << 20  # longer results stay as they are

# Files whose text is data: what reads any other file gives source code, or what somebody wrote to be read.
_DATA = ".log", ".out", ".json", ".jsonl", ".ndjson", ".csv", ".tsv"
# Programs that print files or parts of them.
_PRINTERS = frozenset(
    "cat nl bat sed head tail less more awk grep egrep rg ag git gh diff jq xxd strings".split()  # noqa: SIM905
)
_CODE_ENDS, _CODE_SHARE = ("{", "}", ";", ",", "("), 0.3  # a share of lines that end so is source code

# A line of a file with its number, or of `grep`: it may be source code.
_OF_FILE = re.compile(r"\s{0,9}\d{1,9}[→:\-\t]|[^\s:]{1,1024}[:-]\d{1,9}[:-]|--$")
# A line of `ls -l`, of `git log --oneline` and not of `git blame`, or a path.
_LISTED = re.compile(r"[-dlbcps][-rwxsStT]{9}[.+@]? |[0-9a-f]{7,40} [^(\s]|(?=\S*[/.])\S*[^\s,;({]$")

_LEAST_ROWS, _ALIKE = 20, 0.8  # so many lines, and this share with as many columns, or of a listing, are rows
_FIRST, _LAST = 8, 3  # rows that stay at the beginning, with the heads of the columns, and at the end
_MOST_VALUES, _RARE = 8, 0.03  # a column of so few values has kinds; a row of a kind as rare as this share stays
_STAY = "the first, the last, the unusual and an even choice"


def shorten_result(part: MessagePart, text: str, settings: Settings, counter: Counter) -> str:
    """Returns what stays of a long result.

    Args:
        part: the result, with the tool and the arguments of its call.
        text: of the result, or of the whole of which the result holds the beginning.
    """
    programs, lines = shell_programs(part), text.splitlines()
    if (
        len(text) > MOST_CHARS
        or "secateur" in programs
        or not all(one.operation in LOOKED and one.path.endswith(_DATA) for one in file_accesses(part))
    ):
        return ""
    for whole in (text, f"[{','.join(filter(str.strip, lines))}]") if text.lstrip()[:1] in ("{", "[") else ():
        with suppress(ValueError, RecursionError):
            texts = (
                json.dumps(_fewer_items(value, int(256 * 0.7**step)), ensure_ascii=False, separators=(",", ":"))
                for value in [json.loads(whole)]
                for step in range(14)
            )
            return next((one for one in texts if len(one) < 8 * KEPT_TOKENS and counter.count(one) <= KEPT_TOKENS), "")
    looked = [line for line in lines[:: 1 + len(lines) // 2_000] if line.strip()]
    stamped = 2 * sum(map(is_stamped, looked)) > len(looked)
    ran = bool(programs) and _PRINTERS.isdisjoint(programs)
    of_files = 2 * sum(map(bool, map(_OF_FILE.match, looked))) > len(looked) and not ran and not stamped
    if of_files or len(looked) < _LEAST_ROWS or any(line.startswith(("diff --git ", "@@ -")) for line in looked):
        return ""
    if not stamped and (cells := _split_rows(lines)):
        return _shorten_rows(lines, cells, counter)
    code = sum(line.rstrip().endswith(_CODE_ENDS) for line in looked) > _CODE_SHARE * len(looked)
    return _shorten_log(text, settings, evident=stamped) if stamped or (ran and not code) else ""


def _split_rows(lines: Sequence[str]) -> list[list[str]]:
    """Splits the rows of a table, or of a listing, into columns; []: the lines are not rows."""
    for separator, least in (("\t", 2), ("|", 3), (",", 3), ("  ", 2), (None, 4)):
        rows = [[cell.strip() for cell in line.split(separator) if cell.strip()] for line in lines]
        width, count = Tally(map(len, rows)).most_common(1)[0]
        if width >= least and count >= _ALIKE * len(lines):
            return rows
    return [[line] for line in lines] if sum(map(bool, map(_LISTED.match, lines))) >= _ALIKE * len(lines) else []


def _shorten_rows(lines: Sequence[str], cells: Sequence[Sequence[str]], counter: Counter) -> str:
    tokens = counter.count_many(line + "\n" for line in lines)
    order = _choose_rows(cells, KEPT_TOKENS * len(lines) // sum(tokens))
    used = zip(order, accumulate(tokens[index] for index in order), strict=True)
    kept = [lines[index] for index in sorted(index for index, so_far in used if so_far <= KEPT_TOKENS)]
    return "\n".join((f"[{len(kept):,} of {len(lines):,} rows: {_STAY}]", *kept)) if len(kept) >= _FIRST else ""


def _choose_rows(cells: Sequence[Sequence[str]], most: int) -> list[int]:
    """Returns up to `most` of more rows: the first, the last, those that report an error or are of a rare kind, then
    an even choice."""
    size, counts = len(cells), Tally(one for row in cells for one in enumerate(row))
    values = Tally(column for column, _ in counts)
    rare = {one for one, count in counts.items() if values[one[0]] <= _MOST_VALUES and count <= _RARE * size}
    first, last = (min(count, 1 + most // 4) for count in (_FIRST, _LAST))
    odd = (
        index
        for index in range(first, size - last)
        if not rare.isdisjoint(enumerate(cells[index])) or severity_of(" ".join(cells[index])[:1_000]) == LIKELY
    )
    chosen = [*range(first), *range(size - last, size), *islice(odd, most // 2)]
    return list(dict.fromkeys((*chosen, *range(first, size, -(-size // max(1, most - len(chosen)))))))[:most]


def _fewer_items(value: Any, most: int) -> Any:
    """Returns a JSON with so many items of each list, and 16 times as many characters of each text."""
    if isinstance(value, dict):
        return {key: _fewer_items(inside, most) for key, inside in value.items()}
    if isinstance(value, list):
        cells = [
            [
                f"{key}={one!s:.99}"
                for key, one in (item if isinstance(item, dict) else {"": item}).items()
                if not isinstance(one, dict | list)  # what lies deeper would be read again at each level
            ]
            for item in value
        ]
        kept = sorted(_choose_rows(cells, most)) if len(value) > most else range(len(value))
        note = [f"[{len(kept):,} of {len(value):,} items: {_STAY}]"] if len(kept) < len(value) else []
        return note + [_fewer_items(value[index], most) for index in kept]
    long = isinstance(value, str) and len(value) > 16 * most
    return f"{value[: 16 * most]}… [{16 * most:,} of {len(value):,} characters]" if long else value


def _shorten_log(text: str, settings: Settings, *, evident: bool) -> str:
    """Prunes a log. Unless it is `evident` that it is one, it has to report an error or a result, or to repeat
    itself."""
    from secateur.kinds.environment import Environment
    from secateur.kinds.log.kind import LogKind

    kind, inputs = LogKind(), {"path": "-"}
    settings = structs.replace(settings, pins=(), log=structs.replace(settings.log, max_tokens=KEPT_TOKENS))
    material = kind.read(inputs, settings, Environment(stdin=lambda _most: text.encode("utf-8", "replace")))
    found = evident or material.failures.blocks or 2 * len(material.lines.repeats) >= len(material.lines)
    return kind.decide(material, inputs, settings).payload.text.rstrip("\n") if found else ""
