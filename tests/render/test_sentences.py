"""Sentences of reasons: one for every code, whatever figures an entry has."""

import json
from string import Formatter

import pytest
from secateur.model import Entry, Reason, State
from secateur.render.sentences import SENTENCES, sentence
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
        (Reason.OLDEST_RESULT, {"over": 1}, ": 1 token was still too many when its turn came"),
        (Reason.OLDEST_RESULT, {"over": 1200}, ": 1,200 tokens were still too many when its turn came"),
        (Reason.SOME_LINES, {"shown": 0, "lines": 1}, "room for 0 of 1 line"),
        (Reason.REPEATS_EARLIER, {"lines": 1, "repeats": 1, "like": 7}, "it is like line 7 (numbers aside)"),
        (Reason.REPEATS_EARLIER, {"lines": 3, "repeats": 3, "like_dropped": 7}, ", which is dropped too"),
        (Reason.REPEATS_EARLIER, {"lines": 3, "repeats": 3, "dropped": 1}, "; 1 of these is dropped too"),
        (Reason.REPEATED, {"later_cut": 18}, "messages[18] says the same, and is not whole either"),
    ],
)
def test_one_and_several_have_their_words(reason, figures, words):
    assert sentence(Entry("x", State.DROPPED, reason, 1, 0, figures)).endswith(words)
