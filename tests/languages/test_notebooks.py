"""Notebooks: cells are units, results are shortened, pictures are a mark with their size."""

from __future__ import annotations

import json

import pytest
from secateur.languages.syntax.fragments import parse_file, read_text, split_lines

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Refunds\n", "How often?"]},
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [
                {"name": "stdout", "output_type": "stream", "text": [f"row {number}\n" for number in range(40)]},
                {"data": {"image/png": "A" * 4000, "text/html": ["<table>"]}, "output_type": "display_data"},
            ],
            "source": ["%matplotlib inline\n", "def twice(orders):\n", "    return round(orders)\n", "twice(load())"],
        },
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["%%bash\n", "ls )("]},
    ],
    "metadata": {},
    "nbformat": 4,
}


@pytest.mark.parametrize("source", [json.dumps(NOTEBOOK, indent=1), json.dumps(NOTEBOOK)])
def test_cells_are_units(source: str) -> None:
    data = source.encode()
    facts = parse_file("study.ipynb", data)
    assert facts.problems == ()
    assert [(part.kind.value, part.name) for part in facts.fragments] == [
        ("section", "Refunds"),
        ("section", ""),
        ("function", "twice"),
        ("section", ""),
        ("section", ""),
    ]
    assert {call.name for call in facts.calls} >= {"round", "twice", "load"}
    text, _ = read_text("study.ipynb", data)
    assert "#> [image/png, 3 kB]" in text and "AAAA" not in text
    assert "#> row 3" in text and "row 39" not in text
    assert "<table>" not in text
    assert "    return round(orders)" in text.split("\n")


def test_lines_are_those_of_the_file() -> None:
    source = json.dumps(NOTEBOOK, indent=1)
    shown = read_text("study.ipynb", source.encode())[0].split("\n")
    lines = source.split("\n")
    assert len(shown) == len(lines)
    row = shown.index("def twice(orders):")
    assert "def twice(orders):" in lines[row]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "{}",
        '{"cells": [',
        '{"cells": [{"cell_type": 1, "source": 5}, [], null, 3], "nbformat": 4}',
        '{"cells": "cell_type"}',
        '{"cells": ' + "[" * 100_000 + '"cell_type"',
        ' "cell_type": "code",\r\n "cells" "source": [\r\n "x = (\\n",\r\n' * 500,
        ' "cells"\n "cell_type": "code",\n "source": "' + "a" * 1_000_000,
    ],
)
def test_unusual_notebooks_are_read(source: str) -> None:
    fragments = parse_file("a.ipynb", source.encode()).fragments
    shown = split_lines(read_text("a.ipynb", source.encode())[0])
    covered = {row for part in fragments for row in range(part.line_start, part.line_end + 1)}
    assert covered >= {row for row, line in enumerate(shown, 1) if line.strip()}
