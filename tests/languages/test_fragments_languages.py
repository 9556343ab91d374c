"""One small source a language, with everything that is known of it, line by line: `samples/NAME.txt` and
`samples/NAME.facts`."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.languages.syntax.fragments import parse_file
from secateur.model import FileFacts

SOURCES = Path(__file__).parent / "samples"
NAMES = sorted(path.name.removesuffix(".txt") for path in SOURCES.glob("*.txt"))


def describe(facts: FileFacts) -> list[str]:
    """The facts as lines a reader can check against the source."""
    lines = [f"language {facts.language}"]
    lines += [f"package {facts.package}"] if facts.package else []
    for number, fragment in enumerate(facts.fragments):
        place = f"{fragment.line_start}-{fragment.line_end} signature {fragment.sig_start}-{fragment.sig_end}"
        inside = f" in {fragment.parent}" if fragment.parent >= 0 else ""
        lines.append(
            f"{number} {fragment.kind} {fragment.qualname or '-'} {place} complexity {fragment.complexity}{inside}"
        )
        lines += [f"  base {base.name}" for base in facts.bases if base.fragment == number]
        lines += [f"  type {item.name}: {item.type}" for item in facts.annotations if item.fragment == number]
        lines += [
            f"  call {call.line}: {call.receiver + '.' if call.receiver else ''}{call.name}{call.arguments}"
            for call in facts.calls
            if call.fragment == number
        ]
    for item in facts.imports:
        origin = "." * item.level + item.module
        lines.append(
            f"{'export' if item.exported else 'import'} {item.local or '-'} from {origin or '-'} symbol"
            f" {item.symbol or '-'}"
        )
    return lines + [f"problem {problem}" for problem in facts.problems]


@pytest.mark.parametrize("name", NAMES)
def test_facts_of(name: str) -> None:
    facts = parse_file(f"src/{name}", (SOURCES / f"{name}.txt").read_bytes())
    assert describe(facts) == (SOURCES / f"{name}.facts").read_text().splitlines()


def test_every_grammar_has_a_source() -> None:
    from secateur.languages import language_of, languages
    from secateur.languages.plain import COMPONENTS

    parsed = {name for name, traits in languages().items() if traits.grammar}
    assert {language_of(name) for name in NAMES} == parsed | COMPONENTS
