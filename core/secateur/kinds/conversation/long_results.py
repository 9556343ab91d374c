"""Shortens long results of tools as they enter a conversation: JSON, tables, listings and logs, never source code.

    shorten_result(part, part.text, settings, counter)      # the text that stays; None: the result stays as it is

What decides are the call and the text alone, so that whoever folds a history shortens its results alike. JSON, tables
and listings keep the first rows, the last, those that are unlike the others, and an even choice between; of a log stays
what `secateur log` keeps.
"""

import json
import re
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import PurePosixPath
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
_DATA = frozenset((".log", ".out", ".json", ".jsonl", ".ndjson", ".csv", ".tsv"))
# Programs that print files or parts of them.
_PRINTERS = frozenset(
    "cat nl bat sed head tail less more awk grep egrep rg ag git gh diff jq xxd strings".split()  # noqa: SIM905
)
_CODE_ENDS, _CODE_SHARE = ("{", "}", ";", ",", "("), 0.3  # a share of lines that end so is source code

# A line of a file with its number, or of `grep`: it may be source code.
_OF_FILE = re.compile(r"\s{0,9}\d{1,9}[→:\-\t]|[^\s:]{1,1024}[:-]\d{1,9}[:-]|--$")
# A line of `ls -l`, or of `git log --oneline`, and not of `git blame`.
_LISTED = re.compile(r"[-dlbcps][-rwxsStT]{9}[.+@]? |[0-9a-f]{7,40} [^(\s]")

_LEAST_ROWS, _ALIKE = (
    20,
    0.8,
)  # so many lines, and this share with as many columns, or of one form, are rows
_FIRST, _LAST = 8, 3  # rows that stay at the beginning, with the heads of the columns, and at the end
_MOST_VALUES, _RARE = 8, 0.03  # a column of so few values has kinds; a row of a kind as rare as this share stays
_ODD_SHARE = 0.5  # of the rows that stay, for those that are unlike the others

# Most items of each list, and most characters of each text, of a shortened JSON; the first that fits counts.
_JSON_SIZES = (
    *((256, 4_000), (128, 2_000), (64, 1_000), (48, 600), (32, 400), (24, 300), (16, 300), (12, 200)),
    *((8, 200), (6, 120), (4, 80), (3, 60), (2, 40)),
)


