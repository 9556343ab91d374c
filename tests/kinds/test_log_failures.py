"""What goes out of logs as tools print them: what failed first, with what belongs to it, and nothing rewritten."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from secateur.kinds.base import Environment
from secateur.kinds.log.failures import find_blocks
from secateur.kinds.log.kind import LogKind
from secateur.kinds.log.levels import RESULT
from secateur.kinds.log.selection import LogText, select_lines
from secateur.model import Reason, State
from secateur.render.page import sentence
from secateur.settings import Settings
from secateur.settings.keys import replace_values
from secateur.tokens import get_counter
from support.logs import LOGS, Tallying, among, pruned, verbatim

TELLING = {
    "pytest": ("E       assert 3.3000000000000003 == 3.3", "E           shop.orders.EmptyOrder: an order has one line"),
    "jest": ("    Expected: 3.3", "    Received: 3.3000000000000003"),
    "cargo": ("error[E0308]: mismatched types", "31 |     self.lines.len()"),
    "make": ("cart.c:40:12: error: 'struct cart' has no member", "cart.c:44:9: error: too few arguments"),
    "maven": ("java.lang.IllegalStateException: no order 17", "Caused by: java.io.IOException: connection reset"),
    "go": ("    cart_test.go:31: refund() = 3, want 4", "panic: runtime error: index out of range"),
    "npm": ("npm ERR! ERESOLVE unable to resolve dependency tree",),
    "actions": ("2026-05-01T12:00:04.1234567Z ##[error]The bucket shop-eu", "2026-05-01T12:00:08.1234567Z PermissionE"),
}


TOOLS = {
    name: text.split("\n")
    for name, _, text in (
        part.rstrip("\n").partition("\n")
        for part in (Path(__file__).parent / "tool_logs.txt").read_text("utf-8").split("=== ")[1:]
    )
}
"""The output of a tool where something fails; the lines that say it begin with »."""


UNCAUGHT = {
    name: text
    for name, _, text in (
        part.rstrip("\n").partition("\n")
        for part in (Path(__file__).parent / "uncaught_errors.txt").read_text("utf-8").split("=== ")[1:]
    )
}
"""What a language or a tool prints of an error that nothing catches."""


@pytest.mark.parametrize("name", UNCAUGHT)
def test_an_uncaught_error_is_one_block(name: str) -> None:
    error = UNCAUGHT[name].split("\n")
    log = ["reading the cart", *error, "writing the cart", "  indented", *error]
    first, again = find_blocks(log, lambda *_: None).blocks
    assert (first.start, first.end) == (1, 1 + len(error)) and first.grade != RESULT
    assert (again.start, again.end, again.repeats) == (len(error) + 3, len(log), 1)


def test_a_place_before_code_is_not_what_an_error_says() -> None:
    log = ["reading the cart", *UNCAUGHT["node"].split("\n")]
    (block,) = find_blocks(log, lambda *_: None).blocks
    assert (block.start, log[block.telling[0]]) == (1, "TypeError: no order 17")


@pytest.mark.parametrize("name", TOOLS)
def test_the_lines_that_say_what_failed_go_out_first(tmp_path: Path, name: str) -> None:
    log = among("\n".join(line.removeprefix("»") for line in TOOLS[name]))
    lines = verbatim(pruned(tmp_path, log, 320))
    assert [line for line in TOOLS[name] if line[:1] == "»" and line[1:] not in lines] == []


@pytest.mark.parametrize("name", LOGS)
def test_the_errors_go_out_of_a_long_log(tmp_path: Path, name: str) -> None:
    outcome = pruned(tmp_path, among(LOGS[name]), 600)
    lines = verbatim(outcome)
    for telling in TELLING[name]:
        assert any(line.startswith(telling) for line in lines), telling
    assert outcome.ledger.after <= 600
    remaining = iter(among(LOGS[name]).split("\n"))
    assert all(line in remaining for line in lines)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("pytest", "_________________________________ test_refund __________________________________"),
        ("jest", "FAIL src/cart.test.js"),
        ("cargo", "error[E0308]: mismatched types"),
        ("make", "cart.c: In function 'total':"),
        ("go", "    cart_test.go:31: refund() = 3, want 4"),
        ("npm", "npm ERR! code ERESOLVE"),
    ],
)
def test_the_first_failure_is_told_with_what_stands_above_it(tmp_path: Path, name: str, first: str) -> None:
    selection = pruned(tmp_path, among(LOGS[name]), 2000).payload
    (found,) = (one for one in selection.stretches if one.reason is Reason.FIRST_FAILURE)
    assert selection.log.lines.lines[found.start] == first and found.state is State.KEPT


RUNNERS = (
    "@shop/api:test: ",
    "packages/api test: ",
    "[api] ",
    "10:02:11 api.1  | ",
    "api-5d8f: ",
    "[pod/api-5d8f/api] ",
)


@pytest.mark.parametrize("prefix", RUNNERS)
def test_the_name_before_a_line_is_no_part_of_it(tmp_path: Path, prefix: str) -> None:
    other = prefix.replace("api", "web")
    failure = [prefix + line for line in LOGS["jest"].split("\n")]
    log = [*failure, *(other + line for line in among("").split("\n"))]
    lines = verbatim(pruned(tmp_path, "\n".join(log) + "\n", 480))
    assert {prefix + telling for telling in TELLING["jest"]} <= set(lines)
    assert prefix + "      at Object.toBe (src/cart.test.js:13:25)" in lines


def test_an_error_between_lines_of_other_services_is_one_error(tmp_path: Path) -> None:
    java = ["java.lang.IllegalStateException: no order 17", "\tat org.acme.Ledger.take(Ledger.java:88)"]
    python = ["Traceback (most recent call last):", '  File "/srv/money.py", line 117, in settle', "KeyError: 'cents'"]
    errors = [line for pair in zip(python, [*java, ""], strict=True) for line in pair]
    names = ["api-1    | ", "stock-1  | "] * 3
    quiet = [f"db-1     | wrote {word} buffers" for word in among("").split()]
    log = [
        *quiet,
        *(name + line for name, line in zip(names, errors, strict=True)),
        *quiet,
        *(names[0] + line for line in python),
    ]
    outcome = pruned(tmp_path, "\n".join(log) + "\n", 300)
    lines = verbatim(outcome)
    assert {names[1] + line for line in java} <= set(lines) and {names[0] + line for line in python[1:]} <= set(lines)
    assert "… 1 later error equals the above, time and name aside …" not in outcome.payload.text
    assert outcome.payload.text.count("… the above comes 1 more time …") == 1
    (repeated,) = (entry for entry in outcome.ledger.entries if "error" in entry.figures)
    assert sentence(repeated) == f"it repeats the error of line {len(quiet) + 1:,}"
    assert LogKind().described(outcome.payload.log).endswith("2 distinct errors")


def test_what_sums_up_a_run_is_among_the_results(tmp_path: Path) -> None:
    selection = pruned(tmp_path, among(LOGS["pytest"]), 2000).payload
    results = [one for one in selection.stretches if one.reason is Reason.RUN_RESULT and one.end - one.start > 1]
    lines = selection.log.lines.lines[results[0].start : results[0].end]
    assert lines[0].startswith("=========================== short test summary") and "2 failed" in lines[-1]


def test_words_in_names_and_figures_of_none_are_no_errors(tmp_path: Path) -> None:
    harmless = """
        tests/test_x.py::test_error_message PASSED
        build finished: 0 errors, no failures
        cc -c -o error_log.o src/error/log.c -Werror
        INFO the last request failed, as it should
        ok 12 - raises an error ✓
    """
    log = among("\n".join(line.strip() for line in harmless.strip().split("\n")))
    assert not [one for one in pruned(tmp_path, log, 300).payload.log.failures.blocks if one.grade]


def test_an_error_that_comes_again_goes_out_once_with_its_number(tmp_path: Path) -> None:
    error = "12:00:0{0} ERROR cart 17: cannot refund\njava.io.IOException: reset\n\tat a.B.c(B.java:31)\nread {0}\n"
    outcome = pruned(tmp_path, among("".join(error.format(number) for number in range(5))), 300)
    assert [line for line in verbatim(outcome) if "refund" in line] == ["12:00:00 ERROR cart 17: cannot refund"]
    assert "… 4 later errors equal the above, time aside …" in outcome.payload.text
    states = [entry.state for entry in outcome.ledger.entries if entry.reason is Reason.REPEATS_EARLIER]
    assert states == [State.DROPPED] * 4
    same = pruned(tmp_path, among("ERROR cart 17: cannot refund\nread\n" * 5), 300)
    assert "… the above comes 4 more times …" in same.payload.text


@pytest.mark.parametrize(
    "error",
    [
        "src/refund.c:{}7:9: error: use of undeclared identifier 'cents'",
        "12:00:0{0} ERROR order {0}: the gateway answered 50{0}",
        "worker exited with code {}",
        '{{"level": "error", "msg": "refund refused", "order": {}}}',
    ],
)
def test_errors_that_differ_in_a_number_are_different_errors(tmp_path: Path, error: str) -> None:
    errors = [error.format(number) for number in range(1, 6)]
    outcome = pruned(tmp_path, among("\nread\n".join(errors)), 400)
    assert [line for line in errors if line not in verbatim(outcome)] == []
    assert "more time" not in outcome.payload.text


def test_of_many_errors_each_form_comes_before_another_of_the_same_form(tmp_path: Path) -> None:
    log = "".join(f"12:00:00 ERROR order {number}: the gateway refused it\nread\n" for number in range(400))
    lines = verbatim(pruned(tmp_path, log + "12:00:01 ERROR the disk is full\n" + log.replace("order", "line"), 200))
    assert "12:00:01 ERROR the disk is full" in lines and any("line 0" in line for line in lines)


def test_a_log_of_too_many_different_errors_keeps_its_result_and_says_how_many_are_not_listed(tmp_path: Path) -> None:
    forms = ["".join(letters) for letters in product("ghijklm", repeat=4)]
    errors = [f"ERROR {form}: it broke\n  error of {form}\n" for form in forms]
    outcome = pruned(tmp_path, "".join(errors) + errors[0] + errors[-1] + "=== 9 failed, 1 passed in 3.21s ===\n", 300)
    text = outcome.payload.text
    assert outcome.payload.tokens <= 300 and text.endswith("\n=== 9 failed, 1 passed in 3.21s ===\n")
    assert text.startswith(errors[0].split("\n")[0]) and "the above comes 1 more time" in text
    (said,) = (notice.message for notice in outcome.notices if notice.code == "many_errors")
    assert said.startswith("400 further distinct errors are taken as routine lines")
    assert sum(stretch.reason is Reason.REPEATS_EARLIER for stretch in outcome.payload.stretches) == 2


GREEN = {
    "pytest": "tests/test_a.py::test_b XFAIL (it failed before)\n===== 210 passed, 2 xfailed in 3.21s =====",
    "tap": "ok 1 - an error is raised\n# tests 3\n# pass 3\n# fail 0",
    "tap without a summary": "1..2\nok 1 - a\n# error: refused, as it should\nnot ok 2 - b # TODO\nok 3",
    "go": "ok  \texample.com/shop/failure\t0.012s\nok  \texample.com/shop/errors\t0.010s",
    "mocha": "    ✔ fails when the cart is empty\n\n  210 passing (2s)",
    "rspec": "  raises an error when the cart is empty\n\n120 examples, 0 failures",
    "cargo": "   Compiling failure v0.1.8\ntest result: ok. 87 passed; 0 failed; 0 ignored",
    "build": "compiled with 0 errors and 3 warnings",
    "german": "Build abgeschlossen: keine Fehler",
}


@pytest.mark.parametrize("name", GREEN)
def test_a_run_in_which_nothing_failed_has_no_first_failure(tmp_path: Path, name: str) -> None:
    outcome = pruned(tmp_path, among(GREEN[name]), 300)
    assert not [one for one in outcome.payload.stretches if one.reason is Reason.FIRST_FAILURE]


def test_tests_that_fail_with_different_names_are_different_errors(tmp_path: Path) -> None:
    log = among("\n".join(f"--- FAIL: TestCart{number} (0.0{number}s)" for number in range(3)))
    assert sum("--- FAIL" in line for line in verbatim(pruned(tmp_path, log, 300))) == 3


def test_equal_lines_in_a_row_go_out_once_and_are_counted(tmp_path: Path) -> None:
    log = "".join(f"fetching {number} of 500 at 0x{number:x}\n" for number in range(500)) + "done\n"
    outcome = pruned(tmp_path, log, 60)
    assert outcome.payload.text == "fetching 0 of 500 at 0x0\n… 499 lines like the one above, numbers aside …\ndone\n"
    assert max(entry.figures.get("repeats", 0) for entry in outcome.ledger.entries) > 400


def test_the_last_line_says_how_far_it_came(tmp_path: Path) -> None:
    epochs = [f"epoch {number} of 90 loss 0.{99 - number}" for number in range(1, 91)]
    text = pruned(tmp_path, "\n".join(epochs), 200).payload.text
    assert text == f"{epochs[0]}\n… 88 lines like the one above, numbers aside …\n{epochs[-1]}\n"
    waiting = pruned(tmp_path, "waiting for the lock\n" * 90, 60).payload.text
    assert waiting == "waiting for the lock\n… 89 lines like the one above, numbers aside …\n"


def test_lines_that_hold_words_of_the_query_come_before_other_lines(tmp_path: Path) -> None:
    log = among("ERROR it broke", before=600)
    (line,) = (line for line in log.split("\n") if line.endswith("-19c"))
    assert line not in verbatim(pruned(tmp_path, log, 120))
    outcome = pruned(tmp_path, log, 120, query="where is 19c?")
    assert line in verbatim(outcome) and "ERROR it broke" in verbatim(outcome)
    assert not [one for one in outcome.notices if one.code == "no_match"]
    assert [one.code for one in pruned(tmp_path, log, 120, query="zxqv").notices] == ["no_match"]


def test_a_long_stack_keeps_its_telling_lines_first(tmp_path: Path) -> None:
    frames = "".join(f'  File "deep{number}.py", line {number}, in call_{number}\n' for number in range(120))
    log = among(f"Traceback (most recent call last):\n{frames}ValueError: the amount is negative")
    lines = verbatim(pruned(tmp_path, log, 200))
    assert "Traceback (most recent call last):" in lines and "ValueError: the amount is negative" in lines
    assert any("deep119.py" in line for line in lines)


def test_a_log_that_fits_goes_out_whole(tmp_path: Path) -> None:
    outcome = pruned(tmp_path, LOGS["go"], 4000)
    assert outcome.payload.text == LOGS["go"]
    assert {entry.state for entry in outcome.ledger.entries} == {State.KEPT}


def test_an_error_leaves_room_for_other_errors_and_for_the_end(tmp_path: Path) -> None:
    stack = "".join(f"\tat com.acme.Layer{number}.call(Layer.java:{number})\n" for number in range(200))
    log = among(f"java.io.IOException: reset\n{stack}") + "ERROR the disk is full\nBUILD FAILED in 3s\n"
    lines = verbatim(pruned(tmp_path, log, 250))
    assert "java.io.IOException: reset" in lines and lines[-2:] == ["ERROR the disk is full", "BUILD FAILED in 3s"]


def test_a_text_that_is_too_long_after_all_is_counted_a_few_times(tmp_path: Path) -> None:
    """However many lines are taken back; one for each count took hours where the budget is large."""
    log, counter = tmp_path / "some.log", Tallying()
    log.write_text("".join("".join(word) + "\n" for word in product("ghijklmnopqrst", repeat=4)))
    settings = replace_values(Settings(), {"log": {"max_tokens": 20_000}, "tokens": {"counter": "chars4"}})
    material = LogKind().read({"path": str(log), "query": ""}, settings, Environment())
    selection = select_lines(material, settings.log.max_tokens, counter)
    assert 10_000 < selection.tokens <= 20_000
    assert sum(length > 10_000 for length in counter.lengths) < 40


def test_lines_that_answer_the_query_come_before_errors(tmp_path: Path) -> None:
    errors = "".join(f"12:00:00 ERROR order {number}: the gateway refused it\nread\n" for number in range(200))
    log = errors + "12:00:05 INFO certificate of pay.example.com ends on 2026-12-01\n" + errors
    lines = verbatim(pruned(tmp_path, log, 200, query="when does the certificate end?"))
    assert any("certificate" in line for line in lines)


def test_the_time_before_each_line_of_a_job_is_said_once(tmp_path: Path) -> None:
    for prefix in (
        "2026-05-01T12:00:{:02}.1234567Z ",
        "2026-05-01T12:00:{:02}.123456Z 00O ",
        "test\tRun\t2026-05-01T12:00:{:02}.1234567Z ",
    ):
        body = among('Traceback (most recent call last):\n  File "a.py", line 1\nValueError: 3', 30, 20)
        log = "".join(
            prefix.format(number % 60) + line + "\n" for number, line in enumerate(body.rstrip("\n").split("\n"))
        )
        outcome = pruned(tmp_path, log, 600)
        said, *lines = outcome.payload.text.rstrip("\n").split("\n")
        assert said.startswith("… the time before each line is left out: 2026-05-01T12:00:00.123456")
        assert "ValueError: 3" in lines and ("test: Run" in outcome.payload.text) == ("Run" in prefix)
        assert not any("2026-" in line for line in lines)
        assert outcome.ledger.before == sum(entry.before for entry in outcome.ledger.entries)
        small = pruned(tmp_path, log, 60)  # the note does not take the room of the first lines
        assert "ValueError: 3" in small.payload.text and "left out" not in small.payload.text
        assert "times_left_out" in [notice.code for notice in small.notices]


def test_a_question_without_blanks_between_its_words_finds_lines(tmp_path: Path) -> None:
    log = among("2026-05-01 10:00:41 [情報] 在庫の更新が完了しました")
    outcome = pruned(tmp_path, log, 200, query="在庫更新はいつ終わりましたか")
    assert any("在庫" in line for line in verbatim(outcome))
    assert "no_match" not in [notice.code for notice in outcome.notices]


def _sentences(outcome: Any) -> dict[str, str]:
    return {entry.id: sentence(entry) for entry in outcome.ledger.entries}


def test_an_error_and_a_line_that_repeat_say_what_they_repeat(tmp_path: Path) -> None:
    error = UNCAUGHT["ruby 3.4"]
    log = among(error) + f"{error}\n" + "waiting\n" * 60
    first, again = (log.index(error), log.rindex(error))
    first, again = (log.count("\n", 0, position) + 1 for position in (first, again))
    said = _sentences(pruned(tmp_path, log, 400))
    assert said[f"{again}-{again + 3}"] == f"it repeats the error of line {first}"
    assert [words for words in said.values() if f"repeat line {again + 4}" in words], said


def test_a_routine_line_says_how_many_came_before_it(tmp_path: Path) -> None:
    log = among("ERROR it broke", before=600)
    outcome = pruned(tmp_path, log, 300)
    said = [sentence(entry) for entry in outcome.ledger.entries if entry.reason is Reason.ROUTINE]
    count = len(verbatim(outcome))
    assert said and all(words.endswith(f" left then: {count} others came first") for words in said), said
    asked = _sentences(pruned(tmp_path, log, 300, query="where is 19c?"))
    assert any("do not match the query; the smallest of " in words for words in asked.values())


def test_what_routine_lines_need_is_what_the_text_grows_by(tmp_path: Path) -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    lines = [f"reading the {one} table of {two}\nwriting {two} to {one}" for one in words for two in words]
    lines[::12] = [f"ERROR no {word}" for word in words]
    outcome = pruned(tmp_path, "\n".join(lines), 1_500)
    log, counter, measured = outcome.payload.log, get_counter(), 0
    for stretch in outcome.payload.stretches:
        if stretch.figures.get("parts") != 1:
            continue
        text = LogText(log, counter)
        for other in outcome.payload.stretches:
            if other.spans:
                text.put(other.spans, text.note(other, other.spans))
        assert text.recount(always=True) == outcome.payload.tokens
        text.put([(stretch.start, stretch.end)])
        grown = text.recount(always=True) - outcome.payload.tokens
        assert abs(stretch.figures["part"] - grown) <= 1 and grown > stretch.figures["left"]
        measured += 1
    assert measured


@pytest.mark.parametrize(
    "commit",
    [
        "commit {0:040x}\nAuthor: A <a@example.com>\nDate:   Thu May 1 12:00:00 2025\n\n    Fix error in cart {0}\n\n",
        "a{0:06x} Fix error in cart {0:c}\n",
    ],
)
def test_a_log_of_commits_has_no_failure(tmp_path: Path, commit: str) -> None:
    log = "".join(commit.format(0x4E00 + number) for number in range(200))
    reasons = {entry.reason for entry in pruned(tmp_path, log, 400).ledger.entries}
    assert reasons == {Reason.FITS, Reason.LAST_LINES, Reason.ROUTINE, Reason.WRAPPER}


def test_a_line_that_only_sounds_like_an_error_is_not_called_one(tmp_path: Path) -> None:
    said = _sentences(pruned(tmp_path, among("a note about errors\nread\nwe could not sell the tea"), 300))
    assert "it is the first that sounds like a failure" in said.values()
    assert "it sounds like an error that no line before it reports" in said.values()


def test_a_row_shows_a_line_that_says_something(tmp_path: Path) -> None:
    outcome = pruned(tmp_path, "\n\n----\nreading the cart\n" + among("ERROR it broke"), 300)
    assert LogKind().describe(outcome, 0).beside == "reading the cart"


def _compiler_log() -> str:
    """A log in whose text adjacent lines take other tokens than each alone: paths below brackets, empty lines."""
    errors = "".join(
        f"/src/part{number}/node.cpp:{number}:9: error: no member named 'size{number}' (in Node)\n"
        f"   {number} | node.size{number}();\n      |      ^\n\n"
        for number in range(12)
    )
    routine = "".join(f"/usr/bin/c++ -O2 -o part{number}.o (step {number:x}/f0)\n\n" for number in range(60))
    return routine + errors + "make: *** [all] Error 2\n" + routine.replace("c++", "ar") + "gcc finished\n"


@pytest.mark.parametrize("name", ["compiler", *LOGS])
def test_no_line_is_refused_that_would_fit(tmp_path: Path, name: str) -> None:
    log = _compiler_log() if name == "compiler" else among(LOGS[name])
    for budget in range(200, 2000, 63):
        outcome = pruned(tmp_path, log, budget)
        free = budget - outcome.ledger.after
        refused = [one for one in outcome.payload.stretches if one.reason is Reason.NO_ROOM]
        assert all(one.figures["needed"] > free and one.figures["left"] >= free for one in refused), budget
        routine = any(one.reason is Reason.FITS for one in outcome.payload.stretches)
        dropped = [one for one in refused if one.block is not None and one.block.repeats is None]
        assert not (routine and dropped), budget
        for one in refused:
            lines = outcome.payload.log.lines
            marks = one.figures["needed"] - lines.after[one.end] + lines.after[one.start]
            assert one.figures["marks"] - one.figures["spared"] == marks
