"""Chinese questions in the English of programmers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.lexical import has_cjk, hash_of, word_terms
from secateur.retrieval.query import parsed_query
from secateur.retrieval.query_glossary import GLOSSED, glossary, weighted_translation


def glossed(text: str) -> set[str]:
    """The words that count in full: those of the glossary, whether the dictionary is installed or not."""
    return {word for word, weight in weighted_translation(text) if weight == GLOSSED}


def test_words_are_those_that_code_uses() -> None:
    assert glossed("怎样暂停一个队列") == {"pause", "queue"}
    assert glossed("事务是如何开始和回滚的") >= {"transaction", "begin", "start", "rollback"}
    assert glossed("parse the 配置文件") == {"config", "configuration", "file"}


def test_a_run_is_cut_where_the_fewest_characters_stay_alone() -> None:
    assert glossed("书签保存在哪里") == {"bookmark", "save", "store"}


def test_particles_and_question_words_say_nothing() -> None:
    assert weighted_translation("的了吗") == ()
    assert weighted_translation("如何") == ()


def test_the_glossary_has_each_word_once_and_in_letters_that_code_has() -> None:
    words = glossary()
    assert len(words) > 200
    for chinese, english in words.items():
        assert has_cjk(chinese)
        assert english
        assert len(set(english)) == len(english)
        assert all(word.isascii() and word.islower() and word_terms(word) for word in english)


def test_pairs_of_letters_count_where_they_occur_and_the_title_is_english() -> None:
    shown = {hash_of("clipboard"), hash_of("read")}
    query, notices = parsed_query("如何读取剪贴板", lambda term: 1 if term in shown else 0, "auto")
    assert not notices
    assert {word for word, _ in query.words} >= {"read", "clipboard"}
    assert not any(has_cjk(word) for word, _ in query.words)
    assert query.title == "read clipboard"
    assert query.text == "如何读取剪贴板"


@given(st.text(alphabet="书签保存在哪里如何读取剪贴板的abc ", max_size=40))
def test_any_text_is_translated_the_same_each_time_and_each_word_once(text: str) -> None:
    told = weighted_translation(text)
    assert told == weighted_translation(text)
    assert len({word for word, _ in told}) == len(told)
    assert all(0 < weight <= GLOSSED for _, weight in told)
