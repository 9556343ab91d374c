"""Whatever a file holds, its fragments are sorted, disjoint, hold every non-blank line exactly once, and every fact
points into them."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.languages.syntax.fragments import parse_file
from support.mutations import mutate
from support.partition import check

EXTENSIONS = [
    "py",
    "js",
    "jsx",
    "ts",
    "tsx",
    "go",
    "java",
    "rs",
    "c",
    "h",
    "cpp",
    "cs",
    "rb",
    "php",
    "md",
    "rst",
    "adoc",
    "toml",
    "yaml",
    "json",
    "ini",
    "properties",
    "txt",
    "html",
    "sql",
    "kt",
]

PIECES = [
    "def f(x):\n    return g(x)\n",
    "class A(B):\n    x = 1\n    def m(self): pass\n",
    "@deco\n",
    "# note\n",
    "// note\n",
    "/* a\n b */\n",
    "/** doc */\n",
    "'''",
    '"""',
    "\n",
    "\n\n",
    "    ",
    "\t",
    "}\n",
    "{\n",
    "(",
    ")",
    ";",
    "});\n",
    "function f() { a.b(); }\n",
    "const f = () => {\n  x();\n};\n",
    "export default class A {\n  m() {\n  }\n}\n",
    "describe('x', () => {\n",
    "const o = {\n  m() {\n  },\n};\n",
    "func (c *C) M() {\n}\n",
    "type T struct {\n\tA\n}\n",
    "package a\n",
    "import a from 'b'\n",
    'import (\n\t"a"\n)\n',
    "impl T for C {\n    fn m(&self) {}\n}\n",
    "mod a {\n",
    "use a::{b, c};\n",
    "#ifdef X\n",
    "#endif\n",
    "#include <a.h>\n",
    "namespace a {\n",
    "template <class T>\n",
    "class C : public D {\n public:\n  int m() { return 1; }\n};\n",
    "int A::m() {\n}\n",
    "module M\n",
    "  def m\n    x\n  end\n",
    "end\n",
    "<?php\n",
    "?>\n",
    "public class A { void m() { } }\n",
    "x = 1\n",
    "[a]\n",
    "a: 1\n",
    "# Title\n",
    "Title\n=====\n",
    '"k": {\n',
    "\x00",
    "\r\n",
    "\x0c\n",
    "\u2028",
    "ü",
    "\ufeff",
    "`${",
]

files = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: "".join(pieces).encode()),
    st.lists(st.sampled_from(PIECES), max_size=12).map(lambda pieces: "".join(pieces * 8).encode()),
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-16")),
)


@settings(max_examples=40)
@given(st.sampled_from(EXTENSIONS), files)
def test_fragments_partition_any_file(extension: str, data: bytes) -> None:
    facts = check(f"a.{extension}", data)
    assert parse_file(f"a.{extension}", data) == facts


TESTS = Path(__file__).parent.parent
REAL = [
    *sorted((path.name.removesuffix(".txt"), path) for path in (TESTS / "languages/samples").glob("*.txt")),
    *sorted(
        (path.name, path)
        for path in (TESTS.parent / "sample_repos").glob("*/**/*")
        if path.suffix in {".py", ".ts", ".tsx", ".js", ".go", ".md"}
    ),
]
"""Files of all languages: (name, where it is)."""


@settings(max_examples=40)
@given(st.sampled_from(REAL), st.sampled_from(REAL), st.integers(0, 2**32), st.integers(1, 6))
def test_fragments_partition_real_files_in_the_middle_of_an_edit(
    real: tuple[str, Path], other: tuple[str, Path], seed: int, times: int
) -> None:
    data = mutate(random.Random(seed), real[1].read_bytes(), other[1].read_bytes(), times)
    assert "reader_failed" not in check(real[0], data).problems
