"""Between an envelope as it is and one whose dependencies are a list there are steps, and none is taken further than
the budget asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur import Settings, count_tokens, trim_context_with_budget
from secateur.errors import BudgetExceeded
from secateur.kinds.envelope.envelope import trim_envelope
from secateur.kinds.envelope.stages import SHORTEST_SUMMARY, first_that_fits
from secateur.model import State
from secateur.settings import with_values
from support.envelopes import asset_paths, dependencies, envelope, files

MODEL = "gpt-4o"
USED = 0.85
"""Least share of the budget that leaves where entries were shortened, or the next larger step does not fit."""


def tokens(value: Any) -> int:
    return count_tokens(json.dumps(value, ensure_ascii=False))


def trim(value: dict[str, Any], budget: int) -> dict[str, Any]:
    return trim_context_with_budget(envelope=value, model=MODEL, context_token_budget=budget, reserve_for_response=0)


def kept(value: dict[str, Any], budget: int) -> list[dict[str, str]]:
    entries: list[dict[str, str]] = trim(value, budget)["trimmedEnvelope"]["dependency_digest"]["files"]
    return entries


# --- the cliff --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [0, 2000])
@pytest.mark.parametrize("share", [0.96, 0.8, 0.6, 0.4, 0.25])
def test_forty_dependencies_use_the_budget_whatever_it_is(content: int, share: float) -> None:
    """40 dependencies, 3,647 tokens, came down to 84 tokens and no path under a budget of 3,500."""
    before = envelope({"files": dependencies(40, content)})
    budget = int(share * tokens(envelope({"files": dependencies(40)})))
    out = trim(before, budget)
    assert USED * budget <= out["trimReport"]["estimateAfter"] == tokens(out["trimmedEnvelope"]) <= budget
    assert [entry["path"] for entry in kept(before, budget)] == [
        entry["path"] for entry in before["dependency_digest"]["files"]
    ]


def words(number: int, start: int = 0) -> str:
    return " ".join(f"word{start}x{place}" for place in range(number))


NOTES = [words(10, number) if number != 12 else words(600) for number in range(20)]
INNER = [*([[1, 2, 3]] * 12), [words(5, number) for number in range(200)], *([[1, 2, 3]] * 7)]
DEEP = {"one": {"two": [[[words(3, 9 * row + place)] for place in range(9)] for row in range(40)]}}


@pytest.mark.parametrize("digest", [{"notes": NOTES}, {"rows": INNER}, DEEP], ids=["texts", "lists", "deep"])
@pytest.mark.parametrize("share", [0.95, 0.8, 0.6, 0.4, 0.2])
def test_a_long_text_or_list_behind_the_tenth_item_is_cut_and_the_budget_used(digest: Any, share: float) -> None:
    """Of 3,176 tokens, 20 texts whose 13th is long, 145 were left under a budget of 3,000."""
    budget = int(share * tokens(envelope(digest)))
    report = trim(envelope(digest), budget)["trimReport"]
    assert USED * budget <= report["estimateAfter"] <= budget


def test_texts_around_a_long_one_stay_whole() -> None:
    before = envelope({"notes": NOTES})
    out = trim(before, int(0.6 * tokens(before)))["trimmedEnvelope"]["dependency_digest"]["notes"]
    assert [*out[:12], *out[13:]] == [*NOTES[:12], *NOTES[13:]]
    assert out[12].startswith(NOTES[12][:400]) and "characters, sha256:" in out[12]


def test_summaries_are_shortened_evenly_and_nothing_else_goes() -> None:
    entries = dependencies(40)
    entries[7]["summary"] = "A short one."
    before = envelope({"files": entries})
    out = kept(before, tokens(before) - 400)
    lengths = [len(entry["summary"]) for number, entry in enumerate(out) if number != 7]
    assert max(lengths) - min(lengths) <= 1
    assert lengths == sorted(lengths, reverse=True), "the last entries first"
    assert out[7] == entries[7]
    assert [entry | {"summary": ""} for entry in out] == [entry | {"summary": ""} for entry in entries]
    assert all(
        short["summary"][:-1] == entry["summary"][: len(short["summary"]) - 1]
        for short, entry in zip(out, entries, strict=True)
        if short != entry
    )


def test_the_figures_of_the_page() -> None:
    before = envelope({"files": dependencies(40)})
    out = trim(before, 3500)
    assert (out["trimReport"]["estimateBefore"], out["trimReport"]["estimateAfter"]) == (4331, 3500)
    summaries = [
        [entry["summary"] for entry in value["dependency_digest"]["files"]]
        for value in (before, out["trimmedEnvelope"])
    ]
    assert [len(entries[3]) for entries in summaries] == [174, 88]
    assert "88 of 174 characters" in (Path(__file__).parents[2] / "docs" / "use" / "envelopes.md").read_text("utf-8")


def test_then_summaries_go_then_hashes_then_entries_each_from_the_last_on() -> None:
    before = envelope({"files": dependencies(40)})
    seen = set()
    for budget in range(tokens(before), 220, -60):
        out = kept(before, budget)
        fields = [tuple(entry) for entry in out]
        if len(out) == 40:
            assert fields == sorted(fields, key=len, reverse=True)
            assert len(set(fields)) <= 2
            seen |= set(fields)
        else:
            gone = 40 - (len(out) - 1)
            assert fields[:-1] == [("path",)] * (40 - gone)
            assert out[-1]["path"] == f"dependency_digest.files[{40 - gone}:]"
            assert out[-1]["summary"] == f"{gone} more of 40"
            seen.add("entries")
    assert seen == {("path", "summary", "hash"), ("path", "hash"), ("path",), "entries"}


def test_the_actions_say_what_was_done() -> None:
    before = envelope({"files": dependencies(40)})
    whole = tokens(before)
    verbs = []
    for budget in range(whole, 220, -60):
        actions = trim(before, budget)["trimReport"]["actions"]
        assert all(action["afterChars"] < action["beforeChars"] for action in actions)
        verbs += sorted({action["action"] for action in actions} - set(verbs))
    assert verbs == ["truncate", "drop"]
    reasons: list[str] = []
    for budget in range(whole, 220, -60):
        reasons += sorted(
            {action.reason for action in trim_envelope(before, MODEL, budget).report.actions if action.action != "keep"}
            - set(reasons)
        )
    assert reasons == ["summary_shortened", "summary_dropped", "hash_dropped", "entries_dropped"]


def test_what_the_contract_drops_is_summarised_in_the_ledger_because_a_reference_goes_out() -> None:
    before = envelope({"references": {"asset_paths": asset_paths(60)}, "files": files(12, 900)})
    states = {"keep": State.KEPT, "summarize": State.SUMMARISED, "truncate": State.SHORTENED, "drop": State.SUMMARISED}
    seen = set()
    for budget in (100_000, 4000, 3000, 2000, 1200, 700):
        trimmed = trim_envelope(before, MODEL, budget)
        for entry, action in zip(trimmed.ledger.entries, trimmed.report.actions, strict=True):
            assert entry.state is states[action.action] and entry.after == action.after > 0
            seen.add(action.action)
    assert seen == set(states)


def test_a_map_of_entries_loses_its_last_ones_first() -> None:
    before = envelope({entry["path"]: entry | {"path": entry["path"]} for entry in dependencies(30)})
    digest = trim(before, 420)["trimmedEnvelope"]["dependency_digest"]
    names = list(before["dependency_digest"])
    left = len(digest) - 3
    assert 5 < left < 30
    assert list(digest) == [*names[:left], "path", "summary", "hash"]
    assert digest["summary"] == f"{30 - left} more of 30"


def test_a_map_of_versions_keeps_its_first_fields() -> None:
    before = envelope({"versions": {f"package-{number}": f"{number}.0.1" for number in range(200)}})
    out = trim(before, 900)
    assert out["trimReport"]["estimateAfter"] > USED * 900
    assert list(out["trimmedEnvelope"]["dependency_digest"]["versions"])[:50] == [
        f"package-{number}" for number in range(50)
    ]


def test_what_is_no_entry_is_reduced_before_a_dependency_loses_its_summary() -> None:
    before = envelope(
        {
            "files": dependencies(20),
            "layers": {"core": {"rules": {f"rule {n}": "must not import the screen" for n in range(60)}}},
        }
    )
    budget = tokens(envelope({"files": dependencies(20)})) + 100
    out = trim(before, budget)["trimmedEnvelope"]["dependency_digest"]
    assert out["files"] == before["dependency_digest"]["files"]
    assert out["layers"] != before["dependency_digest"]["layers"]


# --- no further than is needed, in the spec's own stages --------------------------------------------------------------


@pytest.mark.parametrize("budget", [500, 1000, 2000, 3000])
def test_a_list_keeps_as_many_items_as_there_is_room_for(budget: int) -> None:
    """The example of the contract ended at 1,149 tokens of 2,800: the list went to its first ten in one cut."""
    paths = asset_paths(12000)
    before = envelope({"paths": paths})
    out = trim(before, budget)
    *first, last = out["trimmedEnvelope"]["dependency_digest"]["paths"]
    assert first == paths[: len(first)]
    assert len(first) >= 10
    assert last.startswith(f"({len(paths) - len(first)} more of {len(paths)}: ")
    assert out["trimReport"]["estimateAfter"] >= USED * budget
    assert [action["action"] for action in out["trimReport"]["actions"]] == ["summarize"]


@pytest.mark.parametrize("budget", [500, 1500, 4000])
def test_a_text_keeps_as_many_characters_as_there_is_room_for(budget: int) -> None:
    note = "A sentence about the domain. " * 900
    out = trim(envelope({"note": note}), budget)
    text = out["trimmedEnvelope"]["dependency_digest"]["note"]
    assert note.startswith(text.split("… (")[0])
    assert out["trimReport"]["estimateAfter"] >= 0.99 * budget


def test_the_last_object_that_is_cut_keeps_what_fits() -> None:
    before = envelope({"files": files(1, 9000), "more": files(12, 9000)})
    out = trim(before, tokens(before) - 900)
    assert out["trimReport"]["estimateAfter"] >= 0.99 * (tokens(before) - 900)
    (action,) = out["trimReport"]["actions"]
    assert action["action"] == "summarize"


# --- as a property ----------------------------------------------------------------------------------------------------

words = st.text(alphabet='ab \n"é订单😀', max_size=80)
entry = st.builds(
    lambda path, summary, digest: {"path": path, "summary": summary, "hash": digest},
    words,
    words,
    st.text("0123456789abcdef", max_size=64),
)
counted = st.sampled_from(["o200k_base", "estimate", "chars4"])


def step_before(entries: list[dict[str, str]], whole: list[dict[str, str]]) -> list[dict[str, str]]:
    """The entries of the next larger step: one hash more, else one summary more, else one character more."""
    lacking = {field: [at for at, entry in enumerate(entries) if field not in entry] for field in ("hash", "summary")}
    short = [at for at, entry in enumerate(entries) if entry != whole[at] and not any(lacking.values())]
    if lacking["hash"]:
        at = lacking["hash"][0]
        changed = {"path": whole[at]["path"], "hash": whole[at]["hash"]}
    elif lacking["summary"]:
        at = lacking["summary"][0]
        changed = whole[at] | {"summary": clipped(whole[at]["summary"], SHORTEST_SUMMARY)}
    elif short:
        at = min(short, key=lambda number: len(entries[number]["summary"]))
        changed = whole[at] | {"summary": clipped(whole[at]["summary"], len(entries[at]["summary"]) + 1)}
    else:
        return whole
    return [*entries[:at], changed, *entries[at + 1 :]]


def clipped(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


@budgeted(max_examples=12, deadline=None)
@given(entries=st.lists(entry, min_size=1, max_size=25), share=st.integers(1, 99), counter=counted)
def test_no_step_is_taken_further_than_is_needed(entries: list[dict[str, str]], share: int, counter: str) -> None:
    """What leaves uses 85 % of the budget, or the next larger step, which holds one character, summary or hash more,
    does not fit."""
    settings = with_values(Settings(), {"tokens.counter": counter})
    before = envelope({"files": entries})

    def size(files: Any) -> int:
        return count_tokens(json.dumps(envelope({"files": files}), ensure_ascii=False), counter)

    budget = size([]) + (size(entries) - size([])) * share // 100
    try:
        result = trim_envelope(before, MODEL, budget, settings=settings)
    except BudgetExceeded:
        return
    assert result.envelope["target_snapshot"] == before["target_snapshot"]
    assert set(result.envelope) == set(before)
    out = result.envelope["dependency_digest"].get("files", [])
    if result.report.applied and result.report.after < USED * budget and len(out) == len(entries):
        assert size(step_before(out, entries)) > budget


@budgeted(max_examples=12, deadline=None)
@given(
    sizes=st.lists(st.integers(-2, 40), min_size=1, max_size=60),
    share=st.floats(0, 1),
    guess=st.integers(0, 80),
)
def test_the_search_ends_on_a_step_that_fits_behind_one_that_does_not(
    sizes: list[int], share: float, guess: int
) -> None:
    """Also where tokens rise now and then from one step to the next."""
    held = [sum(sizes) - sum(sizes[:number]) for number in range(len(sizes) + 1)]
    budget = int(held[-1] + share * (held[0] - held[-1]))
    if not held[-1] <= budget < held[0]:
        return
    applied: list[int] = [len(sizes)]

    def apply(step: int) -> int:
        applied.append(step)
        return held[step]

    step, at = first_that_fits(len(sizes), apply, budget, held[0], held[-1], guess)
    assert at == held[step] <= budget < held[step - 1]
    assert applied[-1] == step
    assert len(applied) <= 3 * len(sizes).bit_length() + 6


@pytest.mark.parametrize("guess", [0, 1, 500_000, 999_999])
def test_probes_are_few_even_where_all_weight_is_in_one_step(guess: int) -> None:
    probes = 0

    def apply(step: int) -> int:
        nonlocal probes
        probes += 1
        return 1_000_000 if step < 123_456 else 10

    assert first_that_fits(1_000_000, apply, 100, 1_000_001, 9, guess) == (123_456, 10)
    assert probes <= 70


def test_a_pin_in_a_list_whose_end_is_dropped_is_a_row_beside_that_end() -> None:
    documents = [{"path": f"docs/{number}.md"} for number in range(40)]
    held = envelope({"documents": documents})
    pin = "dependency_digest.documents[0]"
    budget = count_tokens(json.dumps(held, ensure_ascii=False)) - 200
    trimmed = trim_envelope(held, "some-model", budget, settings=with_values(Settings(), {"pins": (pin,)}))
    left = len(trimmed.envelope["dependency_digest"]["documents"]) - 1
    assert 0 < left < len(documents) - 1
    rows = [entry.id for entry in trimmed.ledger.entries if "documents" in entry.id]
    kept = [f"dependency_digest.documents[{number}]" for number in range(left)]
    assert rows == [f"dependency_digest.documents[{left}:]", *kept]
    assert sum(entry.before for entry in trimmed.ledger.entries) == trimmed.ledger.before
