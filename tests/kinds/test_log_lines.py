"""What a line of a log is: what a terminal shows of it, harmless, whole or honestly cut."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from secateur.errors import SecateurError
from secateur.kinds.log import kind as kind_module
from secateur.kinds.log import lines as lines_module
from secateur.kinds.log.lines import PIECE, SLICE, read_lines, split_streams, template
from secateur.kinds.run import render as render_of
from secateur.model import Reason, State
from secateur.progress import unreported
from secateur.render.page import sentence
from secateur.tokens import get_counter
from support.logs import Tallying, among, pruned, verbatim


def test_one_line_is_no_lines(tmp_path: Path) -> None:
    outcome = pruned(tmp_path, "ValueError: no such order\n", 100)
    kind = kind_module.LogKind()
    assert "1 line, 1 goes out" in render_of(kind, outcome, "text")
    assert re.fullmatch(r"1 line, \d tokens, 1 distinct error", kind.described(outcome.payload.log))


@pytest.mark.parametrize(
    ("data", "text", "codes"),
    [
        (b"one\r\ntwo\r\n", "one\ntwo\n", []),
        (b"one\rtwo\rthree", "one\ntwo\nthree\n", []),
        (b"\xef\xbb\xbfone\n", "one\n", []),
        ("\ufeffone\ntwo\n".encode("utf-16-le"), "one\ntwo\n", []),
        ("\ufeffone\n".encode("utf-16-be"), "one\n", []),
        (b"a\xffb\n", "a<FF>b\n", ["invalid_utf8"]),
        (b"nul\x00 tab\there\n", "nul␀ tab\there\n", []),
        (b"\x1b[31;1merror\x1b[0m: x\x1b]8;;http://a\x1b\\link\x1b]8;;\x07\n", "error: xlink\n", ["control_sequences"]),
        (b"\x1b \x1bstray \x9b31m\n", "␛ tray <9B>31m\n", ["invalid_utf8", "control_sequences"]),
        (b"1 %\r50 %\r100 %\r\ndone\n", "100 %\ndone\n", ["overwritten"]),
        ("bidi \u202e zero\u200b\n".encode(), "bidi <U+202E> zero<U+200B>\n", []),
        (b"no line break", "no line break\n", []),
    ],
)
def test_a_line_is_what_a_terminal_shows_made_harmless(
    tmp_path: Path, data: bytes, text: str, codes: list[str]
) -> None:
    outcome = pruned(tmp_path, data, 1000)
    assert outcome.payload.text == text
    assert [notice.code for notice in outcome.notices] == codes


@pytest.mark.parametrize(
    ("data", "budget", "code"),
    [
        (b"", 100, "empty_log"),
        (b"\n \n\n", 100, "blank_log"),
        (b"one\n", 0, "zero_budget"),
        (b"one two three four five six seven\n" * 2, 3, "budget_too_small"),
    ],
)
def test_an_empty_answer_says_which_kind_of_empty_it_is(tmp_path: Path, data: bytes, budget: int, code: str) -> None:
    outcome = pruned(tmp_path, data, budget)
    assert [notice.code for notice in outcome.notices] == [code]
    assert not outcome.payload.text.strip()


def test_a_long_line_keeps_its_beginning_and_says_how_much_is_cut(tmp_path: Path) -> None:
    outcome = pruned(tmp_path, "ERROR " + "word " * 1000 + "\nend\n", 800)
    first, cut, end, _ = outcome.payload.text.split("\n")
    assert first == ("ERROR " + "word " * 1000)[:2000] and end == "end"
    assert cut == "… the line above has 5,006 characters, 2,000 stand here …"
    entry = outcome.ledger.entries[0]
    assert (entry.state, entry.reason) == (State.SHORTENED, Reason.LONG_LINES)
    assert entry.before > 900 > 500 > entry.after


def test_what_decides_on_a_long_line_is_read_and_shown_wherever_it_stands(tmp_path: Path) -> None:
    padding = ", ".join(f'"h{number}": "vvvvvvvvvv"' for number in range(300))
    log = among(f'{{"request": {{{padding}}}, "level": "error", "msg": "the gateway refused the card", "order": 4711}}')
    outcome = pruned(tmp_path, log, 500, query="refused card 4711")
    (line,) = (line for line in verbatim(outcome) if "gateway" in line)
    assert '"level": "error"' in line and "4711" in line and len(line) <= 2000 + 3
    assert "no_match" not in [notice.code for notice in outcome.notices]
    (entry,) = (entry for entry in outcome.ledger.entries if entry.figures.get("for") == "first_failure")
    assert entry.reason is Reason.LONG_LINES
    unseen = among(padding + " and a needle " + padding)
    assert "no_match" not in [notice.code for notice in pruned(tmp_path, unseen, 300, query="needle").notices]


def test_lines_of_the_log_are_never_taken_for_marks(tmp_path: Path) -> None:
    forged = "… 12 lines …\n…… 3 lines ……\n"
    outcome = pruned(tmp_path, among(forged + "ERROR it broke"), 300)
    assert outcome.payload.log.mark == "………"
    assert "… 12 lines …" in verbatim(outcome) and "…… 3 lines ……" in verbatim(outcome)


def test_a_template_masks_what_varies_and_keeps_names() -> None:
    for one, other in [
        ("took 12.5 ms", "took 3 ms"),
        ("2026-05-01T12:00:07.123Z x", "2026-05-02T13:59:59.9Z x"),
        ("at 0x7ffd0a", "at 0x1"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174fff"),
        ("commit 1a2b3c4d5e", "commit 99aa0b1c2d3"),
        ("in /tmp/pytest-of-ci/x.py", "in /tmp/other1/x.py"),
        ("done in 1h2m", "done in 35s"),
    ]:
        assert template(one) == template(other)
    assert template("test_1 failed") != template("test_2 failed")
    assert template("cannot read a.py") != template("cannot read b.py")


def test_a_log_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind_module, "LARGEST", 100)
    with pytest.raises(SecateurError, match=r"some\.log is larger than 100 bytes") as raised:
        pruned(tmp_path, b"x" * 101, 10)
    assert raised.value.code == "TOO_LARGE"


@pytest.mark.parametrize("data", [b"one\n" * 12, b"\n" * 12, b"x\r" * 12, "\n".join("abcdefghijkl").encode("utf-16")])
def test_a_log_of_too_many_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(lines_module, "MOST_LINES", 10)
    with pytest.raises(SecateurError, match=r"the log has 1[12] lines; at most 10 are read") as raised:
        pruned(tmp_path, data, 10)
    assert raised.value.code == "TOO_LARGE"


@pytest.mark.parametrize(
    "line",
    [
        '{"name": "it\'s a", "values": [1, 22, 333], "of": {"x": null}},' * 2000,
        "aGVsbG8gd29ybGQ/" * 5000,
        "[2026-05-01] x = y; don't\tstop (a.b_c) " * 2000,
    ],
)
@pytest.mark.parametrize("counter", ["o200k_base", "cl100k_base"])
def test_a_long_line_that_is_counted_in_pieces_has_the_tokens_of_the_whole(line: str, counter: str) -> None:
    exact = get_counter(counter)
    assert len(line) > 8 * PIECE
    assert read_lines(line.encode(), exact, 100, unreported).before == [0, exact.count(line + "\n")]


def test_no_line_is_counted_in_one_piece_however_long() -> None:
    counter = Tallying()
    read_lines(b"x" * 100 * PIECE + b"\n" + bytes(range(256)) * PIECE, counter, 100, unreported)
    assert max(counter.lengths) <= PIECE + 1


def test_equal_lines_beside_one_another_are_counted_once() -> None:
    counter = Tallying()
    lines = read_lines(b"one\ntwo\n" * 4 * SLICE, counter, 100, unreported)
    assert len(counter.lengths) == 2 * 8
    assert lines.before[-1] == 8 * SLICE * counter.count("one\n")


def test_reading_says_often_how_far_it_is() -> None:
    told: list[tuple[str, int]] = []
    data = b"error: one\ntwo\n" * 5 * SLICE + b"x" * 100 * PIECE
    read_lines(data, Tallying(), 100, lambda phase, done, _: told.append((phase, done)))
    assert {done for phase, done in told if phase == "counting"} == set(range(0, 10 * SLICE + 1, SLICE))
    assert {done for phase, done in told if phase == "comparing"} == set(range(0, 10 * SLICE + 1, SLICE))


def test_a_duration_that_does_not_end_is_looked_at_once() -> None:
    """Each of its parts began a search up to its end before: hours for a line like this."""
    assert template("1.1m" * 100_000 + "x") == "#m1." * 99_999 + "#mx"


def test_lines_that_repeat_a_dropped_line_say_so(tmp_path: Path) -> None:
    routine = [f"fetched {'abcdefghijklmnopq'[number]} of the parts" for number in range(17)]
    uploads = [f"uploading part {number} of 40" for number in range(40)]
    errors = ["ERROR no such order", "ERROR no such refund", *routine, *uploads, "ERROR no such voucher"]
    for budget, words in ((60, " (numbers aside), which is dropped too"), (200, " (numbers aside)")):
        outcome = pruned(tmp_path, "\n".join(errors) + "\n", budget)
        entries = [entry for entry in outcome.ledger.entries if entry.state is State.DROPPED]
        (repeats,) = [entry for entry in entries if entry.reason is Reason.REPEATS_EARLIER]
        assert sentence(repeats).endswith(f" lines are like line 20{words}"), budget


def test_rows_of_data_go_out_evenly_chosen(tmp_path: Path) -> None:
    rows = [f"{10_000 + number},{number * number * 37 % 9973 / 100:5.2f}" for number in range(300)]
    table = "\n".join(["id,amount", *rows]) + "\n"
    outcome = pruned(tmp_path, table, 700)
    heading, *shown = verbatim(outcome)
    numbers = [rows.index(row) for row in shown]
    assert heading == "id,amount" and (numbers[0], numbers[-1]) == (0, 299) and outcome.ledger.after > 650
    assert max(after - before for before, after in pairwise(numbers)) <= -(-300 // (len(shown) - 1))
    assert outcome.payload.text.endswith(f"… {len(shown)} of 300 rows stand above, evenly chosen …\n")
    assert sentence(outcome.ledger.entries[0]) == f"room for {len(shown) + 1} of 301 lines"
    assert rows[148] in verbatim(pruned(tmp_path, table, 200, query="10148"))
    counted = [f"part {number} of 300" for number in range(300)], [f"sent {number}" for number in range(300)]
    for lines in counted:  # a counter tells nothing but how far it came
        assert len(verbatim(pruned(tmp_path, "\n".join(lines) + "\n", 700))) < 4


WORDS = ["basket", "coupon", "voucher", "refund", "order", "tea", "a-long-name-of-a-thing", "ledger", "invoice"]
MANY = [(number, WORDS[number % 9], WORDS[number * 5 % 7], number * number * 37 % 9973) for number in range(300)]
TABLES = {
    "ls -l": ("total 12", "-rw-r--r-- {4:2} root staff {3:7} Sep {4:2} 12:{4} {1}.{2}"),
    "ps aux": ("USER                     PID %CPU COMMAND", "{2:22} {3:5}  {4}.3 /usr/bin/{1} --name {2} {0}"),
    "psql": (" id  | item\n-----+-------", " {0:3} | {1} {2}, {3}"),
    "dpkg -l": ("Name                 Description\n====-=======-========", "{1:25} the {2} of number {0}"),
    "docker ps": ("NAME                      IMAGE                     AGE", "{1:25} {2:25} {3} days ago"),
    "du": ("", "{3}\t./{1}/{2}/{0}"),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_a_table_that_differ_in_words_go_out_evenly_chosen(tmp_path: Path, name: str) -> None:
    heading, form = TABLES[name]
    rows = [form.format(*cells, 10 + cells[0] % 18) for cells in MANY]
    if name == "dpkg -l":
        rows[150] = "a-name-that-is-too-wide-for-its-column the tea of number 150"
    head = heading.split("\n") if heading else []
    outcome = pruned(tmp_path, "reading\n\n" + "\n".join([*head, *rows]) + "\n\nread\n", 700)
    lines = [line for line in verbatim(outcome) if line not in ("", "reading", "read")]
    assert lines[: len(head)] == head
    numbers = [rows.index(row) for row in lines[len(head) :]]
    assert (numbers[0], numbers[-1]) == (0, 299) and len(numbers) > 10
    assert max(after - before for before, after in pairwise(numbers)) <= -(-300 // (len(numbers) - 1))
    assert f"… {len(numbers)} of 300 rows stand above, evenly chosen …\n" in outcome.payload.text


STEP, PASSED = "step  {0:3}  {2:22}  mem    {3:4}   {4:2}", " ✓ src/{2:22}.test.ts  ( {4:2} tests)   {3:4}ms"
COLUMN = 'psycopg2.errors.UndefinedColumn: column "zz" does not exist'
FAILURES = {
    "killed": ([STEP], ["Killed"], 3),
    "in the middle": ([STEP, STEP], ["ERROR step broke"], 3),
    "vitest": (
        [PASSED] * 2,
        [" ❯ src/b.test.ts  (3 tests | 1 failed)", "   × case", "     → expected 7 to be 9"],
        3,
    ),
    "mismatch": ([STEP, STEP], [" E  mismatch  want 7  got 9  at  x.c:42"], 0),
    "mismatch of tests": ([PASSED, PASSED], [" E  mismatch  want 7  got 9  at  x.c:42"], 0),
    "column": ([STEP, STEP], [COLUMN], 0),
    "column of tests": ([PASSED, PASSED], [COLUMN], 0),
    "above": ([STEP, STEP], ["  want    7   got   9", "  at step.c  line   42", "FAIL step broke"], 1),
}


@pytest.mark.parametrize("budget", [300, 1200])
@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_among_rows_goes_out_with_the_rows_above_it(tmp_path: Path, name: str, budget: int) -> None:
    forms, failure, rows_above = FAILURES[name]
    above, *below = [[form.format(*cells, cells[3] % 17) for cells in MANY] for form in forms]
    more = [row for rows in below for row in rows]
    outcome = pruned(tmp_path, "\n".join([*above, *failure, *more]) + "\n", budget)
    beside = above[len(above) - rows_above :]
    assert {*above[:1], *beside, *failure, *more[-1:]} <= {*verbatim(outcome)}
    assert "rows stand above, evenly chosen" in outcome.payload.text


def test_rows_that_end_in_blanks_are_a_table(tmp_path: Path) -> None:
    rows = [
        f"{WORDS[number % 9]:26}{number * number * 37 % 997:4}  {number * number % 11:2}  " for number in range(300)
    ]
    assert "of 300 rows stand above" in pruned(tmp_path, "\n".join(rows) + "\n", 700).payload.text


@pytest.mark.parametrize(
    "form",
    [
        "04.03.2024 09:14:{4} INFO  {1}: {2} of {0} took {3} ms",
        "{4}:10:11 worker-{4} {1} {2} took {3} ms",
        "[{4}%] Building C object {1}/{2}.o",
        "test {1}::{2}_{0} ... ok",
        "  at {1}.{2} (src/{1}.js:{3}:{4})",
        "{1} {2}",
        "tests/test_{1}.py ....................{4}%",
        '{{"level":"info","name":"{1}","item":"{2}","took":{3}}}',
    ],
)
def test_lines_that_a_running_program_prints_are_no_table(tmp_path: Path, form: str) -> None:
    lines = [form.format(*cells, 10 + cells[0] % 50) for cells in MANY]
    assert "rows stand above" not in pruned(tmp_path, "\n".join(["Starting", *lines, "Done"]) + "\n", 700).payload.text


@pytest.mark.parametrize("begin", ["2024-01-01T00:00:00.", "[", "#"])
def test_a_line_of_digits_or_blanks_is_read_in_linear_time(begin: str) -> None:
    lines = [f"{begin}{sign * 400_000}!" for sign in "1 "]
    assert split_streams(lines) == [(range(2), lines)]
