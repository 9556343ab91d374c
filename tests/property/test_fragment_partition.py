"""Whatever a file holds, its fragments are sorted, disjoint, hold every non-blank line exactly once, and every fact points into them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.model import FileFacts, Kind
from secateur.repository.fragments import decode, parse_file, split_lines

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


def check(path: str, data: bytes) -> FileFacts:
    facts = parse_file(path, data)
    lines = split_lines(decode(data)[0])
    held = [0] * len(lines)
    after = 0
    for number, fragment in enumerate(facts.fragments):
        assert after < fragment.line_start <= fragment.line_end <= len(lines)
        assert fragment.line_start <= fragment.sig_start <= fragment.sig_end <= fragment.line_end
        assert lines[fragment.line_start - 1].strip() and lines[fragment.line_end - 1].strip()
        assert -1 <= fragment.parent < number
        assert fragment.parent < 0 or facts.fragments[fragment.parent].kind is Kind.CLASS
        assert fragment.complexity >= 1
        after = fragment.line_end
        for row in range(fragment.line_start - 1, fragment.line_end):
            held[row] += 1
    assert all(count == 1 for count, line in zip(held, lines, strict=True) if line.strip())
    for call in facts.calls:
        place = facts.fragments[call.fragment]
        assert place.line_start <= call.line <= place.line_end
    assert all(facts.fragments[base.fragment].kind is Kind.CLASS for base in facts.bases)
    assert all(0 <= item.fragment < len(facts.fragments) for item in facts.annotations)
    return facts


@settings(max_examples=400)
@given(st.sampled_from(EXTENSIONS), files)
def test_fragments_partition_any_file(extension: str, data: bytes) -> None:
    facts = check(f"a.{extension}", data)
    assert parse_file(f"a.{extension}", data) == facts
