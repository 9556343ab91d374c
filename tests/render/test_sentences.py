"""Sentences of reasons: one for every code, whatever figures an entry has."""

import json
from string import Formatter

import pytest
from secateur.model import Entry, Reason, State
from secateur.render.page import SENTENCES, sentence
from support.cli import secateur


def test_every_reason_has_a_sentence():
    assert set(SENTENCES) == set(Reason)


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.label)
def test_a_sentence_tells_its_figures_and_none_that_is_not_there(reason):
    names = [name for _, name, _, _ in Formatter().parse(SENTENCES[reason]) if name]
    whole = Entry("x", State.KEPT, reason, 1, 1, dict.fromkeys(names, 1234))
    assert "{" not in sentence(whole) and all("1" in sentence(whole) for _ in names)
    bare = sentence(Entry("x", State.KEPT, reason, 1, 1))
    assert bare and "{" not in bare and bare == bare.strip(" ,:")


def test_the_command_prints_them_all():
    printed = secateur("config", "--reasons", "--format", "json").json
    assert printed == [{"reason": reason.label, "sentence": SENTENCES[reason]} for reason in Reason]
    text = secateur("config", "--reasons").out
    assert len(text.splitlines()) == len(Reason) and json.dumps(text)


@pytest.mark.parametrize(
    ("reason", "figures", "words"),
    [
        (Reason.OLDEST_RESULT, {"over": 1}, ", and 1 token still had to go"),
        (Reason.OLDEST_RESULT, {"over": 1200}, ", and 1,200 tokens still had to go"),
        (Reason.NO_ROOM, {"needed": 975, "left": 0}, "needs 975; nothing was left then"),
        (Reason.NO_ROOM, {"needed": 975, "left": 1}, "needs 975, only 1 left then"),
        (Reason.SIGNATURE, {"needed": 65, "left": 0}, "the whole needs 65; nothing was left then"),
        (
            Reason.OLDEST_RESULT,
            {"over": 2, "wrote": 1},
            "what it wrote is among the oldest, and 2 tokens still had to go",
        ),
        (
            Reason.OLDEST_RESULT,
            {"over": 2, "wrote": 1, "zone": 25_000, "target": 7_500},
            "what it wrote is among the oldest, and 2 tokens still had to go; cuts begin above"
            " 25,000 tokens and go down to 7,500 (cut_to)",
        ),
        (Reason.SOME_LINES, {"shown": 0, "lines": 1}, "room for 0 of 1 line"),
        (Reason.REPEATS_EARLIER, {"lines": 1, "repeats": 1, "like": 7}, "it is like line 7 (numbers aside)"),
        (Reason.REPEATS_EARLIER, {"lines": 3, "repeats": 3, "like_dropped": 7}, ", which is dropped too"),
        (Reason.REPEATS_EARLIER, {"lines": 3, "repeats": 3, "dropped": 1}, "; 1 of these is dropped too"),
        (Reason.REPEATS_EARLIER, {"lines": 1, "repeats": 1, "equal": 7}, "it repeats line 7"),
        (Reason.REPEATS_EARLIER, {"lines": 3, "equal_dropped": 7}, "its 3 lines repeat line 7, which is dropped too"),
        (Reason.REPEATS_EARLIER, {"lines": 11, "error": 7}, "it repeats the error of line 7"),
        (Reason.NO_ROOM, {"needed": 975, "left": 0}, "needs 975; nothing was left then"),
        (Reason.SIGNATURE, {"needed": 975, "left": 0}, "the whole needs 975; nothing was left then"),
        (
            Reason.ROUTINE,
            {"lines": 1, "away": 0, "first": 1},
            "a routine line; no room was left for it: 1 other came first",
        ),
        (
            Reason.ROUTINE,
            {"lines": 2, "away": 40},
            "2 routine lines, 40 or more from any error, match or end; no room was left for them",
        ),
        (Reason.REPEATED, {"later_cut": 18}, "messages[18] says the same, and is not whole either"),
    ],
)
def test_one_and_several_have_their_words(reason, figures, words):
    assert sentence(Entry("x", State.DROPPED, reason, 1, 0, figures)).endswith(words)
