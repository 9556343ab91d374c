"""What holds of every kind of context: each input stands in the ledger once, its figures are those of a recount, its
sums are exact, and the JSON and the screen show the same ledger.

The screen is read in the rows, pages and bars that the benches draw, from the objects that they draw them of.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from secateur import Environment, Settings, count_tokens
from secateur.errors import BudgetExceeded
from secateur.kind_places import BUILT_IN
from secateur.kinds import registry
from secateur.kinds.run import answer_of
from secateur.kinds.run import render as render_of
from secateur.ledger import WRAPPER, Entry, Ledger, Reason, State, Sums
from secateur.settings import with_values
from secateur_tui.app import page_of
from secateur_tui.glossary import COLUMNS
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.short_names import lay_out_columns
from secateur_tui.state.answer import SearchAnswer, ShownAnswer
from secateur_tui.styled_text import begin_sentence, plain
from secateur_tui.widgets import candidates, item_pages
from secateur_tui.widgets.budget_bar import BudgetPicture, draw_headline, picture_of
from secateur_tui.widgets.listing import SORTED, ItemListing, draw_row
from support.kind_cases import CASES


def test_no_kind_is_left_out() -> None:
    """Search has an entry per candidate that is asked for: it has a test of its own below."""
    assert {*CASES, "search"} == {place.name for place in BUILT_IN}


CELLS = 4000
"""Cells of a screen on which nothing is cut off."""
ROW = re.compile(r"([●◐◍○]) .* (-?[\d,]+) +(·|-?[\d,]+)$")
SUM = re.compile(r"([●◐◍○]) [a-z]+ ([\d,]+) \((-?[\d,]+)(?: of (-?[\d,]+))?\)")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def is_sound(ledger: Ledger) -> None:
    """Every entry once, sums exact, and nothing goes out of what is dropped."""
    ids = [entry.id for entry in ledger.entries]
    assert len(set(ids)) == len(ids) and ids[-1] == WRAPPER
    assert ledger.before == sum(entry.before for entry in ledger.entries)
    assert ledger.after == sum(entry.after for entry in ledger.entries)
    assert [entry for entry in ledger.entries if entry.state is State.DROPPED and entry.after] == []


def titles_of(listing: ItemListing) -> set[str]:
    """The words of the titles, without the mark of the order."""
    return {title.strip() for column in listing.columns for title in column.title.split(SORTED)}


def is_on_screen(subject: KindPage[Any, Any], answer: ShownAnswer[Any]) -> None:
    """Every row has the figures of an entry, the page Why its name and reason, the bar the sums of all."""
    ledger, drawn, listing = answer.ledger, [], subject.listing_type(answer)
    layout, items = lay_out_columns(listing.columns, CELLS), list(answer.entries)[: len(answer)]
    assert titles_of(listing) <= {"", *COLUMNS}, "the glossary explains every title"
    pack = subject.pack(answer)
    assert "\n".join(pack.lines) == subject.kind.leaving(answer.outcome), "the pack is what leaves"
    assert [entry for entry in ledger.entries if entry.id != WRAPPER or entry.before or entry.after] == list(
        answer.entries
    )[: len(answer)]
    for item, entry in enumerate(items):
        row = plain(draw_row(listing, item, layout))
        if entry.after < 0:  # it says so in words, of the wrapper alone
            assert (
                entry.id == WRAPPER and f"{-entry.after:,} fewer together" in " ".join(row.split()) and "-" not in row
            )
            row += f" {entry.after:,}"
        glyph, before, after = ROW.search(row).groups()
        drawn.append((glyph, number(before), number(before) if after == "·" else number(after)))
        page = [plain(line) for line in item_pages.draw_why(answer, item, CELLS)]
        assert page[0].split()[1] == entry.state.label.upper() and entry.id in page[1]
        assert any(begin_sentence(subject.kind.describe(answer.outcome, item).because) in line for line in page)
    assert drawn == [(entry.state.glyph, entry.before, entry.after) for entry in items]
    is_in_the_bar(picture_of(answer), ledger)


def is_in_the_bar(picture: BudgetPicture, ledger: Ledger) -> None:
    """The headline has the sums of the ledger, and the segments of the bar those of its entries."""
    headline = plain(draw_headline(picture, None, CELLS))
    told = {
        glyph: (number(items), number(after), number(before or after))
        for glyph, items, after, before in SUM.findall(headline)
    }
    for state, total in ledger.sums.items():
        came = max(total.before, total.after)  # what came is not named where it is less than what leaves
        assert told.get(state.glyph, (0, 0, 0)) == (total.number, total.after, came)
    around = ledger.after - sum(after for _, after, _ in told.values())
    assert (f"wrapper {around:,}" in headline) == (around > 0)
    assert (f"{-around:,} fewer together" in headline) == (around < 0)
    left = picture.budget - ledger.after
    assert (f"free {left:,}" if left >= 0 else f"{-left:,} over") in headline
    assert sum(int(frame.tokens.sum()) + frame.around for frame in picture.frames) == picture.after == ledger.after


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=10)
@given(data=st.data())
def test_the_ledger_is_right(name: str, data: st.DataObject) -> None:
    kind, case = registry.get_kind(name), CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        told = case.draw(data, Path(folder))
        chosen = with_values(Settings(), told.changed)
        material = kind.read(told.inputs, chosen, Environment())
        try:
            outcome = answer_of(kind, material, told.inputs, chosen)
        except BudgetExceeded:
            assume(False)
    ledger, body = outcome.ledger, json.loads(render_of(kind, outcome, "json"))

    is_sound(ledger)
    ids = [entry.id for entry in ledger.entries]
    assert {part for one in ids[:-1] for part in told.parts_of(one)} == told.parts
    allowed = case.budget(int(kind.budget.value(chosen)), body)
    assert ledger.kind == name and allowed in (None, ledger.budget)
    assert (ledger.before, ledger.after) == (told.before, case.recount(body))
    assert allowed is None or ledger.after <= allowed
    assert body["ledger"] == ledger.shape().to_dict()
    assert [kind.describe(outcome, number).because for number in range(len(ids))].count("") == 0
    subject = page_of(kind)
    answer = subject.make_answer(chosen, outcome)
    is_on_screen(subject, answer)


@settings(max_examples=4)
@given(data=st.data())
def test_the_ledger_of_a_search_is_right(orders: Path, data: st.DataObject) -> None:
    """By rank, from the columns of the selection that the Search bench draws."""
    kind, query = registry.get_kind("search"), data.draw(st.sampled_from(["refund of an order", "Cart.total", "zebra"]))
    changed = {
        "budget": data.draw(st.sampled_from([0, 90, 700, 2500, 9000])),
        "smart_pruning.strategy": data.draw(st.sampled_from(["priority", "relevance", "density"])),
        "smart_pruning.signature_share": data.draw(st.sampled_from([0.0, 0.3])),
    }
    inputs, chosen = (
        {**kind.blank_inputs(), "query": query, "path": str(orders)},
        with_values(Settings(), changed),
    )
    material = kind.read(inputs, chosen, Environment())
    try:
        outcome = answer_of(kind, material, inputs | {"dropped": "all"}, chosen)
        selection, pool, ledger = outcome.payload.selection, material.pool, outcome.ledger
        whole = json.loads(render_of(kind, outcome, "json"))
        brief = json.loads(render_of(kind, answer_of(kind, material, inputs, chosen), "json"))
        pack = render_of(kind, outcome, "markdown") if selection.kept_rows else ""
        answer = SearchAnswer.of(chosen, outcome)
        answer.count()
    finally:
        kind.release(material)

    is_sound(ledger)
    entries = ledger.entries[:-1]
    assert sorted(entry.id for entry in entries) == sorted(pool.symbol_id)
    assert (ledger.before, ledger.after) == (int(pool.tokens.sum()), count_tokens(pack))
    assert ledger.after <= ledger.budget == changed["budget"] or not ledger.after
    assert sorted(whole["ledger"].pop("entries"), key=_id) == sorted(
        (one.shape().to_dict() for one in ledger.entries), key=_id
    )
    listed = brief["ledger"].pop("entries")
    assert whole["ledger"] == brief["ledger"] == {name: getattr(ledger, name) for name in brief["ledger"]}
    told = {entry["id"]: entry for entry in listed if entry["reason"] != "not_listed"}
    assert all(told[entry.id] == entry.shape().to_dict() for entry in ledger.entries if entry.id in told)
    unlisted = dict.fromkeys(State, Sums())
    for entry in entries:
        unlisted[entry.state] += Sums(1, entry.before, entry.after) if entry.id not in told else Sums()
    others = [entry for entry in listed if entry["reason"] == "not_listed"]
    assert {entry["state"]: (entry["figures"]["items"], entry["before"], entry["after"]) for entry in others} == {
        state.label: (together.number, together.before, together.after)
        for state, together in unlisted.items()
        if together.number
    }
    _is_in_the_candidates(kind, outcome, answer, entries)
    is_in_the_bar(picture_of(answer), ledger)


def _id(entry: dict[str, Any]) -> str:
    name: str = entry["id"]
    return name


def _is_in_the_candidates(kind: Any, outcome: Any, answer: SearchAnswer, entries: Sequence[Entry]) -> None:
    listing = candidates.CandidateListing(answer)
    layout = lay_out_columns(listing.columns, CELLS)
    for place, row in enumerate(answer.selection.order.tolist()):
        entry = entries[row]
        text = plain(draw_row(listing, row, layout))
        rank, glyph, before = re.match(r" +([\d,]+) +([●◐○]) .* ([\d,]+) +[\d.]+$", text).groups()
        assert (number(rank), glyph, number(before)) == (place + 1, entry.state.glyph, entry.before)
        page = [plain(line) for line in candidates.draw_why(answer, row, CELLS)]
        because = begin_sentence(kind.describe(outcome, row).because)
        decision = answer.selection.decision(row)
        if decision.reason in (Reason.FITS, Reason.NO_ROOM):  # where room decided, the page says in words what for
            needs = "needs" if decision.reason is Reason.NO_ROOM else "needed"
            because = f"At its turn {decision.left:,} tokens were left; it {needs} {decision.needed:,}"
        assert any(re.fullmatch(re.escape(because) + r"(: .+ of text, .+ of heading)?\.?", line) for line in page), page
        assert answer.selection.decision(row).tokens_after == entry.after
