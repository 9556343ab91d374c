"""What holds of the facts of any file, whatever it holds."""

from __future__ import annotations

from secateur.languages.syntax.fragments import decode, parse_file, split_lines
from secateur.model import FileFacts, FragmentKind


def check(path: str, data: bytes) -> FileFacts:
    """The facts of a file, once it is sure that its fragments and everything that points at them are sound."""
    facts = parse_file(path, data)
    lines = split_lines(decode(data)[0])
    held = [0] * len(lines)
    after = 0
    for number, fragment in enumerate(facts.fragments):
        assert after < fragment.line_start <= fragment.line_end <= len(lines)
        assert fragment.line_start <= fragment.sig_start <= fragment.sig_end <= fragment.line_end
        assert lines[fragment.line_start - 1].strip() and lines[fragment.line_end - 1].strip()
        assert -1 <= fragment.parent < number
        assert fragment.parent < 0 or facts.fragments[fragment.parent].kind is FragmentKind.CLASS
        assert fragment.complexity >= 1
        after = fragment.line_end
        for row in range(fragment.line_start - 1, fragment.line_end):
            held[row] += 1
    assert all(count == 1 for count, line in zip(held, lines, strict=True) if line.strip())
    for call in facts.calls:
        place = facts.fragments[call.fragment]
        assert place.line_start <= call.line <= place.line_end
    assert all(facts.fragments[base.fragment].kind is FragmentKind.CLASS for base in facts.bases)
    assert all(0 <= item.fragment < len(facts.fragments) for item in facts.annotations)
    return facts
