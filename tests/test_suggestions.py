"""A suggestion is what somebody may have meant, or none."""

from __future__ import annotations

import pytest
from secateur.settings import keys
from secateur.suggestions import describe_unknown, suggested_key, suggestion

KEYS = list(keys())


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("recomended", ("spec", "recommended"), "recommended"),
        ("prio", ("priority", "relevance", "density"), "priority"),
        ("o200", ("o200k_base", "cl100k_base", "o200k_harmony"), "o200k_base"),
        ("jsn", ("text", "json", "markdown", "xml"), "json"),
        ("JSON", ("text", "json"), "json"),
        ("yaml", ("text", "json", "markdown", "xml"), ""),
        ("gpt", ("o200k_base", "cl100k_base", "estimate", "chars4"), ""),
        ("x", ("xml",), ""),
        ("", ("xml",), ""),
        ("json", (), ""),
        ("j" * 100_000, ("json",), ""),
    ],
)
def test_the_nearest_word(word, known, meant):
    assert suggestion(word, known) == meant


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("graph_rag.max_dept", "graph_rag.max_depth"),
        ("top_k", "graph_rag.top_k"),
        ("graph_rag.depth", "graph_rag.max_depth"),
        ("graph_rag.budget", "graph_rag.token_budget"),
        ("hotspt", "smart_pruning.priority_weights.hotspot"),
        ("embeding.base_url", "embedding.base_url"),
        ("llm.modle", "llm.model"),
        ("x", ""),
        ("timeout", "llm.timeout"),
        ("patience", ""),
        ("verbose", ""),
        ("graph_rag.quux", ""),
        ("", ""),
        (".", ""),
        ("a." * 5000 + "top_k", ""),
    ],
)
def test_the_nearest_key_is_near_in_its_last_part(name, meant):
    assert suggested_key(name, KEYS) == meant


def test_an_unknown_id_is_answered_with_the_ids_that_contain_or_resemble_it():
    ids = ["lib/mail/header.rb", "lib/mail/fields/header_field.rb", "messages[7]"]
    assert describe_unknown(["header"], ids, "") == (
        "Nothing here is called header; the nearest are lib/mail/header.rb, lib/mail/fields/header_field.rb."
    )
    assert describe_unknown(["mesages[7]"], ids, "") == "Nothing here is called mesages[7]; the nearest is messages[7]."
    assert describe_unknown(["zzz"], ids, "ids look so") == "Nothing here is called zzz; ids look so."
