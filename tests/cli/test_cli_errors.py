"""Wrong calls and failures: a message, a hint, an exit code, and nothing in them that a terminal would obey or that is
secret."""

from __future__ import annotations

import argparse
import json
import sys

import pytest
from secateur.cli.common import run_guarded
from secateur.cli.main import main
from secateur.cli.parsing import whole_number
from secateur.errors import BudgetExceeded, ConfigError, SecateurError, UsageError

HOSTILE = "a\x1b]0;title\x07b\nc\u202ed\udcff"


def options(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"debug": False, "format": "text", "quiet": False} | given)


def raising(error: BaseException):
    def run(_: argparse.Namespace) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SecateurError("failed"), 1),
        (UsageError("wrong"), 2),
        (ConfigError("wrong"), 2),
        (BudgetExceeded("too much"), 3),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("odd"), 1),
        (RecursionError("deep"), 1),
    ],
)
def test_every_failure_has_its_exit_code_and_no_traceback(capsys, error, code):
    assert run_guarded(raising(error), options()) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert err.startswith(("error: ", "interrupted"))
    assert run_guarded(lambda _: 0, options()) == 0


def test_ctrl_c_is_json_too_where_json_is_asked_for(capsys):
    assert run_guarded(raising(KeyboardInterrupt()), options(format="json")) == 130
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == "INTERRUPTED"
    assert err.startswith("interrupted")


def test_debug_shows_what_happened():
    with pytest.raises(ZeroDivisionError):
        run_guarded(raising(ZeroDivisionError()), options(debug=True))
    with pytest.raises(UsageError):
        run_guarded(raising(UsageError("wrong")), options(debug=True))


def test_what_nobody_thought_of_is_named_and_asked_to_be_reported(capsys):
    run_guarded(raising(ZeroDivisionError("odd")), options())
    assert (
        capsys.readouterr().err
        == "error: unexpected ZeroDivisionError: odd\nhint: run again with --debug and report what it prints\n"
    )


def test_json_carries_the_error_on_stdout(capsys):
    assert run_guarded(raising(BudgetExceeded("too much", hint="raise it")), options(format="json")) == 3
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "error": {"code": "AI_CONTEXT_BUDGET_EXCEEDED", "message": "too much", "hint": "raise it"}
    }
    assert err == "error: too much\nhint: raise it\n"


@pytest.mark.parametrize("form", ["text", "json"])
def test_text_from_outside_moves_no_cursor(capsys, form):
    run_guarded(raising(SecateurError(HOSTILE, hint=HOSTILE)), options(format=form))
    main([HOSTILE, "--format", form])
    main(["search", "x", f"--{HOSTILE}", HOSTILE, "--format", form])
    main(["search", "x", "--budget", HOSTILE, "--format", form])
    shown = "".join(capsys.readouterr())
    assert not set(shown) & set("\x1b\x07\u202e\udcff")
    assert "\nc" not in shown


@pytest.mark.parametrize(
    "text", ["api_key=sk-1234", "API-KEY = sk-1234", "--token=sk-1234 is unknown", "password=sk-1234"]
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_not_repeated(capsys, text, form):
    run_guarded(raising(SecateurError(text)), options(format=form))
    main(["search", "x", ".", text, "--format", form])
    shown = "".join(capsys.readouterr())
    assert "sk-1234" not in shown
    assert "***" in shown


def test_a_setting_whose_name_holds_the_word_is_no_secret(capsys):
    run_guarded(raising(SecateurError("graph_rag.token_budget = 3 is not allowed; tokens.counter=x")), options())
    assert "token_budget = 3 is not allowed; tokens.counter=x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["serch", "x"], "there is no command serch", "did you mean search? see secateur --help"),
        (
            ["search", "x", "--budgt=5"],
            "secateur search has no flag --budgt",
            "did you mean --budget? see secateur search --help",
        ),
        (
            ["search", "x", "--top_k", "5"],
            "secateur search has no flag --top_k",
            "did you mean --top-k? see secateur search --help",
        ),
        # abbreviations are no flags: they would change meaning with new ones
        (
            ["index", "--worker", "2"],
            "secateur index has no flag --worker",
            "did you mean --workers? see secateur index --help",
        ),
        (
            ["conversation", "x.json", "--budget", "5"],
            "secateur conversation has no flag --budget",
            "did you mean --safe-zone? see secateur conversation --help",
        ),
        (["search", "x", "--stop"], "secateur search has no flag --stop", "see secateur search --help"),
        (["search", "x", "-b", "5"], "secateur search has no flag -b", "see secateur search --help"),
        (
            ["search", "what", "is", "this"],
            "secateur search takes no further argument: 'this'",
            "put words that belong together in quotes; see secateur search --help",
        ),
        (["--quiet", "search", "x"], "secateur has no flag --quiet", "see secateur --help"),
        (
            ["search", "x", "--format", "markdwn"],
            "--format markdwn is not allowed",
            "did you mean markdown? --format takes one of text, json, markdown, xml",
        ),
        (
            ["search", "x", "--format", "jsn"],
            "--format jsn is not allowed",
            "did you mean json? --format takes one of text, json, markdown, xml",
        ),
        (["search", "x", "--budget"], "--budget: expected one argument", "see secateur search --help"),
        (["search", "x", "--budget", "-5"], "--budget -5 is not allowed", "--budget takes an integer of at least 0"),
        (["search", "x", "--budget="], "--budget '' is not allowed", "--budget takes an integer of at least 0"),
        (["search"], "the following arguments are required: QUERY", "see secateur search --help"),
        (["--quiet"], "secateur has no flag --quiet", "see secateur --help"),
        (["--"], "name a command", "see secateur --help"),
        (["\x1b[31m"], "there is no command ␛[31m", "see secateur --help"),
    ],
)
def test_a_wrong_call_is_two_and_two_lines(capsys, arguments, message, hint):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {message}\nhint: {hint}\n")


@pytest.mark.parametrize("flag", [["--format", "json"], ["--format=json"]])
def test_the_calls_own_arguments_say_whether_json_is_wanted(capsys, monkeypatch, flag):
    """Not those of the process: `main` can be called with others."""
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert main(["search", "x", "--nonsense", *flag]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == "USAGE"
    assert "--nonsense" in err


def test_a_budget_of_any_length_is_a_number(capsys):
    for text in ("9" * 400, "0", "007"):
        assert whole_number("--n", 0)(text) == int(text)
    for text in ("9" * 5000, "1e3", "0x10", "", "-1", "½"):
        with pytest.raises(UsageError, match="is not allowed"):
            whole_number("--n", 0)(text)
    assert main(["config", "--set", "budget=" + "9" * 400]) == 0
    assert "9" * 400 not in capsys.readouterr().out  # of this run only, no setting of a file


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, '"' * 3, "nan", "{a=1}"])
def test_a_value_nobody_would_write_is_an_error_that_names_the_key(capsys, value):
    assert main(["config", "--set", f"graph_rag.max_depth={value}"]) == 2
    err = capsys.readouterr().err
    assert "graph_rag.max_depth" in err
    assert "from 1 to 4" in err
    assert len(err) < 1000
