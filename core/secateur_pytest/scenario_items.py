"""Scenarios as items of pytest: a scenario that cannot run is an error, a changed decision is a failure."""

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
    """The file of a scenario. It is read when it runs, so collecting a thousand scenarios reads none."""

    def __init__(self, *, update: bool, **words: Any) -> None:
        super().__init__(**words)
        self._update = update

    def collect(self) -> Iterator[ScenarioItem]:
        """Yields the only item of the file."""
        yield ScenarioItem.from_parent(self, name="check", update=self._update)


class ScenarioItem(pytest.Item):
    """Runs one scenario."""

    result: Result

    def __init__(self, *, update: bool, **words: Any) -> None:
        super().__init__(**words)
        self._update = update  # records the decisions as they are now

    def setup(self) -> None:
        """Decides the scenario. If it cannot run, that is an error of the set-up, not a failure."""
        from secateur_lab.scenarios.check import CheckVerdict, check_one

        shown = os.path.relpath(self.path, self.config.rootpath)
        from secateur_lab.scenarios.running import Session

        if _SESSION not in self.config.stash:
            opened = self.config.stash[_SESSION] = Session(os.environ)
            self.config.add_cleanup(opened.close)
        self.result = check_one(self.path, self.config.stash[_SESSION], Path(shown).as_posix())
        if self.result.verdict in (CheckVerdict.CANNOT_RUN, CheckVerdict.STALE):
            self._fail()

    def runtest(self) -> None:
        """Records the decisions if asked, fails if the scenario does not pass, skips one that checks nothing."""
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
        # pytest names the file, so the first line, which its summary repeats, holds the verdict
        pytest.fail("\n    ".join([f"{words(self.result.verdict)}{about}", *lines]), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Returns the place and the headline of a failure."""
        return self.path, 0, f"scenario {self.path.name}"
