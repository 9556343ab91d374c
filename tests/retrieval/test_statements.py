"""Statements: which lines of a function go out where it is larger than what is left, and that they are as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from secateur.engine import Engine
from secateur.errors import RepositoryError
from secateur.model import Reason, ShorterForm, State
from secateur.render import search_ledger
from secateur.render.omissions import with_marks
from secateur.retrieval.statements import LEAST_LINES, MOST_LINES, statements, with_statements
from secateur.retrieval.stored_pool import restored, stored
from secateur.selection import select
from secateur.settings import Settings, load, with_values
from secateur.tokens import get_counter
from support.cli import secateur
from support.pools import Row, pool_of

FILLING = [f"    step_{number}()" for number in range(30)]

PYTHON = [
    "def close_orders(orders):",
    *FILLING[:12],
    "    for order in orders:",
    "        prepare(order)",
    "        check(order)",
    "        audit(order)",
    "        if order.late:",
    "            begin()",
    "            first()",
    "            second()",
    "            third()",
    "            charge_penalty(order)",
    "            fourth()",
    *FILLING[12:],
]

BRACES = [
    "func closeOrders(orders []Order) {",
    *[f"\tstep{number}()" for number in range(20)],
    "\tfor _, order := range orders {",
    *[f"\t\tmore{number}()" for number in range(6)],
    "\t\tchargePenalty(order)",
    *[f"\t\tfurther{number}()" for number in range(6)],
    "\t}",
    "}",
]

WORTH = {"penalti": 3.0, "order": 0.5}


def shown(lines: list[str], worth: dict[str, float] | None = None, sig: tuple[int, int] = (1, 1)) -> list[str]:
    """A file that is one function, as its statements go out; [] where it has none."""
    out = statements(lines, 1, len(lines), sig, WORTH if worth is None else worth)
    return with_marks(lines, 1, len(lines), out).split("\n") if out else []


def test_a_statement_goes_out_with_the_headers_of_its_blocks_and_the_declaration() -> None:
    told = shown(PYTHON, {"penalti": 3.0})
    assert told == [
        "def close_orders(orders):",
        "    [… 12 lines]",
        "    for order in orders:",
        "        [… 3 lines]",
        "        if order.late:",
        "            [… 2 lines]",
        *PYTHON[20:24],
        FILLING[12],
        "    [… 17 lines]",
    ]


def test_blocks_in_braces_are_told_by_their_indentation() -> None:
    told = shown(BRACES, {"penalti": 3.0})
    assert told[:4] == [BRACES[0], "\t[… 20 lines]", BRACES[21], "\t\t[… 4 lines]"]
    assert "\t\tchargePenalty(order)" in told


def test_rare_words_of_the_query_come_before_common_ones() -> None:
    common = [f"    other({number})  # order" for number in range(200)]
    lines = ["def f(x):", *common, "    charge_penalty()", *common]
    told = shown(lines)
    assert "    charge_penalty()" in told
    assert len([line for line in told if "[… " not in line]) <= MOST_LINES + 1


def test_a_function_without_a_word_of_the_query_or_hardly_longer_than_its_statements_has_none() -> None:
    assert shown(PYTHON, {"zebra": 3.0}) == []
    assert shown(PYTHON, {"close_ord": 3.0}) == []
    assert shown(PYTHON[: LEAST_LINES - 1]) == []
    assert shown([]) == [] and shown([""] * 40) == []


def test_a_single_line_goes_out_rather_than_a_mark_in_its_place() -> None:
    lines = ["def f():", *FILLING[:20], "    charge_penalty()", *FILLING[:3]]
    assert shown(lines, {"penalti": 3.0}) == [lines[0], "    [… 18 lines]", *lines[19:]]
    lines = ["@cached", "def f():", *FILLING[:20], "    charge_penalty()", *FILLING[:4]]
    assert shown(lines, {"penalti": 3.0}, sig=(2, 2))[:2] == ["@cached", "def f():"]


def test_what_is_before_the_declaration_stays_behind() -> None:
    lines = ["@cached", "# about a penalty", *PYTHON]
    told = shown(lines, {"penalti": 3.0}, sig=(3, 3))
    assert told[:2] == ["[… 2 lines]", "def close_orders(orders):"]


@given(
    st.lists(
        st.sampled_from(
            [
                "",
                "  ",
                "def f():",
                "    penalty()",
                "\tpenalty",
                "        order",
                "}",
                "  } else {",
                "\r",
                "中文",
                "x" * 3000,
            ]
        ),
        max_size=80,
    ),
    st.integers(1, 80),
    st.integers(0, 5),
)
def test_what_goes_out_are_some_of_its_lines_with_the_declaration(lines: list[str], start: int, more: int) -> None:
    sig = (start, start + more)
    out = statements(lines, 1, len(lines), sig, WORTH)
    if not out:
        return
    told = [number for first, last in out for number in range(first, last + 1)]
    assert told == sorted(set(told)) and set(told) < set(range(1, len(lines) + 1))
    assert set(range(start, min(start + more, len(lines)) + 1)) < set(told)
    assert any(
        "penalty" in lines[number - 1] or "order" in lines[number - 1] for number in told if number > start + more
    )


def test_only_functions_with_a_declaration_of_their_own_that_can_be_read_have_statements() -> None:
    def gone(path: str) -> list[str]:
        raise RepositoryError(f"{path}: gone", hint="")

    facts = {"fragments": 100, "terms": {"penalti": 2, "zebra": 0}}
    pool = replace(
        pool_of([Row("f", tokens=400, sig=10), Row("g", tokens=400)]),
        facts=facts,
        line_end=np.array([len(PYTHON)] * 2),
        sig_start=np.ones(2, dtype=np.int64),
        sig_end=np.ones(2, dtype=np.int64),
    )
    counter = get_counter("chars4")
    assert with_statements(pool, gone, counter) is pool
    assert with_statements(replace(pool, facts={}), lambda _: PYTHON, counter).statements is None
    form = with_statements(pool, lambda _: PYTHON, counter).statements
    assert form is not None and list(form.lines) == [0] and 0 < form.cost[0] < pool.cost[0]


def test_statements_are_charged_before_declarations_and_count_as_shortened() -> None:
    rows = [Row("a", tokens=400, relevance=0.9, sig=10), Row("b", tokens=50, relevance=0.8)]
    settings = with_values(Settings(budget=200), {"smart_pruning.signature_share": 0.5})
    pool = pool_of(rows)
    assert select(pool, settings).reason[0] == Reason.SIGNATURE
    form = ShorterForm({0: ((1, 2), (5, 6))}, np.array([80, 0]), np.array([85, 0]))
    selection = select(replace(pool, statements=form, line_end=np.array([10, 10])), settings)
    assert [State(int(state)) for state in selection.state] == [State.SHORTENED, State.KEPT]
    assert selection.used == 135 and selection.in_full.tolist() == [False, True]
    assert selection.decision(0).to_dict() == {
        "state": "shortened",
        "reason": "statements",
        "needed": 400,
        "left": 100,
        "lines": 6,
        "of": 10,
        "saved": 320,
    }
    ledger = search_ledger(selection, 140)
    assert sum(entry.after for entry in ledger.entries) == 140 and ledger.entries[0].after == 80
    # Whole it goes out where there is room, and where none was set aside there are no statements.
    assert select(selection.pool, replace(settings, budget=1000)).state[0] == State.KEPT
    assert select(selection.pool, Settings(budget=200)).state[0] == State.DROPPED
    again = restored(stored(selection.pool) or "").statements
    assert again is not None and again.lines == form.lines and again.cost.tolist() == [85, 0]


def test_a_pack_with_statements_keeps_to_its_budget_and_sends_lines_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    for number in range(8):
        (folder / f"m{number}.py").write_text(
            "\n".join(PYTHON).replace("close_orders", f"close_orders_{number}") + "\n"
        )
    settings = with_values(
        load(None, profile="recommended").settings,
        {"shorten.statements": True, "smart_pruning.signature_share": 0.4},
    )
    with Engine.open(folder, settings, cache_dir=tmp_path / "cache") as engine:
        seen = 0
        for form in ("markdown", "xml"):
            pool = engine.retrieve("charge a penalty for late orders", format=form)
            for budget in range(0, 1600, 90):
                selection = engine.select(pool, replace(settings, budget=budget))
                if selection.kept_rows:
                    assert engine.counter().count(engine.render(selection, form)) <= selection.used <= budget
                for row in np.flatnonzero(selection.reason == Reason.STATEMENTS).tolist():
                    seen += 1
                    sent, whole = engine.sent(selection, row), engine.content(pool, row)
                    assert [line for line in sent.split("\n") if "[… " not in line] == [
                        line
                        for number, line in enumerate(whole.split("\n"), int(pool.line_start[row]))
                        if any(first <= number <= last for first, last in selection.lines_out(row))
                    ]
        assert seen


def test_the_program_says_what_stays_behind(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text("\n".join(PYTHON) + "\n")
    query = ("search", "charge a penalty for late orders", str(tmp_path), "--profile", "recommended", "--budget", "250")
    options = ("--set", "shorten.statements=true", "--set", "smart_pruning.signature_share=0.5")
    assert "its lines with words of the query fit" in secateur(*query, *options).out
    answer = json.loads(secateur(*query, *options, "--format", "json").out)
    found = answer["candidates"][0]
    assert found["decision"]["reason"] == "statements" and found["lines"][0] == [1, 1]
    assert "            charge_penalty(order)\n" in found["content"] and " lines]" in found["content"]
    pack = secateur(*query, *options, "--format", "markdown").out
    assert "charge_penalty(order)" in pack and "signature" not in pack
