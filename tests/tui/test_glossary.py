"""Every word that stands on the screen is explained."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
import secateur.errors
from inspector_kit import search_answer
from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.kinds import registry
from secateur.kinds.knobs import Steer
from secateur.ledger import Sums
from secateur.model import Channel, Reason, State
from secateur.settings import PROFILES, Settings, key_of, with_profile
from secateur_tui.app import page_of
from secateur_tui.glossary import (
    BUDGET,
    COLUMNS,
    MARKS,
    SECTIONS,
    SIGNS,
    TERMS,
    draw_entry,
    draw_words,
    glossary_sections,
)
from secateur_tui.pages.search import SearchPage
from secateur_tui.styled_text import describe_error, plain, width
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture, draw_headline
from secateur_tui.widgets.candidates import TITLES, draw_why
from secateur_tui.widgets.item_pages import draw_error
from secateur_tui.widgets.knob_panel import SIGNALS
from support.engine_answers import answered
from support.repos import SHOP, write


def test_every_word_of_the_headline_has_an_entry() -> None:
    sums = dict.fromkeys(State, Sums(1, 20, 10))
    told = ""
    for budget in (50, 5000):
        frame = BudgetFrame.of(budget, [(0, 90, State.KEPT)], 10)
        picture = BudgetPicture((frame,), sums, further=("reserve 5", "fewest 2", "3 chunks"))
        told += plain(draw_headline(picture, picture, 400))
    words = set(re.findall(r"[a-z]+", told)) - {"of"}
    assert words <= {*BUDGET, "chunks"}, words - {*BUDGET}
    together = BudgetPicture((BudgetFrame.of(50, [(0, 90, State.KEPT)], -10),), {State.KEPT: Sums(1, 90, 90)})
    (said,) = re.findall(r"\d+ ([a-z]+ together)", plain(draw_headline(together, None, 400)))
    assert said in BUDGET
    assert {state.label for state in State} <= BUDGET.keys()


def test_every_signal_and_every_knob_has_an_entry() -> None:
    assert SIGNALS.keys() <= TERMS.keys()
    for kind in registry.kinds().values():
        words = dict(glossary_sections(kind.knobs)).get("Knobs", {})
        assert all(words[knob.label] == key_of(knob.key).doc for knob in kind.knobs)


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("kind", [kind.name for kind in registry.kinds().values()])
def test_every_knob_of_a_bench_has_an_entry_also_those_that_are_shown_on_demand(kind: str, profile: str) -> None:
    page = SearchPage(cast("Any", None), "orders") if kind == "search" else page_of(registry.get_kind(kind))
    knobs = page.all_knobs_of(with_profile(Settings(), profile))
    assert {"profile", "counter"} <= {knob.label for knob in knobs}
    words = dict(glossary_sections(knobs))["Knobs"]
    assert [knob.label for knob in knobs if key_of(knob.key).doc not in words[knob.label]] == []


def test_every_mark_before_a_name_has_an_entry() -> None:
    assert {*SIGNS.values(), "!", *(state.glyph for state in State)} == MARKS.keys()
    assert SIGNS.keys() == set(Steer) and len(set(SIGNS.values())) == len(Steer)


def test_the_glossary_keeps_to_its_width() -> None:
    for _, section in glossary_sections(registry.get_kind("search").knobs):
        assert all(width(drawn) <= 60 for word, text in section.items() for drawn in draw_entry(word, text, "", 60))
    words = draw_words(["gap", "no such word", "hotspot"], 60)
    assert [plain(drawn).split()[0] for drawn in words if plain(drawn)[1] != " "] == ["gap", "hotspot"]
    assert all(text.strip() for section in SECTIONS.values() for text in section.values())


PRINTED = re.compile(r"\b([a-z_]+(?: rank)?) \d+\.\d")
"""A term of a report or a page, with its figure."""

TITLES_LINE = re.compile(r"^ +budget +(tokens .*)$", re.MULTILINE)


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_every_term_that_a_report_or_a_page_prints_has_an_entry(profile: str, tmp_path: Path) -> None:
    known = {word for section in SECTIONS.values() for word in section}
    settings = with_profile(Settings(budget=200), profile)
    with Engine.open(write(tmp_path / "shop", SHOP), settings, cache_dir=tmp_path / "cache") as engine:
        selection = engine.search("where is the refund total rounded?")
        report = answered(engine, "where is the refund total rounded?", "text", explain=True).text
        answer = search_answer(selection, settings, engine)
        pages = [plain(line) for row in range(len(selection)) for line in draw_why(answer, row, 200)]
    printed = set(PRINTED.findall("\n".join([report, *pages])))
    (titles,) = TITLES_LINE.findall(report)
    words = printed - {"to", "is", "of"} - {knob.key.rpartition(".")[2] for knob in registry.get_kind("search").knobs}
    assert "lexical" in words and words <= known, words - known
    assert {*titles.split()} <= known


def test_every_reason_has_an_entry() -> None:
    known = {word for section in SECTIONS.values() for word in section}
    assert {reason.label.replace("_", " ") for reason in Reason} <= known
    assert not any(re.search("[{}]", text) for section in SECTIONS.values() for text in section.values())


def test_no_error_shows_its_code() -> None:
    errors = [error for error in vars(secateur.errors).values() if isinstance(error, type)]
    kinds = [error for error in errors if issubclass(error, SecateurError)]
    assert len(kinds) > 3
    for kind in kinds:
        error = kind("there is no folder here", hint="name another one")
        drawn = "\n".join(plain(line) for line in draw_error(error, 80)) + describe_error(error)
        assert error.code not in drawn and "name another one" in drawn


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_every_part_term_and_channel_of_an_answer_has_an_entry(profile: str, tmp_path: Path) -> None:
    known = {word for section in SECTIONS.values() for word in section}
    settings = with_profile(Settings(), profile)
    with Engine.open(write(tmp_path / "shop", SHOP), settings, cache_dir=tmp_path / "cache") as engine:
        selection = engine.search("where is the refund total rounded?")
    parts = {part for columns in selection.pool.parts.values() for part in columns}
    words = {*parts, *selection.terms, *(channel.name.lower() for channel in Channel), selection.strategy}
    assert words <= known, words - known
    assert set(TITLES) <= {*known} and set(TITLES.values()) <= COLUMNS.keys()


def test_the_glossary_says_no_word_that_nothing_draws() -> None:
    """A word that stands in no other module of the screen, the kinds or the model is on no screen."""
    root = Path(secateur.errors.__file__).parents[2]
    files = [*(root / "core/secateur").rglob("*.py"), *(root / "tui/secateur_tui").rglob("*.py")]
    drawn = "\n".join(file.read_text("utf-8").replace("_", " ") for file in files if file.name != "glossary.py")
    words = {word for title in ("Budget", "Columns", "Terms", "Pages", "Window") for word in SECTIONS[title]}
    assert [word for word in sorted(words) if word not in drawn.casefold() and word not in drawn] == []