def shorten_result(part: MessagePart, text: str, settings: Settings, counter: Counter) -> str | None:
    """Returns what stays of a long result.

    Args:
        part: the result, with the tool and the arguments of its call.
        text: of the result, or of the whole of which the result holds the beginning.
    """
    programs, accesses = shell_programs(part), file_accesses(part)
    if "secateur" in programs or len(text) > MOST_CHARS:
        return None
    if any(one.operation not in LOOKED or PurePosixPath(one.path).suffix not in _DATA for one in accesses):
        return None
    lines = text.splitlines()
    if text.lstrip()[:1] in ("{", "["):
        if (value := _read_json(text)) is not None:
            return _shorten_json(value, counter)
        values = [_read_json(line) for line in lines if line.strip()]
        if None not in values:
            return _shorten_json(values, counter)
    looked = [line for line in lines[:: 1 + len(lines) // 2_000] if line.strip()]
    if len(looked) < _LEAST_ROWS or any(line.startswith(("diff --git ", "@@ -")) for line in looked):
        return None
    if 2 * sum(map(is_stamped, looked)) > len(looked):
        return _shorten_log(text, settings, evident=True)
    ran = bool(programs) and _PRINTERS.isdisjoint(programs)
    if not ran and 2 * sum(map(bool, map(_OF_FILE.match, looked))) > len(looked):
        return None
    if (cells := _split_rows(lines, looked)) is not None:
        return _shorten_rows(lines, cells, counter)
    code = sum(line.rstrip().endswith(_CODE_ENDS) for line in looked) > _CODE_SHARE * len(looked)
    return _shorten_log(text, settings, evident=False) if ran and not code else None


# --- rows -------------------------------------------------------------------------------------------------------------


def _split_rows(lines: Sequence[str], looked: Sequence[str]) -> list[list[str]] | None:
    """Splits the rows of a table, or of a listing, into columns; None: the lines are not rows."""
    for separator, least in (("\t", 2), ("|", 3), (",", 3), ("  ", 2), (None, 4)):
        rows = [[cell for cell in line.split(separator) if cell.strip()] for line in lines]
        width, count = Tally(map(len, rows)).most_common(1)[0]
        if width >= least and count >= _ALIKE * len(lines):
            return rows
    paths = (not re.search(r"\S\s+\S|[,;({]$", line) and ("/" in line or "." in line) for line in looked)
    if max(sum(paths), sum(map(bool, map(_LISTED.match, looked)))) >= _ALIKE * len(looked):
        return [[line] for line in lines]
    return None


def _shorten_rows(lines: Sequence[str], cells: Sequence[Sequence[str]], counter: Counter) -> str | None:
    tokens, left = counter.count_many(line + "\n" for line in lines), KEPT_TOKENS
    kept = list[int]()
    for index in _order_rows(lines, cells):
        if tokens[index] <= left:
            kept.append(index)
            left -= tokens[index]
    note = f"[{len(kept):,} of {len(lines):,} rows: the first, the last, the unusual and an even choice]\n"
    return note + "\n".join(lines[index] for index in sorted(kept)) if len(kept) >= _FIRST else None


def _order_rows(texts: Sequence[str], cells: Sequence[Sequence[str]], most: int = 0) -> list[int]:
    """Returns the rows in the order in which they stay: the first, the last, those that report an error or are of a
    rare kind, then an even choice that grows denser. `most`: as many as may stay; 0: any."""
    size = len(texts)
    kinds: dict[int, Tally[str]] = {}
    for row in cells:
        for column, cell in enumerate(row):
            if len(known := kinds.setdefault(column, Tally())) <= _MOST_VALUES:
                known[cell.strip()] += 1

    def odd(index: int) -> bool:
        if severity_of(texts[index][:1_000]) == LIKELY:
            return True
        counts = ((kinds[column], cell.strip()) for column, cell in enumerate(cells[index]))
        return any(len(known) <= _MOST_VALUES and known[cell] <= _RARE * size for known, cell in counts)

    first, last = (min(count, 1 + most // 4) if most else count for count in (_FIRST, _LAST))
    ends = [*range(min(first, size)), *range(max(first, size - last), size)]
    unusual = list(islice(filter(odd, range(first, size - last)), int(_ODD_SHARE * (most or size)) or 1))
    even, step = list[int](), 1
    while step < size:
        step *= 2
        even += (index * size // step for index in range(1, step, 2))
    return list(dict.fromkeys((*ends, *unusual, *even)))


# --- JSON -------------------------------------------------------------------------------------------------------------


def _read_json(text: str) -> Any:
    """Reads a JSON; None: it is not one."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _shorten_json(value: Any, counter: Counter) -> str | None:
    for most, characters in _JSON_SIZES:
        with suppress(RecursionError):
            text = json.dumps(_fewer_items(value, most, characters), ensure_ascii=False, separators=(",", ":"))
            if len(text) <= 8 * KEPT_TOKENS and counter.count(text) <= KEPT_TOKENS:
                return text
    return None


def _fewer_items(value: Any, most: int, characters: int) -> Any:
    if isinstance(value, dict):
        return {key: _fewer_items(inside, most, characters) for key, inside in value.items()}
    if isinstance(value, list):
        kept, note = value, list[str]()
        if len(value) > most:
            fields = (item.items() if isinstance(item, dict) else [("", item)] for item in value)
            # not what lies deeper, which would be read again at each level
            cells = [[f"{key}={one!s:.99}" for key, one in row if not isinstance(one, dict | list)] for row in fields]
            kept = [value[index] for index in sorted(_order_rows(list(map(" ".join, cells)), cells, most)[:most])]
            note = [f"[{most:,} of {len(value):,} items: the first, the last, the unusual and an even choice]"]
        return note + [_fewer_items(item, most, characters) for item in kept]
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}… [{characters:,} of {len(value):,} characters]"
    return value


# --- logs -------------------------------------------------------------------------------------------------------------


def _shorten_log(text: str, settings: Settings, *, evident: bool) -> str | None:
    """Prunes a log. Unless it is `evident` that it is one, it has to report an error or a result, or to repeat
    itself."""
    from secateur.kinds.environment import Environment
    from secateur.kinds.log.kind import LogKind

    log, data = structs.replace(settings.log, max_tokens=KEPT_TOKENS), text.encode("utf-8", "replace")
    kind, inputs, settings = LogKind(), {"path": "-"}, structs.replace(settings, pins=(), log=log)
    material = kind.read(inputs, settings, Environment(stdin=lambda _most: data))
    if not evident and not material.failures.blocks and 2 * len(material.lines.repeats) < len(material.lines):
        return None
    return kind.decide(material, inputs, settings).payload.text.rstrip("\n") or None
