"""A kind of context that another distribution registers has a command, JSON with its ledger, a place in the Python API
and a bench; one that cannot be used costs itself alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import secateur as public
from secateur import Reason, State, kind_places
from secateur.cli import inspect as inspect_command
from secateur.cli import kind_command
from secateur.cli.command_parser import CommandParser
from secateur.cli.main import COMMANDS
from secateur.kind_places import BUILT_IN, FLAGS_OF_ALL, FLAGS_OF_INSPECT
from secateur.kinds import registry
from secateur.settings import Settings, with_values
from support.cli import secateur
from support.credentials import MAKERS
from support.distributions import TODO
from test_docs_run import assert_prints, blocks

LIST = "[x] water the plants\n[ ] call the bank about the card\n[ ] buy bread\n[x] post the letter\n"


def test_it_has_a_command_in_every_format(todo: Path) -> None:
    ran = secateur("todo", todo, "--max-tokens", 16, "--counter", "chars4")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "tokens    24 -> 12, budget 16\n\n○ [x] water the plants\n● [ ] call the bank about the card\n"
        "● [ ] buy bread\n○ [x] post the letter\n"
    )
    assert secateur("todo", "-", "--max-tokens", 16, "--format", "markdown", stdin=LIST.encode()).out == (
        "[ ] call the bank about the card\n[ ] buy bread\n"
    )


@pytest.mark.usefixtures("todo")
def test_the_page_about_it_shows_what_it_prints() -> None:
    (block,) = (
        block for block in blocks() if block.page == "docs/inside/kind-example.md" and block.language == "console"
    )
    assert_prints(block)


def test_its_json_has_the_ledger(todo: Path) -> None:
    answer = secateur("todo", todo, "--max-tokens", 16, "--format", "json", "--counter", "chars4").json
    ledger = answer["ledger"]
    assert (ledger["kind"], ledger["budget"]) == ("todo", 16)
    assert [(entry["id"], entry["state"], entry["reason"]) for entry in ledger["entries"]] == [
        ("line 1", "dropped", "no_room"),
        ("line 2", "kept", "fits"),
        ("line 3", "kept", "fits"),
        ("line 4", "dropped", "no_room"),
        ("wrapper", "kept", "wrapper"),
    ]
    assert sum(entry["after"] for entry in ledger["entries"]) == ledger["after"]


@pytest.mark.usefixtures("todo")
def test_help_names_it() -> None:
    assert "todo" in secateur("--help").out
    shown = secateur("todo", "--help").out
    assert "--max-tokens N" in shown and "the list; - reads stdin" in shown


def test_a_wrong_call_of_it_is_said_as_of_any_command(todo: Path) -> None:
    ran = secateur("todo", todo, "--max-tokens", "many")
    assert (ran.code, ran.out) == (2, "") and "--max-tokens many is not allowed" in ran.err
    assert "is printed as" in secateur("inspect", todo, "--format", "xml").err
    assert secateur("todo", "gone.todo").code == 1


def test_inspect_without_a_terminal_knows_its_files_and_its_bench(todo: Path) -> None:
    asked = secateur("todo", todo, "--max-tokens", 500).out
    assert secateur("inspect", todo, "--budget", 500).out == asked
    assert secateur("inspect", todo, "--bench", "todo", "--budget", 500).out == asked
    assert ", todo" in secateur("inspect", todo, "--bench", "shed").err


def test_python_prunes_it(todo: Path) -> None:
    settings = with_values(Settings(), {"kinds.todo.max_tokens": 16, "tokens.counter": "chars4"})
    outcome = public.prune("todo", settings, path=str(todo))
    assert [(entry.state, entry.reason) for entry in outcome.ledger.entries][:2] == [
        (State.DROPPED, Reason.NO_ROOM),
        (State.KEPT, Reason.FITS),
    ]
    assert json.loads(public.format_outcome(outcome, "json"))["text"] == outcome.payload.text


def test_its_report_names_what_was_taken_out_and_its_answer_holds_the_warnings(todo: Path) -> None:
    todo.write_text(f"[ ] renew {MAKERS['github-token'](Random(1))}\n", "utf-8")
    Path("secateur.toml").write_text("[kinds.gone]\nfirst = 1\n", "utf-8")
    ran = secateur("todo", todo)
    assert "github-token in line 1" in ran.out and "kinds.gone" in ran.out
    warnings = secateur("todo", todo, "--format", "json").json["warnings"]
    assert any("kinds.gone" in notice["message"] for notice in warnings)


@pytest.mark.parametrize(
    ("source", "value", "said"),
    [
        ("import nothing_of_this_name\n", "broken:Kind", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("raise SystemExit(3)\n", "broken:Kind", "SystemExit: 3"),
        ("class Kind:\n    name = 'broken'\n", "broken:Kind", "it is not a secateur.Kind"),
        ("", "broken:Kind", "AttributeError"),
        (
            "from todo_kind import ToDo as Kind\n",
            "broken:Kind",
            "its name has to be broken, as it is registered",
        ),
    ],
    ids=["import", "exit", "no kind", "nothing", "name"],
)
def test_one_that_cannot_be_used_costs_itself_alone(
    todo: Path, distributions: Callable[..., None], source: str, value: str, said: str
) -> None:
    distributions("others", {"broken": source}, {"broken": value})
    ran = secateur("broken", todo)
    assert ran.code == 2 and f"the kind of context broken ({value}) cannot be used: {said}" in ran.err
    helped = secateur("--help")
    assert helped.code == 0 and "todo" in helped.out and f"warning: the kind of context broken ({value})" in helped.out
    assert secateur("todo", todo).code == 0
    opened = secateur("inspect", todo)
    assert opened.code == 0 and "[ ] buy bread" in opened.out
    (notice,) = registry.problems()
    assert notice.code == "kind_unavailable" and said in notice.message


def test_one_of_our_names_is_ours(todo: Path, distributions: Callable[..., None]) -> None:
    distributions("others", {}, {"files": "todo_kind:ToDo"})
    assert type(registry.get_kind("files")).__module__ == "secateur.kinds.files.kind"
    (notice,) = registry.problems()
    assert "files (todo_kind:ToDo) cannot be used: the name belongs to a built-in kind" in notice.message
    assert secateur("todo", todo).code == 0


def test_one_with_the_name_of_another_command_has_no_command(todo: Path, distributions: Callable[..., None]) -> None:
    distributions("others", {}, {"status": "todo_kind:ToDo"})
    assert "the name belongs to a command" in " ".join(notice.message for notice in registry.problems())
    assert "[ ] buy bread" not in secateur("status", todo.parent).out


@pytest.mark.usefixtures("todo")
def test_two_of_one_name_are_told_apart(distributions: Callable[..., None]) -> None:
    distributions("others", {"other_kind": TODO}, {"todo": "other_kind:ToDo"})
    assert type(registry.get_kind("todo")).__module__ == "other_kind"
    (notice,) = registry.problems()
    assert "todo (todo_kind:ToDo) cannot be used: the name belongs to other_kind:ToDo" in notice.message


ASKING = TODO.replace('a to-do list"\n        ),', 'a to-do list"\n        ), Input("words", "of tasks", "TEXT"),')
ASKING = ASKING.replace(
    "        counter =", '        environment.progress(inputs["words"].strip(), 0, 0)\n        counter =', 1
)


def test_an_input_that_is_not_given_is_its_default_in_every_front_end(
    todo: Path, distributions: Callable[..., None]
) -> None:
    plain = secateur("todo", todo).out
    distributions("asking", {"asking_kind": ASKING}, {"todo": "asking_kind:ToDo"})
    assert "--words TEXT" in secateur("todo", "--help").out
    assert public.format_outcome(public.prune("todo", path=str(todo)), "text")
    assert secateur("inspect", todo, "--bench", "todo").out == plain
    assert secateur("todo", todo).out == plain


PINNING = TODO.replace("ALONE,", "ALONE, PIN,").replace('come first"),\n    )', 'come first"),\n        PIN,\n    )')
PINNING = PINNING.replace(
    "key=lambda number: done", 'key=lambda number: f"line {number + 1}" not in settings.pins and 1 + (done'
)
PINNING = PINNING.replace('(rules.first == "open"))', '(rules.first == "open")))')


def test_one_that_lists_the_pin_keeps_an_entry_first(distributions: Callable[..., None], tmp_path: Path) -> None:
    distributions("todo_lists", {"todo_kind": PINNING}, {"todo": "todo_kind:ToDo"})
    path = tmp_path / "week.todo"
    path.write_text(LIST)
    words = ("todo", path, "--max-tokens", 16, "--counter", "chars4")
    pinned = secateur(*words, "--pin", "line 4", "--format", "markdown")
    assert pinned.out == "[ ] call the bank about the card\n[x] post the letter\n"
    assert "--pin 'line 4'" in secateur(*words, "--explain").out
    plain = secateur("inspect", path, "--bench", "todo", "--budget", 16, "--set", 'pins=["line 4"]', "--plain").out
    assert "--pin 'line 4'" in plain


INPUT = '"path", "the list; - reads stdin", positional=True'


@pytest.mark.parametrize(
    ("was", "instead", "said"),
    [
        *(
            (INPUT, INPUT.replace("path", name), f"its input or flag {name} has the name of one of ours")
            for name in ("format", "config", "set", "sets", "command", "help", "trust_git_dir", "bench", "budget")
        ),
        (INPUT, INPUT.replace("path", "pin"), "its input or flag pin has the name of one of ours"),
        ('flag="--first"', 'flag="--pin"', "its input or flag pin has the name of one of ours"),
        (INPUT, INPUT.replace("path", "max_tokens"), "two of its inputs and flags are called max_tokens"),
        (INPUT, INPUT.replace("path", "to do"), "an input or flag cannot be called 'to do'"),
        (INPUT, f'"list", "it", title="L"), Input({INPUT}', "its input path is not what is opened"),
        (INPUT, f'{INPUT}, metavar="A FILE"', "'A FILE' cannot stand for a value in a usage"),
        ('flag="--first"', 'flag="--format"', "its input or flag format has the name of one of ours"),
        ('flag="--first"', 'flag="--max-tokens"', "two of its inputs and flags are called max_tokens"),
        ('about="a to-do list within a number of tokens"', 'about=""', "its about is not a text"),
        ('title="To do"', "title=5", "its title is not a text"),
        (INPUT, INPUT.replace('"the list; - reads stdin"', "5"), "the help of its input path is not a text"),
        (INPUT, f"{INPUT}, metavar=None", "the metavar of its input path is not a text"),
        ('"tokens that may go out"', "b'tokens'", "the help of its flag kinds.todo.max_tokens is not a text"),
        (
            '"kinds.todo.first", "first"',
            '"kinds.todo.first", 1',
            "the label of its knob kinds.todo.first is not a text",
        ),
        ('"kinds.todo.first", "first"', '"llm.base_url", "first"', "its knob llm.base_url has no range"),
        ('"kinds.todo.first", "first"', '"kinds.todo.last", "first"', "there is no setting kinds.todo.last"),
    ],
)
def test_one_whose_inputs_or_flags_collide_costs_itself_alone(
    distributions: Callable[..., None], tmp_path: Path, was: str, instead: str, said: str
) -> None:
    assert TODO.count(was) == 1
    distributions("todo_lists", {"todo_kind": TODO.replace(was, instead)}, {"todo": "todo_kind:ToDo"})
    ran = secateur("todo", tmp_path)
    assert ran.code == 2 and f"the kind of context todo (todo_kind:ToDo) cannot be used: {said}" in ran.err
    assert said in " ".join(secateur("--help").out.split())
    assert secateur("inspect", "--help").code == 0
    assert secateur("log", "-", stdin=b"one line").out


def test_percent_signs_of_its_texts_are_shown(distributions: Callable[..., None]) -> None:
    source = TODO.replace('"a to-do list within', '"100% of a %(prog)s list %d within').replace(
        '"the list; - reads stdin"', '"50% of the %(list)s"'
    )
    source = source.replace('"tokens that may go out"', '"%s tokens, 90%"').replace(
        "positional=True, required=True", 'positional=True, required=True, title="L"), Input("more", "20% %(x)s"'
    )
    distributions("todo_lists", {"todo_kind": source}, {"todo": "todo_kind:ToDo"})
    assert "100% of a %(prog)s list %d within" in secateur("--help").out
    shown = secateur("todo", "--help")
    assert shown.code == 0 and "100% of a %(prog)s list %d within a number of tokens." in shown.out
    for said in ("50% of the %(list)s", "%s tokens, 90%", "20% %(x)s"):
        assert said in shown.out
    assert "20% %(x)s (bench todo)" in " ".join(secateur("inspect", "--help").out.split())


def test_the_names_of_flags_are_taken() -> None:
    log, inspect = CommandParser(), CommandParser()
    kind_command.arguments(registry.get_kind("log"), log)
    inspect_command.arguments(inspect)
    of_kinds = {one.name for kind in registry.kinds().values() for one in kind.inputs}
    assert {action.dest for action in log._actions} - {"path", "query", "max_tokens"} <= FLAGS_OF_ALL
    assert {action.dest for action in inspect._actions} <= FLAGS_OF_ALL | FLAGS_OF_INSPECT | of_kinds


def test_the_names_of_commands_are_taken() -> None:
    assert {*kind_places.COMMANDS, *(place.command for place in BUILT_IN)} == set(COMMANDS)
