"""What the default run costs: the tests that it leaves out (`slow.txt`), and a list, at its end, of those that belong
there because one takes more than a second of processor time.

A test is charged with its processes and with what it sets up for itself, not with what tests share: it would be charged
to whichever comes first.
"""

from __future__ import annotations

import resource
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]

MOST_SECONDS = 1.0
"""A thousand tests of a second each would already be a run that nobody waits for."""


def slow_tests() -> list[str]:
    """Lines `FILE`, `FILE::TEST` or `FILE::TEST[PARAMETERS]` of `slow.txt`, relative to the folder of the tests."""
    lines = (TESTS / "slow.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class ProcessorTime:
    """Measures each test in the process that runs it; the process that prints the summary lists the costly ones."""

    def __init__(self) -> None:
        self._begin = self._shared = 0.0
        self._costly: list[tuple[float, str]] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._begin, self._shared = _seconds(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        begin = _seconds()
        try:
            return (yield)
        finally:
            self._shared += _seconds() - begin if fixturedef.scope != "function" else 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.processor_seconds = _seconds() - self._begin - self._shared
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds = getattr(report, "processor_seconds", 0.0)  # a worker that died sends a report without
        if report.when == "teardown" and seconds > MOST_SECONDS:
            self._costly.append((seconds, report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        if config.option.markexpr == "not slow" and not config.option.collectonly:
            terminalreporter.write_line(f"{len(self._costly)} tests above {MOST_SECONDS} s of processor")
            for seconds, name in sorted(self._costly, reverse=True):
                terminalreporter.write_line(f"{seconds:6.1f} s {name}")


def _seconds() -> float:
    """Processor time of this process and of those that it has waited for."""
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
