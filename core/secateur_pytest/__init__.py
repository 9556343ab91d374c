"""pytest plugin: every `*.scenario.toml` is a test.

`pytest --snapshot-update` records scenarios as they are decided now. `secateur_scenarios = false` in the
configuration of pytest leaves scenarios alone; `-p no:secateur` turns all of it off.

Every start of pytest imports this file: it imports nothing of secateur, and what it needs when it is needed. That is
why it is a package beside `secateur` and not inside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from secateur_pytest.scenario_items import ScenarioFile

SUFFIX = ".scenario.toml"
INPUTS_SUFFIX = ".scenario.inputs"  # as in `secateur_lab.scenarios.scenario`, which is slow to import
INI = "secateur_scenarios"
UPDATE = "--snapshot-update"
ACCEPT = "to accept: pytest", "to accept: secateur check"  # beginnings of lines in the reports of changed decisions

# Name of the section in the report of a scenario that was recorded anew; a report crosses processes.
UPDATED = "Captured scenario call"

_ABSENT = object()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the setting that leaves scenarios alone."""
    parser.addini(INI, f"collect *{SUFFIX} (default: true)", type="bool", default=True)


@pytest.hookimpl(trylast=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser) -> None:
    """Adds `--snapshot-update` where neither syrupy nor another plugin has it; all of them are loaded by now."""
    if early_config.getoption(UPDATE, default=_ABSENT) is _ABSENT:  # asked first: pytest 8 does not refuse a second one
        group = parser.getgroup("secateur")
        group.addoption(UPDATE, action="store_true", default=False, help="record scenarios as they are decided now")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out the copies of inputs that stand beside a scenario: they are data."""
    return True if collection_path.name.endswith(INPUTS_SUFFIX) and config.getini(INI) else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Collects a scenario. As in `secateur check`, links are not followed unless they are named."""
    if not file_path.name.endswith(SUFFIX) or not parent.config.getini(INI):
        return None
    from secateur_lab.scenarios.links import behind_link

    if behind_link(file_path, parent.session.isinitpath):
        return None
    from secateur_pytest.scenario_items import ScenarioFile

    return ScenarioFile.from_parent(parent, path=file_path, update=parent.config.getoption(UPDATE, default=False))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Lists the scenarios that were recorded anew; or says how to accept changed decisions."""
    if not config.getoption(UPDATE, default=False):
        failed = [report.longreprtext for report in terminalreporter.getreports("failed")]
        if any(line in text for text in failed for line in ACCEPT):
            terminalreporter.write_line("to accept all changed decisions: pytest --snapshot-update")
        return
    every = [report for category in terminalreporter.stats.values() for report in category]
    reports = [report for report in every if isinstance(report, pytest.TestReport)]
    updated = {report.nodeid.partition("::")[0] for report in reports if UPDATED in dict(report.sections)}
    if updated:
        terminalreporter.write_sep("-", "scenarios recorded anew")
        for path in sorted(updated):
            terminalreporter.write_line(path)
