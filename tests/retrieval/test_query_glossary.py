"""Chinese questions in the English of programmers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.lexical import has_cjk, hash_of, word_terms
from secateur.retrieval.query import (
    TRANSLATED_WEIGHT,
    Query,
    english_words,
    glossary,
    has_chinese,
    parse_with_kind,
    to_english,
    translate,
)


def glossed(text: str) -> set[str]:
    return set(english_words(text))


def test_words_are_those_that_code_uses() -> None:
    assert glossed("怎样暂停一个队列") == {"pause", "queue"}
    assert glossed("事务是如何开始和回滚的") >= {"transaction", "begin", "start", "rollback"}
    assert glossed("parse the 配置文件") == {"config", "configuration", "file"}


def test_a_run_is_cut_where_the_fewest_characters_stay_alone() -> None:
    assert glossed("书签保存在哪里") == {"bookmark", "save", "store"}


def test_particles_and_question_words_say_nothing() -> None:
    assert translate("的了吗") == ()
    assert translate("如何") == ()


def test_a_text_is_told_in_order_with_what_is_not_chinese() -> None:
    assert to_english(translate("怎样把 Config 写入文件")) == "Config write file"


def test_the_glossary_has_each_word_once_and_in_letters_that_code_has() -> None:
    words = glossary()
    assert len(words) > 200
    for chinese, english in words.items():
        assert has_cjk(chinese)
        assert english
        assert len(set(english)) == len(english)
        assert all(word.isascii() and word.islower() and word_terms(word) for word in english)


def asked(text: str, *shown: str) -> Query:
    terms = {hash_of(word) for word in shown}
    query, notices = parse_with_kind(text, lambda term: 1 if term in terms else 0, "auto")
    assert not notices
    return query


def test_pairs_of_letters_count_where_they_occur_and_the_title_is_english() -> None:
    query = asked("如何读取剪贴板", "clipboard", "read")
    assert {word for word, _ in query.words} >= {"read", "clipboard"}
    assert not any(has_cjk(word) for word, _ in query.words)
    assert query.title == "read clipboard"
    assert query.text == "如何读取剪贴板"
    assert query.text_for_model == "如何读取剪贴板\nread clipboard"


def test_pairs_across_words_say_nothing_where_the_code_has_chinese_comments() -> None:
    query = asked("如何加载环境变量文件", "load", "加载", "载环", "如何", "变量")
    assert {word for word, _ in query.words if has_cjk(word)} == {"加载", "变量"}


def test_without_a_kind_the_words_of_the_glossary_count_half() -> None:
    query, notices = parse_with_kind("订单处理逻辑", lambda term: term == hash_of("order"), "off")
    assert dict(query.words) | {"order": TRANSLATED_WEIGHT, "process": TRANSLATED_WEIGHT} == dict(query.words)
    assert not notices
    assert parse_with_kind("订单处理逻辑", lambda _: 0, "off")[1][0].code == "no_gloss"


def test_chinese_is_told_from_other_letters() -> None:
    assert has_chinese("find 订单")
    assert not has_chinese("ordre déjà vu, かな")


def test_what_a_word_may_mean_are_synonyms() -> None:
    query = asked("查找变量", "find")
    assert {frozenset(some) for some in query.synonyms} == {
        frozenset({"find", "search", "lookup", "查找"}),
        frozenset({"variabl", "变量"}),
    }


def test_a_query_in_english_has_no_synonyms_and_one_text() -> None:
    query = asked("how is the clipboard read", "clipboard")
    assert (query.synonyms, query.translated, query.text_for_model) == ((), "", "how is the clipboard read")


@given(st.text(alphabet="书签保存在哪里如何读取剪贴板的abc ", max_size=40))
def test_any_text_is_translated_the_same_each_time(text: str) -> None:
    parts = translate(text)
    assert parts == translate(text)
    kept = "".join(part if isinstance(part, str) else part.chinese for part in parts)
    rest = iter(text)
    assert all(character in rest for character in kept)
