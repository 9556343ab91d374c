"""Every row of an envelope that does not go out whole says what happened to it, and only what the output shows."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from secateur import count_tokens, prune
from secateur.kinds.envelope.envelope import TrimmedEnvelope, trim_envelope
from secateur.kinds.envelope.kind import _find_entries
from secateur.kinds.envelope.ledger_entries import describe_remains
from secateur.kinds.envelope.sections import value_at
from secateur.model import Entry, State
from secateur.render.page import sentence
from support.envelopes import asset_paths, dependencies, envelope, files

MODULES = [entry | {"exports": [f"name_{number}" for number in range(8)]} for entry in dependencies(60)]
HISTORY = [{"role": "user", "content": f"Turn {number}. " + "We talk. " * number * 9} for number in range(20)]
DIGESTS: dict[str, Any] = {
    "modules": {"modules": MODULES},
    "documents": {"documents": files(14, 1500), "paths": asset_paths(5000), "note": "A sentence. " * 200},
    "history": {"history": HISTORY, "results": [{"id": f"call-{n}", "lines": [*range(n * 9)]} for n in range(12)]},
    "map": {f"module-{number}": entry for number, entry in enumerate(MODULES[:20])},
    "locales": {"locales": {f"locale-{number}": "some words " * 9 for number in range(60)}},
    "mixed": {"rows": [[*range(30)] if row % 2 else {"number": row, "text": "word " * 40} for row in range(30)]},
}


def trim(digest: Any, share: float) -> TrimmedEnvelope:
    whole = trim_envelope(envelope(digest), "gpt-4o", 10**6).report.before
    return trim_envelope(envelope(digest), "gpt-4o", int(share * whole))


def cut_entries(trimmed: TrimmedEnvelope) -> list[tuple[Entry, Any, Any]]:
    """The entries that do not go out whole, with their values before and after."""
    return [
        (entry, value_at(trimmed.original, path), value_at(trimmed.envelope, path))
        for entry, (path, _) in zip(trimmed.ledger.entries, trimmed.places, strict=False)
        if entry.state is not State.KEPT
    ]


def sentences(digest: Any, share: float) -> dict[str, str]:
    return {entry.id: sentence(entry) for entry, _, _ in cut_entries(trim(digest, share))}


def test_an_item_behind_the_first_ones_says_where_it_stood_and_what_is_left() -> None:
    """25 modules had the same sentence, "lists of the digest keep their first items", and none of them was kept."""
    said = sentences({"modules": MODULES}, 0.9)
    assert said["dependency_digest.modules[23]"] == (
        "stage 1: item 24 of 60, after the first 10: only its path, summary and hash are left, without exports"
    )


def test_an_entry_that_two_steps_cut_tells_both_in_their_order() -> None:
    said = sentences({"modules": MODULES}, 0.6)
    first = said["dependency_digest.modules[0]"]
    assert first.startswith("stage 3: ") and "; after the stages, all summaries are shortened evenly: " in first
    assert re.search(r": only its path, .* without exports, and its summary is cut to \d+ of 174 characters\Z", first)
    assert said["dependency_digest.modules[23]"].startswith("stage 1: item 24 of 60, after the first 10; after the")


@pytest.mark.parametrize("share", [0.95, 0.8, 0.6, 0.4, 0.25, 0.15, 0.1])
@pytest.mark.parametrize("name", DIGESTS)
def test_no_sentence_claims_what_the_output_does_not_hold(name: str, share: float) -> None:
    trimmed = trim(DIGESTS[name], share)
    cut = cut_entries(trimmed)
    assert cut
    for entry, then, now in cut:
        said = sentence(entry)
        assert then != now and str(entry.figures["left"]), said
        if named := re.search(r"only its ([\w, ]+?) (?:is|are) left", said):
            names = re.split(", | and ", named[1])
            assert names == [name for name in now if now[name] == then.get(name) or f"its {name} is cut" in said], said
        elif "none of its fields is left" in said:
            assert not [name for name in now if now[name] == then.get(name)], said
        for kept, of in re.findall(r"its first ([\d,]+) of ([\d,]+)", said):
            assert now[: int(kept.replace(",", ""))] == then[: int(kept.replace(",", ""))]
            assert len(then) == int(of.replace(",", ""))


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ("x" * 900, "x" * 40 + "… (900 characters, sha256:0)", "its first 40 of 900 characters are left"),
        ("x" * 900, "… (900 characters, sha256:0)", "only its length, 900 characters, and its hash are left"),
        ([1, 2, 3], [1, 2, 3], ""),
        ([1, 2, 3], [1, "(2 more)"], "its first item of 3 is left, and one line stands for items 2 to 3"),
        ([1, {"a": 1}], [1, {"path": "p"}], "its first item of 2 is left, and one reference stands for item 2"),
        ([1, [1, 2, 3]], [1, [1, "(2 more)"]], "its first item of 2 is left, and item 2 is cut to 1 of 3 items"),
        ([{"a": 1}] * 5, [{"a": 1, "b": 2}] * 5, "5 items are cut"),
        ({"a": "xyz" * 9, "b": 1}, {"a": "xy…", "b": 1}, "its field a is cut to 3 of 27 characters"),
        ({"path": "p", "a": 1}, {"path": "p", "hash": "h"}, "only its path is left, without a, with a new hash"),
        ({"a": 1}, {"path": "p"}, "none of its fields is left, a reference stands for it: path"),
        (
            {f"f{number}": number for number in range(20)},
            {f"f{number}": number for number in range(6)} | {"path": "p", "summary": "s", "hash": "h"},
            "only the first 6 of its 20 fields are left, with a reference for the others",
        ),
    ],
)
def test_what_is_left_in_words(then: Any, now: Any, said: str) -> None:
    assert describe_remains(then, now) == said


def test_what_is_left_of_an_entry_is_compared_with_all_that_is_left_of_it_elsewhere(tmp_path: Path) -> None:
    """Of a module that had one field as a row, the tokens of that field counted as those of all of it."""
    modules = [
        entry | {"text": "It says a thing. " * 30, "names": [f"name_{n}" for n in range(60)]} for entry in MODULES
    ]
    path = tmp_path / "envelope.json"
    path.write_text(json.dumps(envelope({"modules": modules})))
    outcomes = [prune("envelope", {"budget": budget}, path=str(path)) for budget in range(6_000, 18_000, 500)]
    compared = 0
    for asked, other in pairwise(outcomes):
        places = asked.payload.places
        for (place, start), entry, (state, left) in zip(
            places, asked.ledger.entries, _find_entries(asked, other), strict=False
        ):
            if start is not None or State.SHORTENED not in (state, entry.state) or len(place) != 3:
                continue
            before, after = (
                count_tokens(json.dumps(value_at(outcome.payload.envelope, place))) for outcome in (asked, other)
            )
            if abs(after - before) > 20:
                compared += 1
                assert (left > entry.after) is (after > before), (entry.id, asked.ledger.budget)
    assert compared >= 10
