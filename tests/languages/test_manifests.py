"""Manifests of JavaScript: what is read of them, and what is not read of broken ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.extract import encode, extract
from secateur.languages.ecmascript.imports import read_manifest
from secateur.languages.syntax.fragments import parse_file
from secateur.tokens import get_counter


def said(path: str, text: str) -> list[tuple[str, str]]:
    return [(annotation.name, annotation.type) for annotation in read_manifest(path, text)[1]]


def test_entries_of_a_package_come_in_their_order_whatever_the_conditions() -> None:
    text = (
        '{"name": "shop", "main": "a.js", "exports": {".": [{"import": {"types": "b.d.ts", "default": "b.js"}},'
        ' "c.js"]}}'
    )
    assert read_manifest("x/package.json", text)[0] == "shop"
    assert said("x/package.json", text) == [
        ("#entry .", "a.js"),
        ("#entry .", "b.d.ts"),
        ("#entry .", "b.js"),
        ("#entry .", "c.js"),
    ]
    assert said("package.json", '{"exports": "./one.js"}') == [("#entry .", "./one.js")]


def test_comments_and_last_commas_are_no_obstacle() -> None:
    text = '{ /* all */ "compilerOptions": { "baseUrl": "src", "paths": {"@//*,]": ["http://x/*", ], }, }, } // end'
    assert said("tsconfig.app.json", text) == [("#base", "src"), ("#path @//*,]", "http://x/*")]


BROKEN = [
    "",
    "[]",
    "{",
    '{"exports": 5, "main": [], "name": 7}',
    "[" * 100_000,
    '{"exports": {"a": ' * 2000,
    '"x"',
    '{"name": "' + "x" * 300_000,
]
ENDLESS = ["{" + "/* " * 80_000, "{" + '"\\' * 120_000, "{" + ", " * 120_000, '{"name": ' + "1" * 200_000]
"""What each character would begin anew, were what begins not taken to the end."""


@pytest.mark.parametrize("text", BROKEN + ENDLESS)
def test_what_cannot_be_read_says_nothing(text: str) -> None:
    assert read_manifest("package.json", text) == ("", ())
    assert parse_file("package.json", text.encode()).annotations == ()


def test_halves_of_characters_name_nothing() -> None:
    text = r'{"name": "a\ud800", "main": "./\udfff.js", "module": "./\ud83d\ude00.js"}'
    assert read_manifest("package.json", text)[0] == ""
    assert said("package.json", text) == [("#entry .", "./\N{GRINNING FACE}.js")]
    encode(extract("package.json", text.encode(), get_counter("chars4"), None))


def test_other_files_say_nothing() -> None:
    assert read_manifest("composer.json", '{"name": "x"}') == ("", ())
    assert parse_file("data.json", b'{"name": "x"}').package == ""


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["exports", "main", ".", "./a", "paths", "compilerOptions", "extends", "baseUrl", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_shape_is_read_or_left(shape: object) -> None:
    for path in ("package.json", "tsconfig.json"):
        read_manifest(path, json.dumps(shape))
