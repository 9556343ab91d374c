"""What the commands of `tasks.py` rest on."""

from __future__ import annotations

import ast

from support.slow import TESTS, slow_tests


def test_every_line_of_the_slow_list_is_a_test() -> None:
    lines = slow_tests()
    assert lines == sorted(set(lines))
    for line in lines:
        file, _, name = line.partition("::")
        assert (TESTS / file).is_file(), f"slow.txt names {file}, which is gone"
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert not name or name in names, f"slow.txt names {line}, which is gone"
