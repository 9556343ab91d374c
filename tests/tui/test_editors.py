"""The command that opens an item in the user's editor at its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.errors import UsageError
from secateur_tui.parts.editors import build_editor_command

FILE = Path("/r/a b/it's.py")


@pytest.mark.parametrize(
    ("editor", "words", "takes_terminal"),
    [
        ("vi", ("vi", "+12", str(FILE)), True),
        ("/usr/bin/nvim -p", ("/usr/bin/nvim", "-p", "+12", str(FILE)), True),
        ("gvim", ("gvim", "+12", str(FILE)), False),
        ("nano", ("nano", "+12", str(FILE)), True),
        ("emacs -nw", ("emacs", "-nw", "+12", str(FILE)), True),
        ("emacsclient -n", ("emacsclient", "-n", "+12", str(FILE)), False),
        ("emacsclient -t", ("emacsclient", "-t", "+12", str(FILE)), True),
        ("hx", ("hx", f"{FILE}:12"), True),
        ("code --wait", ("code", "--wait", "--goto", f"{FILE}:12"), False),
        ("'/Applications/My Code/code' -n", ("/Applications/My Code/code", "-n", "--goto", f"{FILE}:12"), False),
        ("subl", ("subl", f"{FILE}:12"), False),
        ("kate", ("kate", "--line", "12", str(FILE)), False),
        ("my-editor --fast", ("my-editor", "--fast", str(FILE)), True),
    ],
)
def test_each_editor_is_given_the_line_as_it_takes_it(editor, words, takes_terminal):
    command = build_editor_command({"EDITOR": editor}, FILE, 12)
    assert (command.words, command.takes_terminal) == (words, takes_terminal)


def test_visual_comes_before_editor_and_an_empty_one_does_not_count():
    assert build_editor_command({"VISUAL": "hx", "EDITOR": "vi"}, FILE, 1).words[0] == "hx"
    assert build_editor_command({"VISUAL": " ", "EDITOR": "vi"}, FILE, 1).words[0] == "vi"


@pytest.mark.parametrize("environ", [{}, {"EDITOR": ""}, {"EDITOR": "'"}, {"EDITOR": "vi\0x"}, {"EDITOR": "''\\"}])
def test_no_editor_or_one_that_cannot_be_read_is_said_with_what_to_do(environ):
    with pytest.raises(UsageError) as caught:
        build_editor_command(environ, FILE, 1)
    assert "export EDITOR" in caught.value.hint


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1), st.integers(-5, 10**9))
def test_a_hostile_name_stays_one_word_and_no_flag(name, line):
    path = Path("/r") / name.lstrip("/")
    for editor in ("vi", "code", "hx", "kate", "other"):
        words = build_editor_command({"EDITOR": editor}, path, line).words
        (own,) = [word for word in words if str(path) in word]
        assert own.startswith("/") and len(words) <= 4
