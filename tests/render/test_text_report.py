"""The report for people."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs
from msgspec.structs import replace
from secateur.model import Reason
from secateur.render.text import DROPPED_LISTED, DROPPED_SHOWN, why
from secateur.selection import select
from secateur.settings import Settings
from support.packs import page_text
from support.pools import REACHED, Row, pool_of

POOL = replace(
    pool_of(
        [
            Row("anchor", 100, 0.8, 0.31, 1, line=10),
            Row("订单处理", 40, 0.2, 0.1, 2, channels=REACHED, path="订单.py"),
            Row("loose", 300, 0.1, 0.0, 0),
        ]
    ),
    predecessor=np.array([-1, 0, -1]),
    predecessor_edge=["", "called_by", ""],
    parts={
        "relevance": {"lexical": np.array([0.5, 0.2, 0.1]), "name": np.array([0.3, 0.0, 0.0])},
        "hotspot": {"churn rank": np.array([0.4, 0.1, 0.0])},
    },
)

LISTED = """\
query   query
budget  131 of 150 tokens (o200k_base)
ranked  by priority, profile spec, source graph-rag, vectors none

    #    tokens  priority  relevance  hotspot  distance  candidate
    1 ●     100     0.713      0.320    0.093     0.300  anchor.py:10-19  anchor
    2 ●      40     0.260      0.080    0.030     0.150  订单.py:1-10  订单处理
    3 ○     300     0.040      0.040    0.000     0.000  loose.py:1-10  loose  (needs 300, more than the whole budget of 150)

● kept 2 (140 tokens)  ○ dropped 1 (300 tokens)  free 19
"""  # noqa: E501


def test_each_candidate_has_a_line_and_the_totals_follow() -> None:
    assert page_text(select(POOL, Settings(budget=150)), 131) == LISTED


def test_explain_shows_parts_paths_and_figures() -> None:
    text = page_text(select(POOL, Settings(budget=150)), 131, explain=True)
    assert "relevance 0.800000 = lexical 0.500000 + name 0.300000" in text
    assert "hotspot   0.310000 from churn rank 0.400000" in text
    assert "distance  2: anchor called by 订单处理" in text
    assert "distance  unreachable" in text
    assert "priority  0.713000 = relevance 0.320000 + hotspot 0.093000 + distance 0.300000" in text
    assert "because   needs 300, more than the whole budget of 150" in text


def test_explain_shows_the_id_of_every_candidate() -> None:
    pool = replace(POOL, symbol_id=["anchor.py::anchor", "订单.py::订单处理", "a\x1bb.py::loose"])
    text = page_text(select(pool, Settings(budget=150)), 131, explain=True)
    found = [line.removeprefix("    id        ") for line in text.splitlines() if line.startswith("    id  ")]
    assert found[:2] == pool.symbol_id[:2]
    assert len(found) == 3
    assert "\x1b" not in text


def test_a_long_tail_is_counted_and_not_listed() -> None:
    pool = pool_of([Row(f"f{i:03}", 100, 0.9 - i / 1000) for i in range(60)])
    listed = page_text(select(pool, Settings(budget=250)), 200)
    assert f"and {58 - DROPPED_SHOWN} more dropped" in listed
    explained = page_text(select(pool, Settings(budget=250)), 200, explain=True)
    assert explained.count("\n#") == 2 + DROPPED_LISTED
    assert f"and {58 - DROPPED_LISTED} more dropped (--dropped all lists them, --why ID explains one)" in explained
    for explain in (False, True):
        assert "more dropped" not in page_text(select(pool, Settings(budget=250)), 200, explain=explain, dropped=None)


def test_shortened_candidates_say_what_they_save() -> None:
    settings = Settings(budget=120)
    settings = replace(settings, smart_pruning=replace(settings.smart_pruning, signature_share=0.2))
    selection = select(pool_of([Row("a", 90, 0.9), Row("b", 80, 0.5, sig=9)]), settings)
    text = page_text(selection, 100)
    assert "  80 -> 9 tokens\n" in page_text(selection, 100, explain=True)
    assert "◐ shortened 1 (9 tokens, saved 71)" in text
    assert "its declaration fits; the whole needs 80" in text


def test_an_inexact_counter_says_so() -> None:
    assert "(o200k_base, estimated)" in page_text(select(POOL, Settings(budget=150)), 131, exact=False)


@pytest.mark.parametrize(("budget", "words"), [(0, "! zero budget: The budget is 0"), (10, "! budget too small: ")])
def test_an_empty_answer_says_which_kind(budget: int, words: str) -> None:
    assert words in page_text(select(POOL, Settings(budget=budget)), 0)


def test_no_match() -> None:
    assert page_text(select(pool_of([]), Settings(budget=100)), 0).endswith(
        "! no match: Nothing that is indexed matches the query.\n"
    )


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (Reason.FITS, "there was room: needed 100 of 150 left"),
        (Reason.PINNED, "pinned: needed 100 of 150 left"),
        (Reason.SIGNATURE, "its declaration fits; the whole needs 100, only 150 left then"),
        (Reason.NO_ROOM, "needs 100, only 150 left then"),
        (Reason.LARGER_THAN_BUDGET, "needs 100, more than the whole budget of 150"),
        (Reason.EXCLUDED, "excluded"),
        (Reason.BEYOND_DEPTH, "further from the anchors than max_depth"),
        (Reason.ZERO_BUDGET, "the budget is 0, needs 100"),
        (Reason.NO_SIGNAL, "its priority is 0"),
    ],
)
def test_every_reason_has_words_with_its_figures(reason: Reason, words: str) -> None:
    selection = select(POOL, Settings(budget=150))
    assert why(selection, structs.replace(selection.decision(0), reason=reason)) == words


def test_what_is_larger_than_the_room_beside_the_head_says_so() -> None:
    selection = select(replace(POOL, overhead=12), Settings(budget=150))
    assert why(selection, selection.decision(2)) == (
        "needs 300, more than the 138 that the pack's first and last line leave of the budget of 150"
    )
