"""Scenarios as items of pytest: one that cannot run is an error, one that came out otherwise a failure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from secateur_lab.scenarios.check import Result
    from secateur_lab.scenarios.running import Session

_SESSION: pytest.StashKey[Session] = pytest.StashKey()


class ScenarioFile(pytest.File):
    """The file of a scenario. It is read when it runs, so that collecting a thousand costs no more than their names."""

    def __init__(self, *, update: bool, **words: Any) -> None:
        super().__init__(**words)
        self._update = update

    def collect(self) -> Iterator[ScenarioItem]:
        """The one item of it."""
        yield ScenarioItem.from_parent(self, name="check", update=self._update)


class ScenarioItem(pytest.Item):
    """The run of one scenario."""

    result: Result

    def __init__(self, *, update: bool, **words: Any) -> None:
        super().__init__(**words)
        self._update = update  # records the decisions as they are now

    def setup(self) -> None:
        """Decides it: what hinders that is an error of the set-up, and no failure."""
        from secateur_lab.scenarios.check import CheckVerdict, check_one

        shown = os.path.relpath(self.path, self.config.rootpath)
        self.result = check_one(self.path, _session(self.config), Path(shown).as_posix())
        if self.result.verdict in (CheckVerdict.CANNOT_RUN, CheckVerdict.STALE):
            self._fail()

    def runtest(self) -> None:
        """Fails where a decision changed or an assertion fails, or records the decisions; skips what checks nothing."""
        from secateur_lab.scenarios.check import exit_code, record_decisions

        if self._update:
            self.result = record_decisions(self.result)
            if self.result.updated:
                self.add_report_section("call", "scenario", "recorded anew")
        if exit_code([self.result]):
            self._fail()
        if self.result.unrecorded and not self.result.updated:
            pytest.skip("nothing is recorded and nothing asserted: --snapshot-update records the decisions")

    def _fail(self) -> NoReturn:
        """Fails with the report of `secateur check` in place of a traceback."""
        from secateur.terminal import visible
        from secateur_lab.scenarios.report import details, words

        lines = details(self.result, verbose=self.config.get_verbosity() > 0)
        about = f": {visible(self.result.about)}" if self.result.about else ""
        # pytest has named the file: the first line says what is the matter, for the summary
        text = "\n    ".join([f"{words(self.result.verdict)}{about}", *lines])
        pytest.fail(text, pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The place and the headline of a failure."""
        return self.path, 0, f"scenario {self.path.name}"


def _session(config: pytest.Config) -> Session:
    """The one session of this process: open indexes and inputs that were read are shared by all scenarios."""
    from secateur_lab.scenarios.running import Session

    if _SESSION not in config.stash:
        opened = config.stash[_SESSION] = Session(os.environ)
        config.add_cleanup(opened.close)
    return config.stash[_SESSION]
