"""The tests that the fast run leaves out, listed in one place: they change with the machine and not with the tests."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]


def slow_tests() -> list[str]:
    """Lines `FILE` or `FILE::TEST` of `slow.txt`, relative to the folder of the tests."""
    lines = (TESTS / "slow.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
