"""What a JavaScript module lets out, and under which name."""

from __future__ import annotations

import pytest
from secateur.languages.syntax.fragments import parse_file


@pytest.mark.parametrize(
    ("source", "qualname", "exported"),
    [
        ("export default function () { a(); }", "default", []),
        ("export default async () => { a(); };", "default", []),
        ("export default function run() { a(); }", "run", [("default", "run")]),
        ("export default class { f() { a(); } }", "default", []),
        ("export default class Cart { f() { a(); } }", "Cart", [("default", "Cart")]),
        ("module.exports = function () { a(); };", "default", []),
        ("module.exports = function run() { a(); };", "run", [("default", "run")]),
        ("module.exports = class Cart { f() { a(); } };", "Cart", [("default", "Cart")]),
        ("exports.run = () => { a(); };", "run", []),
        ("module.exports.run = function go() { a(); };", "run", []),
        ("window.Shop.run = function () { a(); };", "Shop.run", []),
        ("function run() { a(); }\nmodule.exports = { go: run, run };", "run", [("go", "run")]),
        ("const run = function () { a(); };\nexport { run as go };", "run", [("go", "run")]),
    ],
)
def test_exported_names(source: str, qualname: str, exported: list[tuple[str, str]]) -> None:
    facts = parse_file("a.js", source.encode())
    assert facts.fragments[0].qualname == qualname
    assert [(item.local, item.symbol) for item in facts.imports if item.exported] == exported
    assert [call.fragment for call in facts.calls] == [0]
